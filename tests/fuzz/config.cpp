#include "config/load.hpp"
#include "fuzz.hpp"

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace sluice;

namespace {

const std::string& file_name() {
  static const std::string name =
    (std::filesystem::temp_directory_path() / ("sluice-fuzz-" + std::to_string(::getpid())))
      .string();
  return name;
}

} // namespace

/// The whole input is a config file.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::ofstream{file_name(), std::ios::binary} << fuzz::text_of(data, size);
  const auto settings = load_settings({.file = file_name(), .env = {}, .flags = {}});
  if (!settings) fuzz::require(!detail_of(settings.error()).empty(), "an error says something");
  return 0;
}
