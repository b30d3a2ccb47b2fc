#include "base/json.hpp"

#include "base/json_mistake.hpp"

#include <simdjson.h>

#include <bit>
#include <cstring>

namespace sluice::json {

namespace dom = simdjson::dom;

namespace parsing {

static_assert(sizeof(dom::element) == sizeof(std::array<std::uintptr_t, 2>));

using opaque = std::array<std::uintptr_t, 2>;

opaque hide(dom::element e) noexcept {
  return std::bit_cast<opaque>(e);
}

dom::element show(opaque bits) noexcept {
  return std::bit_cast<dom::element>(bits);
}

cursor::kind kind_of(dom::element e) noexcept {
  switch (e.type()) {
  case dom::element_type::ARRAY:
    return cursor::kind::array;
  case dom::element_type::OBJECT:
    return cursor::kind::object;
  case dom::element_type::INT64:
  case dom::element_type::UINT64:
    return cursor::kind::integer;
  case dom::element_type::DOUBLE:
    return cursor::kind::number;
  case dom::element_type::STRING:
    return cursor::kind::string;
  case dom::element_type::BOOL:
    return cursor::kind::boolean;
  case dom::element_type::NULL_VALUE:
    return cursor::kind::null;
  }
  return cursor::kind::null;
}

std::string_view name_of(cursor::kind k) noexcept {
  switch (k) {
  case cursor::kind::null:
    return "null";
  case cursor::kind::boolean:
    return "boolean";
  case cursor::kind::integer:
    return "integer";
  case cursor::kind::number:
    return "number";
  case cursor::kind::string:
    return "string";
  case cursor::kind::array:
    return "array";
  case cursor::kind::object:
    return "object";
  }
  return "value";
}

error wrong_type(const cursor& c, std::string_view expected) {
  std::string message{"expected "};
  message.append(expected).append(", got ").append(name_of(c.type()));
  return c.fail(message);
}

std::string extend(const std::string& path, std::string_view name) {
  std::string longer;
  longer.reserve(path.size() + 1 + name.size());
  longer.append(path).append(1, '/').append(name);
  return longer;
}

/// simdjson gives no place, so the text is read once more, slowly.
error explain(std::string_view text, simdjson::error_code code) {
  std::string message;
  if (const auto found = find_mistake(text)) {
    message =
      std::to_string(found->line) + ":" + std::to_string(found->column) + ": " + found->what;
  } else {
    message = simdjson::error_message(code);
  }
  return make_error(errc::bad_input, "not JSON: " + message);
}

} // namespace parsing

// -- document -----------------------------------------------------------------

/// A parser with its buffers. Parsed documents live inside their parser, so each document has one
/// of its own; used ones wait in a free list of their thread, because making one costs more than
/// reading a small text.
struct document::state {
  dom::parser parser;
  std::string padded;
  dom::element root;
};

namespace parsing {

constexpr std::size_t kept_max = 16;
constexpr std::size_t kept_bytes_max = 64UL * 1024;
constexpr std::size_t bytes_at_start = 1024;

/// True once the thread's free list is gone: documents of static life time may come after it.
thread_local bool list_gone = false;

template <class State>
struct free_list {
  std::vector<std::unique_ptr<State>> states;
  free_list() { states.reserve(kept_max); }
  free_list(const free_list&) = delete;
  free_list& operator=(const free_list&) = delete;
  ~free_list() { list_gone = true; }

