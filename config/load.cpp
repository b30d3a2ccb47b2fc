#include "config/load.hpp"

#include "config/reader.hpp"
#include "config/units.hpp"

#include <toml++/toml.h>

#include <fstream>
#include <sstream>
#include <utility>

namespace sluice {

namespace loading {

constexpr std::uint64_t file_bytes_max = 1ULL << 20;

file_value::place to_place(const toml::source_region& region) noexcept {
  return {region.begin.line, region.begin.column};
}

file_value to_value(const toml::key& key, const toml::node& node) {
  file_value found;
  // Exact: `value<int64_t>()` would take 1.0 and even true.
  if (auto text = node.value_exact<std::string>()) found.value = std::move(*text);
  if (const auto number = node.value_exact<std::int64_t>()) found.value = *number;
  if (const auto number = node.value_exact<double>()) found.value = *number;
  std::ostringstream type;
  type << node.type();
  found.type = type.str();
  found.key_at = to_place(key.source());
  found.value_at = to_place(node.source());
  return found;
}

/// In quotes when it has a dot of its own, so that `"node.name"` is not `node.name`.
std::string to_name(const toml::key& key) {
  std::string name{key.str()};
  return name.find('.') == std::string::npos ? name : '"' + name + '"';
}

/// Sections may have sections of their own (`[circuit.github]`), and those have only values.
void flatten(const toml::table& section, const std::string& above, int depth, file_values& all) {
  for (const auto& [name, node] : section) {
    const auto key = above + to_name(name);
    all.emplace(key, to_value(name, node));
    const auto* below = node.as_table();
    if (below && depth < 2) flatten(*below, key + ".", depth + 1, all);
  }
}

file_values flatten(const toml::table& file) {
  file_values all;
  flatten(file, {}, 0, all);
  return all;
}

void apply_flag(settings_reader& r, const char* flag, const std::optional<std::string>& given,
                std::string& value, std::string (*check)(const std::string&)) {
  if (!given) return;
  if (const auto problem = check(*given); !problem.empty())
    r.complain(std::string{flag} + ": " + problem);
  else
    value = *given;
}

result<std::string> read_file(const std::string& name) {
  std::ifstream in{name, std::ios::binary};
  std::string text;
  if (in) {
    text.resize(file_bytes_max + 1);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
  }
  // A folder opens, but cannot be read.
  if (in.bad() || (text.empty() && !in.eof()))
    return make_error(errc::not_found, "cannot read the config file '" + name + "'");
  if (text.size() > file_bytes_max)
    return make_error(errc::too_large,
                      "the config file '" + name + "' has more than " + size_text(file_bytes_max));
  return text;
}

result<file_values> parse_file(const std::string& name) {
  auto text = read_file(name);
  if (!text) return text.error();
  try {
    return flatten(toml::parse(*text, name));
  } catch (const toml::parse_error& e) {
    std::ostringstream out;
    out << name << ':' << e.source().begin.line << ':' << e.source().begin.column << ": "
        << e.description();
    return make_error(errc::bad_input, out.str());
  }
}

} // namespace loading

result<settings> load_settings(const load_request& request) {
  file_values file;
  if (request.file) {
    auto parsed = loading::parse_file(*request.file);
    if (!parsed) return parsed.error();
    file = std::move(*parsed);
  }
  settings s;
  settings_reader r{file, request.file.value_or(""), request.env};
  read_settings(r, s);
  r.refuse_unknown();
  loading::apply_flag(r, "--listen", request.flags.listen, s.listen, check_listen);
  loading::apply_flag(r, "--data", request.flags.data, s.data, check_data);
  if (r.problems().empty()) return s;
  std::string all;
  for (const auto& problem : r.problems())
    all += (all.empty() ? "" : "\n") + problem;
  return make_error(errc::bad_input, all);
}

std::vector<std::string> setting_keys() {
  settings s;
  const file_values nothing;
  const environment empty;
  settings_reader r{nothing, {}, empty};
  read_settings(r, s);
  return r.keys();
}

std::string setting_variable(const std::string& key) {
  std::string name = "SLUICE_" + key;
  for (char& c : name) {
    if (c == '.') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

} // namespace sluice
