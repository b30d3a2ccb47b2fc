#pragma once

#include "api/errors.hpp"
#include "base/json.hpp"
#include "http/target.hpp"
#include "messages/ids.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::api {

/// Reads a JSON body or a query and collects everything that is wrong with it, so that one answer
/// names it all. Whatever was not asked for by the end is a mistake too: a name with a typo is not
/// ignored.
class input {
public:
  /// An empty body counts as an empty object.
  static input of_body(std::string_view body);
  static input of_query(const http::target& t);

  /// 1 to `bytes_max` bytes.
  std::string text(std::string_view name, std::size_t bytes_max);
  /// Empty when absent or null.
  std::string text_or_none(std::string_view name, std::size_t bytes_max);
  /// Any JSON value, compact; `null` when absent.
  std::string value(std::string_view name);
  run_id run(std::string_view name);
  std::optional<run_id> run_or_none(std::string_view name);
  std::uint64_t number(std::string_view name, std::uint64_t otherwise, std::uint64_t min,
                       std::uint64_t max);

  /// One of `allowed`; `otherwise` when absent or null.
  std::uint64_t one_of(std::string_view name, std::uint64_t otherwise,
                       std::span<const std::uint64_t> allowed);
  std::string one_of(std::string_view name, std::string_view otherwise,
                     std::span<const std::string_view> allowed);
  /// A list of at most `count_max` different texts; empty when absent or null.
  std::vector<std::string> texts(std::string_view name, std::size_t bytes_max,
                                 std::size_t count_max);

  void wrong(std::string_view field, std::string message);

  /// The whole answer when anything is wrong; call it last.
  [[nodiscard]] std::optional<http::problem> problem();

private:
  struct member {
    std::string name;
    std::string text; ///< a string as it is; everything else as JSON
    json::cursor::kind kind = json::cursor::kind::string;
    bool used = false;
  };

  const member* find(std::string_view name);
  std::string read_text(std::string_view name, std::size_t bytes_max, bool required);

  std::vector<member> members_;
  std::vector<mistake> mistakes_;
};

} // namespace sluice::api