  static free_list& mine() {
    thread_local free_list list;
    return list;
  }
};

template <class State>
std::unique_ptr<State> borrow() {
  if (!list_gone) {
    auto& free = free_list<State>::mine().states;
    if (!free.empty()) {
      auto s = std::move(free.back());
      free.pop_back();
      return s;
    }
  }
  auto s = std::make_unique<State>();
  // Fails only without memory, and then the parse that follows says so. simdjson counts the
  // document itself as a level.
  (void)s->parser.allocate(bytes_at_start, depth_max + 1);
  return s;
}

template <class State>
void give_back(std::unique_ptr<State> s) {
  if (!s || list_gone || s->padded.capacity() > kept_bytes_max) return;
  auto& free = free_list<State>::mine().states;
  if (free.size() < kept_max) free.push_back(std::move(s));
}

} // namespace parsing

document::document(std::unique_ptr<state> s) : state_{std::move(s)} {}
document::document(document&&) noexcept = default;

document& document::operator=(document&& other) noexcept {
  if (this != &other) {
    parsing::give_back(std::move(state_));
    state_ = std::move(other.state_);
  }
  return *this;
}

document::~document() {
  parsing::give_back(std::move(state_));
}

result<document> document::parse(std::string_view text) {
  auto s = parsing::borrow<state>();
  s->padded.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  s->padded.assign(text);
  const auto code = s->parser.parse(s->padded.data(), text.size(), false).get(s->root);
  if (code == simdjson::MEMALLOC)
    return make_error(errc::unavailable,
                      "no memory for a JSON text of " + std::to_string(text.size()) + " bytes");
  if (code) return parsing::explain(text, code);
  return document{std::move(s)};
}

cursor document::root() const {
  return {parsing::hide(state_->root), {}};
}

// -- cursor -------------------------------------------------------------------

cursor::kind cursor::type() const {
  return parsing::kind_of(parsing::show(element_));
}

result<bool> cursor::boolean() const {
  bool value = false;
  if (parsing::show(element_).get(value)) return parsing::wrong_type(*this, "boolean");
  return value;
}

result<std::int64_t> cursor::i64() const {
  std::int64_t value = 0;
  const auto code = parsing::show(element_).get(value);
  if (code == simdjson::NUMBER_OUT_OF_RANGE) return fail("number out of range");
  if (code) return parsing::wrong_type(*this, "integer");
  return value;
}

result<std::uint64_t> cursor::u64() const {
  std::uint64_t value = 0;
  const auto code = parsing::show(element_).get(value);
  if (code == simdjson::NUMBER_OUT_OF_RANGE) return fail("number out of range");
  if (code) return parsing::wrong_type(*this, "integer");
  return value;
}

result<double> cursor::number() const {
  double value = 0;
  if (parsing::show(element_).get(value)) return parsing::wrong_type(*this, "number");
  return value;
}

result<std::string_view> cursor::str() const {
  std::string_view value;
  if (parsing::show(element_).get(value)) return parsing::wrong_type(*this, "string");
  return value;
}

std::optional<cursor> cursor::find(std::string_view name) const {
  dom::object object;
  if (parsing::show(element_).get(object)) return std::nullopt;
  dom::element member;
  if (object.at_key(name).get(member)) return std::nullopt;
  return cursor{parsing::hide(member), parsing::extend(path_, name)};
}

result<std::vector<cursor>> cursor::items() const {
  dom::array array;
  if (parsing::show(element_).get(array)) return parsing::wrong_type(*this, "array");
  std::vector<cursor> found;
  found.reserve(array.size());
  for (const dom::element item : array)
    found.push_back(
      cursor{parsing::hide(item), parsing::extend(path_, std::to_string(found.size()))});
  return found;
}

result<std::vector<std::pair<std::string_view, cursor>>> cursor::members() const {
  dom::object object;
  if (parsing::show(element_).get(object)) return parsing::wrong_type(*this, "object");
  std::vector<std::pair<std::string_view, cursor>> found;
  found.reserve(object.size());
  for (const auto& [name, value] : object)
    found.emplace_back(name, cursor{parsing::hide(value), parsing::extend(path_, name)});
  return found;
}

std::string cursor::text() const {
  return simdjson::minify(parsing::show(element_));
}

error cursor::fail(std::string_view message) const {
  std::string detail = path_;
  if (!detail.empty()) detail += ": ";
  detail += message;
  return make_error(errc::bad_input, std::move(detail));
}

// -- values -------------------------------------------------------------------

std::optional<std::int64_t> plain_integer(std::string_view text) noexcept {
  const bool negative = text.starts_with('-');
  const auto digits = text.substr(negative ? 1 : 0);
  // 18 digits cannot overflow; the rest is the parser's business.
  if (digits.empty() || digits.size() > 18) return std::nullopt;
  if (digits.size() > 1 && digits.front() == '0') return std::nullopt;
  std::int64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return negative ? -value : value;
}

} // namespace sluice::json
