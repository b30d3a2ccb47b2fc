#pragma once

#include "base/secret.hpp"
#include "base/time.hpp"
#include "config/load.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {

/// A value of the config file, whatever the format of that file.
struct file_value {
  struct place {
    std::size_t line = 0;
    std::size_t column = 0;
  };
  /// `monostate`: a type that no setting has.
  std::variant<std::monostate, std::string, std::int64_t, double> value;
  std::string type; ///< for people: `string`, `table` …
  place key_at;
  place value_at;
};

/// By key: `listen`, `node.name`; sections stand there too, by their name.
using file_values = std::map<std::string, file_value>;

/// Reads settings one by one, from the file and then from the environment, and gathers all that is
/// wrong. A setting that is wrong keeps its default. Which keys exist is learned by asking.
class settings_reader {
public:
  settings_reader(const file_values& file, std::string file_name, const environment& env);

  /// Keys that follow belong to this section.
  void section(const std::string& name);
  /// Sections in the file below this one: `github` for `[circuit.github]`.
  [[nodiscard]] std::vector<std::string> subsections(const std::string& name) const;

  using text_check = std::function<std::string(const std::string&)>;

  /// `least` and `most` are allowed; `check` says what is wrong, or nothing.
  void count(const std::string& name, std::uint64_t& value, std::uint64_t least,
             std::uint64_t most);
  void count(const std::string& name, std::uint32_t& value, std::uint32_t least,
             std::uint32_t most);
  void real(const std::string& name, double& value, double least, double most);
  void time(const std::string& name, duration& value, duration least, duration most);
  void size(const std::string& name, std::uint64_t& value, std::uint64_t least, std::uint64_t most);
  void text(const std::string& name, std::string& value, const text_check& check = {});
  /// A text that no problem repeats.
  void hidden(const std::string& name, secret& value, const text_check& check = {});
  template <class T>
  void choice(const std::string& name, T& value,
              const std::vector<std::pair<std::string, T>>& all) {
    std::vector<std::string> words;
    words.reserve(all.size());
    for (const auto& [word, meaning] : all)
      words.push_back(word);
    if (const auto chosen = choose(name, words)) value = all[*chosen].second;
  }

  /// What is in the file and was never asked for is a mistake.
  void refuse_unknown();
  void complain(std::string problem) { problems_.push_back(std::move(problem)); }

  [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }
  [[nodiscard]] const std::vector<std::string>& keys() const noexcept { return keys_; }

private:
  template <class T>
  struct reading;
  template <class T>
  void get(const std::string& name, T& value, const reading<T>& how);
  std::optional<std::size_t> choose(const std::string& name, const std::vector<std::string>& words);
  [[nodiscard]] bool is_below_unknown(const std::string& key) const;
  void complain(file_value::place at, const std::string& problem);

  const file_values& file_;
  std::string file_name_;
  const environment& env_;
  std::string section_;
  std::set<std::string> sections_;
  std::vector<std::string> keys_;
  std::vector<std::string> problems_;
};

/// Asks `r` for every setting there is: the one list of keys, limits and checks.
void read_settings(settings_reader& r, settings& s);

/// What is wrong with a listen address or a data folder; empty: nothing. For flags.
[[nodiscard]] std::string check_listen(const std::string& text);
[[nodiscard]] std::string check_data(const std::string& text);

} // namespace sluice
