#pragma once

#include "base/error.hpp"
#include "base/time.hpp"
#include "base/uuid.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// JSON in and out. Parsing is simdjson's, behind an opaque handle; writing is ours.
///
/// A struct takes part by a free function beside it, found by argument lookup:
///
///     template <class Fields> void describe(Fields& f, page_memo& x) {
///       f("cursor", x.cursor); f("count", x.count);
///     }
///
/// Decoding skips fields that it does not know and leaves absent ones at their default, so that a
/// field can be added while runs of an older build are alive (P16).
namespace sluice::json {

/// A piece of JSON text that passes through unchanged.
struct raw {
  std::string text = "null";
  friend bool operator==(const raw&, const raw&) = default;
};

/// Appends JSON to one string. Keeps track of commas; the caller keeps track of nesting.
class writer {
public:
  writer& obj();
  writer& arr();
  /// Closes the innermost object or array.
  writer& end();
  writer& key(std::string_view name);
  /// Text that is not UTF-8 becomes text with U+FFFD in place of what is wrong.
  writer& str(std::string_view text);
  writer& num(std::int64_t value);
  writer& num(std::uint64_t value);
  /// NaN and infinity become `null`; everything else reads back as the same double.
  writer& num(double value);
  writer& boolean(bool value);
  writer& null();
  /// Embeds JSON text as it is.
  writer& raw(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] std::string take() noexcept { return std::move(text_); }

private:
  void comma();

  std::string text_;
  std::string closers_;
  bool fresh_ = true;
};

/// `text` as a JSON string, with its quotes.
[[nodiscard]] std::string quoted(std::string_view text);

/// A place inside a parsed document: valid as long as its `document`. Knows its path, so that
/// errors say where: `/rate/perSecond: expected integer, got string`.
class cursor {
public:
  enum class kind : std::uint8_t { null, boolean, integer, number, string, array, object };

  [[nodiscard]] kind type() const;
  [[nodiscard]] bool is_null() const { return type() == kind::null; }
  [[nodiscard]] result<bool> boolean() const;
  [[nodiscard]] result<std::int64_t> i64() const;
  [[nodiscard]] result<std::uint64_t> u64() const;
  [[nodiscard]] result<double> number() const;
  [[nodiscard]] result<std::string_view> str() const;
  /// The member `name`; nothing when there is none, or when this is no object.
  [[nodiscard]] std::optional<cursor> find(std::string_view name) const;
  [[nodiscard]] result<std::vector<cursor>> items() const;
  /// Members in document order, names without their escapes.
  [[nodiscard]] result<std::vector<std::pair<std::string_view, cursor>>> members() const;
  /// This value as compact JSON text.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// `path: message`, as an `errc::bad_input`.
  [[nodiscard]] error fail(std::string_view message) const;

private:
  friend class document;
  cursor(std::array<std::uintptr_t, 2> element, std::string path)
    : element_{element}, path_{std::move(path)} {}

  std::array<std::uintptr_t, 2> element_;
  std::string path_;
};

/// A whole parsed and checked text. Depth is limited to 64 (S13).
class document {
public:
  /// The error names line and column where that is known.
  static result<document> parse(std::string_view text);

  document(document&&) noexcept;
  document& operator=(document&&) noexcept;
  ~document();

