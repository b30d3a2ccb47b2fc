#include "connectors/items.hpp"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace sluice {

namespace slicing {

namespace od = simdjson::ondemand;
using kind = field_value::kind;

/// Parsers are kept per thread; one that has read a very large page is not.
constexpr std::size_t kept_bytes_max = 4UL * 1024 * 1024;

bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.back()))
    text.remove_suffix(1);
  return text;
}

/// RFC 8259, 6: simdjson would refuse integers of more than 64 bits.
bool is_number(std::string_view text) noexcept {
  const auto digits = [&text] {
    const auto end = std::ranges::find_if_not(text, [](char c) { return c >= '0' && c <= '9'; });
    const auto count = static_cast<std::size_t>(end - text.begin());
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('-')) text.remove_prefix(1);
  const bool zero = text.starts_with('0');
  const auto whole = digits();
  if (whole == 0 || (zero && whole > 1)) return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
    if (digits() == 0) return false;
  }
  return text.empty();
}

/// The text that simdjson reads needs room behind it. Where the body has none, it is copied, and
/// what is found is translated back.
class padded_text {
public:
  explicit padded_text(const std::string& body) : body_{body} {
    if (body.capacity() - body.size() >= simdjson::SIMDJSON_PADDING) return;
    copy_.reserve(body.size() + simdjson::SIMDJSON_PADDING);
    copy_ = body;
  }
  padded_text(const padded_text&) = delete;
  padded_text& operator=(const padded_text&) = delete;

  [[nodiscard]] const std::string& text() const noexcept { return copy_.empty() ? body_ : copy_; }
  [[nodiscard]] std::size_t offset(const char* at) const noexcept {
    return static_cast<std::size_t>(at - text().data());
  }
  /// The body's bytes from `from` to `to`, without space at the end.
  [[nodiscard]] std::string_view slice(const char* from, const char* to) const noexcept {
    const auto start = offset(from);
    return trimmed(std::string_view{body_}.substr(start, offset(to) - start));
  }

private:
  const std::string& body_;
  std::string copy_;
};

struct parser_owner {
  std::unique_ptr<od::parser> parser = std::make_unique<od::parser>();

  static parser_owner& mine() {
    thread_local parser_owner owner;
    return owner;
  }
};

/// Reads one page. The first mistake ends it: `failed_` is then set and everything returns false.
class page_reader {
public:
  page_reader(const std::string& body, const page_shape& shape) : text_{body}, shape_{shape} {}

  result<raw_page> read(od::parser& parser) {
    page_.members.resize(shape_.members.size());
    const auto& text = text_.text();
    if (!check(parser.iterate(text.data(), text.size(), text.capacity()).get(doc_)) || !document())
      return explain();
    return std::move(page_);
  }

private:
  bool check(simdjson::error_code code) noexcept {
    if (code) code_ = code;
    return !code;
  }

  bool fail(std::string message) {
    message_ = std::move(message);
    return false;
  }

  error explain() {
    std::string where;
    if (in_item_) where = "item " + std::to_string(page_.items.size()) + ": ";
    if (!message_.empty()) return make_error(errc::bad_input, where + message_);
    std::string text{where + simdjson::error_message(code_)};
    const char* at = nullptr;
    if (started_ && !doc_.current_location().get(at))
      text += " (before byte " + std::to_string(text_.offset(at)) + ")";
    return make_error(errc::bad_input, "not JSON: " + text);
  }

  bool document() {
    started_ = true;
    od::json_type type{};
    if (!check(doc_.type().get(type))) return false;
    if (shape_.array.empty()) {
      if (type != od::json_type::array) return fail("expected an array of items");
      od::array array;
      if (!check(doc_.get_array().get(array)) || !items(array)) return false;
    } else {
      if (type != od::json_type::object) return fail("expected an object with a list of items");
      od::object object;
      if (!check(doc_.get_object().get(object)) || !members(object)) return false;
      if (!found_) return fail("it has no '" + std::string{shape_.array} + "'");
    }
    const char* behind = nullptr;
    return doc_.current_location().get(behind) == simdjson::OUT_OF_BOUNDS
           || fail("text behind the end of the document");
  }

  bool members(od::object& object) {
    for (auto next : object) {
      od::field field;
      std::string_view name;
      if (!check(std::move(next).get(field)) || !check(field.unescaped_key().get(name)))
        return false;
      od::value& value = field.value();
      if (name == shape_.array) {
        od::json_type type{};
        od::array array;
        if (!check(value.type().get(type))) return false;
        if (type != od::json_type::array || found_)
          return fail("'" + std::string{name} + "' is not one array");
        found_ = true;
        if (!check(value.get_array().get(array)) || !items(array)) return false;
        continue;
      }
      const auto wanted = std::ranges::find(shape_.members, name);
      std::string_view slice;
      if (!whole(value, slice)) return false;
      if (wanted != shape_.members.end())
        page_.members[static_cast<std::size_t>(wanted - shape_.members.begin())] = slice;
    }
    return true;
  }

