#include "config/reader.hpp"

#include "base/json.hpp"
#include "config/suggest.hpp"
#include "config/units.hpp"

#include <algorithm>
#include <charconv>

namespace sluice {

namespace reading_settings {

template <class T>
std::optional<T> parse_number(const std::string& text) {
  T value{};
  const auto* const end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || rest != end) return std::nullopt;
  return value;
}

std::string shown(const file_value& found) {
  const auto* text = std::get_if<std::string>(&found.value);
  return text ? found.type + " \"" + *text + "\"" : found.type;
}

template <class T, class Print>
std::function<std::string(const T&)> between(T least, T most, Print print) {
  return [=](const T& value) -> std::string {
    // Written so that NaN is outside.
    if (value >= least && value <= most) return {};
    return "must be between " + print(least) + " and " + print(most) + ", got " + print(value);
  };
}

} // namespace reading_settings

/// How a setting is read: from text always, from the file as the type that it has there.
template <class T>
struct settings_reader::reading {
  std::string expected;
  std::function<std::optional<T>(const std::string&)> from_text;
  std::function<std::string(const T&)> check;
  /// Without one only a string will do.
  std::function<std::optional<T>(const file_value&)> from_file;

  [[nodiscard]] std::optional<T> in_file(const file_value& found) const {
    if (from_file) return from_file(found);
    const auto* text = std::get_if<std::string>(&found.value);
    return text ? from_text(*text) : std::nullopt;
  }

  /// Sets `value` and answers nothing, or answers what is wrong.
  std::string take(std::optional<T> found, T& value, const std::string& got) const {
    if (!found) return "must be " + expected + ", got " + got;
    if (auto problem = check ? check(*found) : std::string{}; !problem.empty()) return problem;
    value = std::move(*found);
    return {};
  }
};

settings_reader::settings_reader(const file_values& file, std::string file_name,
                                 const environment& env)
  : file_{file}, file_name_{std::move(file_name)}, env_{env} {}

void settings_reader::section(const std::string& name) {
  section_ = name;
  sections_.insert(name);
  const auto found = file_.find(name);
  if (found != file_.end() && found->second.type != "table")
    complain(found->second.value_at,
             "'" + name + "' must be a section, got " + reading_settings::shown(found->second));
}

std::vector<std::string> settings_reader::subsections(const std::string& name) const {
  std::vector<std::string> found;
  const auto prefix = name + ".";
  for (const auto& [key, value] : file_) {
    if (value.type != "table" || !key.starts_with(prefix)) continue;
    auto rest = key.substr(prefix.size());
    if (rest.find('.') == std::string::npos) found.push_back(std::move(rest));
  }
  return found;
}

template <class T>
void settings_reader::get(const std::string& name, T& value, const reading<T>& how) {
  const auto key = section_.empty() ? name : section_ + "." + name;
  keys_.push_back(key);
  if (const auto found = file_.find(key); found != file_.end()) {
    const auto got = reading_settings::shown(found->second);
    if (const auto problem = how.take(how.in_file(found->second), value, got); !problem.empty())
      complain(found->second.value_at, "'" + key + "' " + problem);
  }
  const auto variable = setting_variable(key);
  const auto text = env_ ? env_(variable) : std::nullopt;
  if (!text || text->empty()) return;
  if (const auto problem = how.take(how.from_text(*text), value, "\"" + *text + "\"");
      !problem.empty())
    complain(variable + ": " + problem);
}

void settings_reader::count(const std::string& name, std::uint64_t& value, std::uint64_t least,
                            std::uint64_t most) {
  const auto from_file = [](const file_value& found) -> std::optional<std::uint64_t> {
    const auto* n = std::get_if<std::int64_t>(&found.value);
    return n && *n >= 0 ? std::optional{static_cast<std::uint64_t>(*n)} : std::nullopt;
  };
  const auto print = [](std::uint64_t n) { return std::to_string(n); };
  get<std::uint64_t>(name, value,
                     {"a whole number", reading_settings::parse_number<std::uint64_t>,
                      reading_settings::between(least, most, print), from_file});
}

void settings_reader::count(const std::string& name, std::uint32_t& value, std::uint32_t least,
                            std::uint32_t most) {
  std::uint64_t wide = value;
  count(name, wide, std::uint64_t{least}, std::uint64_t{most});
  value = static_cast<std::uint32_t>(wide);
}

void settings_reader::real(const std::string& name, double& value, double least, double most) {
  const auto from_file = [](const file_value& found) -> std::optional<double> {
    if (const auto* n = std::get_if<std::int64_t>(&found.value)) return static_cast<double>(*n);
    const auto* d = std::get_if<double>(&found.value);
    return d ? std::optional{*d} : std::nullopt;
  };
  const auto print = [](double n) { return json::encode(n); };
  get<double>(name, value,
              {"a number", reading_settings::parse_number<double>,
               reading_settings::between(least, most, print), from_file});
}

void settings_reader::time(const std::string& name, duration& value, duration least,
                           duration most) {
  get<duration>(name, value,
                {"a duration such as \"250ms\", \"30s\", \"5m\", \"2h\" or \"30d\"",
                 parse_duration,
                 reading_settings::between(least, most, duration_text),
                 {}});
}

void settings_reader::size(const std::string& name, std::uint64_t& value, std::uint64_t least,
                           std::uint64_t most) {
  get<std::uint64_t>(name, value,
                     {"a size such as \"64KiB\", \"16MiB\" or \"1GiB\"",
                      parse_size,
                      reading_settings::between(least, most, size_text),
                      {}});
}

void settings_reader::text(const std::string& name, std::string& value, const text_check& check) {
  const auto same = [](const std::string& t) { return std::optional{t}; };
  get<std::string>(name, value, {"a string", same, check, {}});
}

void settings_reader::hidden(const std::string& name, secret& value, const text_check& check) {
  std::string open;
  // Neither the file nor the environment can give anything but a string, which is taken as it is;
  // `check` must not repeat it.
  text(name, open, check);
  if (!open.empty()) value = secret{std::move(open)};
}

std::optional<std::size_t> settings_reader::choose(const std::string& name,
                                                   const std::vector<std::string>& words) {
  std::string expected = "one of";
  for (const auto& word : words)
    expected += " \"" + word + "\"";
  const auto find = [&words](const std::string& t) -> std::optional<std::size_t> {
    const auto at = std::ranges::find(words, t);
    if (at == words.end()) return std::nullopt;
    return static_cast<std::size_t>(at - words.begin());
  };
  std::size_t chosen = words.size();
  get<std::size_t>(name, chosen, {expected, find, {}, {}});
  return chosen < words.size() ? std::optional{chosen} : std::nullopt;
}

/// Its section, or one above that, is refused already.
bool settings_reader::is_below_unknown(const std::string& key) const {
  for (auto dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1)) {
    const auto above = key.substr(0, dot);
    if (file_.contains(above) && !sections_.contains(above)) return true;
  }
  return false;
}

void settings_reader::refuse_unknown() {
  const std::set<std::string> known{keys_.begin(), keys_.end()};
  for (const auto& [key, found] : file_) {
    if (known.contains(key) || sections_.contains(key)) continue;
    const bool is_section = found.type == "table";
    if (is_below_unknown(key)) continue;
    const auto near = suggest(
      key, is_section ? std::vector<std::string>{sections_.begin(), sections_.end()} : keys_);
    complain(found.key_at, (is_section ? "unknown section '" : "unknown key '") + key + "'"
                             + (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
}

void settings_reader::complain(file_value::place at, const std::string& problem) {
  complain(file_name_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": "
           + problem);
}

} // namespace sluice