  [[nodiscard]] cursor root() const;

private:
  struct state;
  explicit document(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

// -- values -------------------------------------------------------------------

template <class T>
void put(writer& w, const T& x);
template <class T>
error get(const cursor& c, T& x);

class encoder {
public:
  explicit encoder(writer& w) : w_{w} {}
  template <class T>
  void operator()(std::string_view name, const T& field) {
    w_.key(name);
    put(w_, field);
  }

private:
  writer& w_;
};

class decoder {
public:
  explicit decoder(const cursor& c) : c_{c} {}
  template <class T>
  void operator()(std::string_view name, T& field) {
    if (failed) return;
    if (auto member = c_.find(name)) failed = get(*member, field);
  }

  error failed;

private:
  const cursor& c_;
};

template <class T>
concept described = requires(encoder& f, T& x) { describe(f, x); };

namespace detail {
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::map<std::string, T>> = true;
} // namespace detail

/// Structs, numbers, strings, booleans, `raw`, `timestamp` and `duration` (milliseconds), `uuid`
/// (text), and vectors, optionals (absent is `null`) and string maps of them.
template <class T>
void put(writer& w, const T& x) {
  if constexpr (std::same_as<T, bool>) {
    w.boolean(x);
  } else if constexpr (std::signed_integral<T>) {
    w.num(static_cast<std::int64_t>(x));
  } else if constexpr (std::unsigned_integral<T> || std::is_enum_v<T>) {
    w.num(static_cast<std::uint64_t>(x));
  } else if constexpr (std::floating_point<T>) {
    w.num(static_cast<double>(x));
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    w.str(x);
  } else if constexpr (std::same_as<T, raw>) {
    w.raw(x.text);
  } else if constexpr (std::same_as<T, timestamp>) {
    w.num(to_millis(x));
  } else if constexpr (std::same_as<T, duration>) {
    w.num(static_cast<std::int64_t>(x.count()));
  } else if constexpr (std::same_as<T, uuid>) {
    w.str(to_string(x));
  } else if constexpr (detail::is_optional<T>) {
    if (x)
      put(w, *x);
    else
      w.null();
  } else if constexpr (detail::is_vector<T>) {
    w.arr();
    for (const auto& item : x)
      put(w, item);
    w.end();
  } else if constexpr (detail::is_map<T>) {
    w.obj();
    for (const auto& [name, item] : x) {
      w.key(name);
      put(w, item);
    }
    w.end();
  } else {
    w.obj();
    encoder f{w};
    // `describe` takes its struct by reference so that one function serves both ways.
    describe(f, const_cast<T&>(x));
    w.end();
  }
}

template <class T, class R>
error take(result<R>&& from, T& x) {
  if (!from) return from.error();
  x = static_cast<T>(*from);
  return {};
}

template <class T>
error get(const cursor& c, T& x) {
  if constexpr (std::same_as<T, bool>) {
    return take(c.boolean(), x);
  } else if constexpr (std::signed_integral<T>) {
    auto n = c.i64();
    if (n && !std::in_range<T>(*n)) return c.fail("number out of range");
    return take(std::move(n), x);
  } else if constexpr (std::unsigned_integral<T>) {
    auto n = c.u64();
    if (n && !std::in_range<T>(*n)) return c.fail("number out of range");
    return take(std::move(n), x);
  } else if constexpr (std::floating_point<T>) {
    return take(c.number(), x);
  } else if constexpr (std::is_enum_v<T>) {
    std::underlying_type_t<T> n{};
    if (auto e = get(c, n)) return e;
    x = static_cast<T>(n);
    return {};
  } else if constexpr (std::same_as<T, std::string>) {
    return take(c.str(), x);
  } else if constexpr (std::same_as<T, raw>) {
    x.text = c.text();
    return {};
  } else if constexpr (std::same_as<T, timestamp>) {
    auto n = c.i64();
    if (!n) return n.error();
    x = from_millis(*n);
    return {};
  } else if constexpr (std::same_as<T, duration>) {
    return take(c.i64(), x);
  } else if constexpr (std::same_as<T, uuid>) {
    auto text = c.str();
    if (!text) return text.error();
    auto id = parse_uuid(*text);
    if (!id) return c.fail("expected a UUID");
    x = *id;
    return {};
  } else if constexpr (detail::is_optional<T>) {
    if (c.is_null()) {
      x.reset();
      return {};
    }
    return get(c, x.emplace());
  } else if constexpr (detail::is_vector<T>) {
    auto items = c.items();
    if (!items) return items.error();
    x.clear();
    x.reserve(items->size());
    for (const auto& item : *items) {
      if (auto e = get(item, x.emplace_back())) return e;
    }
    return {};
  } else if constexpr (detail::is_map<T>) {
    auto members = c.members();
    if (!members) return members.error();
    x.clear();
    for (const auto& [name, item] : *members) {
      if (auto e = get(item, x[std::string{name}])) return e;
    }
    return {};
  } else {
    if (c.type() != cursor::kind::object) return c.fail("expected an object");
    decoder f{c};
    describe(f, x);
    return std::move(f.failed);
  }
}

template <class T>
[[nodiscard]] std::string encode(const T& x) {
  writer w;
  put(w, x);
  return w.take();
}

/// Small integers, the commonest result of a step, are read without a parser.
std::optional<std::int64_t> plain_integer(std::string_view text) noexcept;

template <class T>
[[nodiscard]] result<T> decode(std::string_view text) {
  T x{};
  if constexpr (std::integral<T> && !std::same_as<T, bool>) {
    if (auto n = plain_integer(text); n && std::in_range<T>(*n)) return static_cast<T>(*n);
  }
  auto parsed = document::parse(text);
  if (!parsed) return parsed.error();
  if (auto e = get(parsed->root(), x)) return e;
  return x;
}

} // namespace sluice::json
