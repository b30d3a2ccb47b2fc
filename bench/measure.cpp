#include "bench/measure.hpp"

#include "base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace sluice::bench {

namespace {

std::string default_parent() {
  if (const char* set = std::getenv("TMPDIR"); set != nullptr && *set != '\0') return set;
  std::error_code ignored;
  return std::filesystem::is_directory("build", ignored) ? "build" : ".";
}

} // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

bench_folder::bench_folder(const std::string& parent) {
  auto name = (parent.empty() ? default_parent() : parent) + "/sluice-bench-XXXXXX";
  if (mkdtemp(name.data()) != nullptr) path_ = name;
}

bench_folder::~bench_folder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

bare_log::bare_log(const std::string& path)
  : fd_{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)} {}

bare_log::~bare_log() {
  if (fd_ >= 0) ::close(fd_);
}

bool bare_log::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(fd_, bytes.data(), bytes.size());
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return ::fdatasync(fd_) == 0;
}

double sync_us(const std::string& folder, std::size_t rounds) {
  const auto path = folder + "/sync-probe";
  std::vector<double> times;
  {
    bare_log log{path};
    const std::string bytes(200, 'x');
    for (std::size_t i = 0; i < rounds; ++i) {
      stopwatch watch;
      if (!log.append(bytes)) return 0;
      times.push_back(watch.seconds() * 1e6);
    }
  }
  ::unlink(path.c_str());
  return median(std::move(times));
}

std::string to_json(const report& r) {
  json::writer w;
  w.obj().key("bench").str(r.bench).key("case").str(r.what);
  for (const auto& f : r.figures)
    w.key(f.name).num(f.value);
  w.end();
  return w.take();
}

std::string to_table(const report& r) {
  std::string text = fmt::format("{} {}", r.bench, r.what);
  for (const auto& f : r.figures)
    text += fmt::format("\n  {:<26} {:>14.{}f}", f.name, f.value, f.value < 100 ? 3 : 0);
  return text;
}

} // namespace sluice::bench