  bool items(od::array& array) {
    in_item_ = true;
    for (auto next : array) {
      od::value value;
      if (!check(std::move(next).get(value))) return false;
      if (page_.items.size() == page_items_max)
        return fail("more than " + std::to_string(page_items_max) + " items");
      raw_item item;
      if (!one_item(value, item)) return false;
      page_.items.push_back(std::move(item));
    }
    in_item_ = false;
    return true;
  }

  bool one_item(od::value& value, raw_item& item) {
    od::json_type type{};
    if (!check(value.type().get(type))) return false;
    if (type != od::json_type::object) return fail("expected an object");
    const char* from = value.raw_json_token().data();
    od::object object;
    if (!check(value.get_object().get(object))) return false;
    item.fields.resize(shape_.fields.size());
    for (auto next : object) {
      od::field field;
      std::string_view name;
      if (!check(std::move(next).get(field)) || !check(field.unescaped_key().get(name)))
        return false;
      const auto wanted = std::ranges::find(shape_.fields, name);
      field_value* into = nullptr;
      if (wanted != shape_.fields.end()) {
        into = &item.fields[static_cast<std::size_t>(wanted - shape_.fields.begin())];
        *into = {};
      }
      if (!walk(field.value(), 2, into)) return false;
    }
    return until_here(from, item.raw);
  }

  bool whole(od::value& value, std::string_view& slice) {
    const auto token = trimmed(value.raw_json_token());
    if (!walk(value, 1, nullptr)) return false;
    if (token.starts_with('{') || token.starts_with('[')) return until_here(token.data(), slice);
    slice = text_.slice(token.data(), token.data() + token.size());
    return true;
  }

  /// Behind a value that was walked stands the token that follows it.
  bool until_here(const char* from, std::string_view& slice) {
    const char* to = nullptr;
    if (!check(doc_.current_location().get(to))) return false;
    slice = text_.slice(from, to);
    return true;
  }

  /// Reads a value to its leaves: nothing that is skipped is checked by simdjson.
  bool walk(od::value& value, std::size_t depth, field_value* into) {
    od::json_type type{};
    if (!check(value.type().get(type))) return false;
    switch (type) {
    case od::json_type::object:
      return object(value, depth, into);
    case od::json_type::array:
      return array(value, depth, into);
    case od::json_type::string: {
      std::string_view text;
      if (!check(value.get_string().get(text))) return false;
      keep(into, kind::string, text);
      return true;
    }
    case od::json_type::number: {
      // Not consumed: the loop around it goes past it.
      const auto token = trimmed(value.raw_json_token());
      if (!is_number(token)) return check(simdjson::NUMBER_ERROR);
      keep(into, kind::number, token);
      return true;
    }
    case od::json_type::boolean: {
      bool truth = false;
      if (!check(value.get_bool().get(truth))) return false;
      keep(into, kind::boolean, truth ? "true" : "false");
      return true;
    }
    case od::json_type::null: {
      bool null = false;
      if (!check(value.is_null().get(null))) return false;
      keep(into, kind::null, {});
      return null || check(simdjson::N_ATOM_ERROR);
    }
    }
    return check(simdjson::TAPE_ERROR);
  }

  bool object(od::value& value, std::size_t depth, field_value* into) {
    if (depth > page_depth_max) return check(simdjson::DEPTH_ERROR);
    keep(into, kind::object, {});
    od::object members;
    if (!check(value.get_object().get(members))) return false;
    for (auto next : members) {
      od::field field;
      std::string_view name;
      if (!check(std::move(next).get(field)) || !check(field.unescaped_key().get(name)))
        return false;
      if (!walk(field.value(), depth + 1, nullptr)) return false;
    }
    return true;
  }

  bool array(od::value& value, std::size_t depth, field_value* into) {
    if (depth > page_depth_max) return check(simdjson::DEPTH_ERROR);
    keep(into, kind::array, {});
    od::array elements;
    if (!check(value.get_array().get(elements))) return false;
    for (auto next : elements) {
      od::value element;
      if (!check(std::move(next).get(element)) || !walk(element, depth + 1, nullptr)) return false;
    }
    return true;
  }

  static void keep(field_value* into, kind type, std::string_view text) {
    if (into) *into = {type, std::string{text}};
  }

  padded_text text_;
  const page_shape& shape_;
  od::document doc_;
  raw_page page_;
  std::string message_;
  simdjson::error_code code_ = simdjson::SUCCESS;
  bool started_ = false;
  bool in_item_ = false;
  bool found_ = false;
};

} // namespace slicing

std::optional<std::uint64_t> field_value::integer() const noexcept {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, value);
  if (type != kind::number || failed != std::errc{} || at != end) return std::nullopt;
  return value;
}

result<raw_page> read_items(const std::string& body, const page_shape& shape) {
  if (body.empty()) return make_error(errc::bad_input, "not JSON: the body is empty");
  auto& owner = slicing::parser_owner::mine();
  auto page = slicing::page_reader{body, shape}.read(*owner.parser);
  if (body.size() > slicing::kept_bytes_max) owner = {};
  return page;
}

} // namespace sluice
