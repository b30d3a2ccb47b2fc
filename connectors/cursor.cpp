#include "connectors/cursor.hpp"

namespace sluice::cursors {

namespace {

/// Where the value of a parameter lies in a text.
struct place {
  std::size_t from = 0;
  std::size_t size = 0;
};

std::optional<place> find(std::string_view cursor, std::string_view name) {
  auto at = cursor.find('?');
  while (at != cursor.npos) {
    const auto from = at + 1;
    const auto end = std::min(cursor.find('&', from), cursor.size());
    const auto pair = cursor.substr(from, end - from);
    if (pair.size() > name.size() && pair.starts_with(name) && pair[name.size()] == '=')
      return place{from + name.size() + 1, pair.size() - name.size() - 1};
    at = end == cursor.size() ? cursor.npos : end;
  }
  return std::nullopt;
}

error refused(const url& to) {
  return make_error(errc::bad_input,
                    "refused a next page on another host, " + to_string(to.where()));
}

error check(const url& base, const url& to) {
  if (to.where() != base.where()) return refused(to);
  if (to.has_user_info() && !base.has_user_info())
    return make_error(errc::bad_input, "refused a next page whose URL has user info");
  return {};
}

} // namespace

result<url> resolve(std::string_view base, std::string_view cursor) {
  auto root = url::parse(base);
  if (!root) return root.error();
  if (cursor.starts_with('/') && !cursor.starts_with("//")) return root->join(cursor);
  auto to = url::parse(cursor);
  if (!to) return to.error();
  if (auto e = check(*root, *to)) return e;
  return to;
}

result<std::string> from_link(std::string_view base, std::string_view page,
                              std::string_view reference) {
  auto root = url::parse(base);
  if (!root) return root.error();
  auto from = page.empty() ? root : url::parse(page);
  if (!from) return from.error();
  auto to = from->resolve(reference);
  if (!to) return to.error();
  if (auto e = check(*root, *to)) return e;
  // Below the base the path is enough, and outlives a change of the base.
  auto prefix = root->printable();
  while (prefix.ends_with('/'))
    prefix.pop_back();
  const std::string_view text = to->text();
  if (!text.starts_with(prefix) || text.substr(prefix.size(), 1) != "/") return to->text();
  std::string cursor{text.substr(prefix.size())};
  // What the base cannot take below itself (`//`, `..`) stays whole.
  const auto back = root->join(cursor);
  return back && back->text() == text ? cursor : to->text();
}

std::optional<std::string_view> parameter(std::string_view cursor, std::string_view name) {
  const auto at = find(cursor, name);
  if (!at) return std::nullopt;
  return cursor.substr(at->from, at->size);
}

std::string with_parameter(std::string_view cursor, std::string_view name, std::string_view value) {
  std::string made{cursor};
  if (const auto at = find(cursor, name)) return made.replace(at->from, at->size, value);
  made += cursor.find('?') == cursor.npos ? '?' : '&';
  return made.append(name).append("=").append(value);
}

} // namespace sluice::cursors
