#include "api/input.hpp"

#include <algorithm>
#include <charconv>

namespace sluice::api {

input input::of_body(std::string_view body) {
  input in;
  if (body.find_first_not_of(" \t\r\n") == body.npos) return in;
  auto parsed = json::document::parse(body);
  if (!parsed) {
    in.wrong("", "the body is not JSON: " + detail_of(parsed.error()));
    return in;
  }
  auto members = parsed->root().members();
  if (!members) {
    in.wrong("", "the body must be a JSON object");
    return in;
  }
  for (const auto& [name, value] : *members) {
    const auto kind = value.type();
    const bool is_text = kind == json::cursor::kind::string;
    in.members_.push_back(
      {std::string{name}, is_text ? std::string{*value.str()} : value.text(), kind});
  }
  return in;
}

input input::of_query(const http::target& t) {
  input in;
  for (const auto& [name, value] : t.query) {
    // `?status=` is what a form sends for "any".
    if (value.empty()) continue;
    in.members_.push_back({name, value});
  }
  return in;
}

void input::wrong(std::string_view field, std::string message) {
  mistakes_.push_back({std::string{field}, std::move(message)});
}

const input::member* input::find(std::string_view name) {
  const member* found = nullptr;
  for (auto& m : members_) {
    if (m.name != name) continue;
    if (found) wrong(name, "given more than once");
    m.used = true;
    found = &m;
  }
  return found;
}

std::string input::read_text(std::string_view name, std::size_t bytes_max, bool required) {
  const auto* m = find(name);
  const bool absent = !m || m->kind == json::cursor::kind::null;
  if (absent) {
    if (required) wrong(name, "required");
  } else if (m->kind != json::cursor::kind::string) {
    wrong(name, "must be a string");
  } else if (m->text.empty() || m->text.size() > bytes_max) {
    wrong(name, "must have 1 to " + std::to_string(bytes_max) + " bytes");
  } else {
    return m->text;
  }
  return {};
}

std::string input::text(std::string_view name, std::size_t bytes_max) {
  return read_text(name, bytes_max, true);
}

std::string input::text_or_none(std::string_view name, std::size_t bytes_max) {
  return read_text(name, bytes_max, false);
}

std::string input::value(std::string_view name) {
  const auto* m = find(name);
  if (!m) return "null";
  return m->kind == json::cursor::kind::string ? json::quoted(m->text) : m->text;
}

run_id input::run(std::string_view name) {
  const auto before = mistakes_.size();
  const auto given = text(name, 64);
  const auto id = parse_uuid(given);
  if (!id && mistakes_.size() == before) wrong(name, "must be the id of a run");
  return id ? run_id{*id} : run_id{};
}

std::optional<run_id> input::run_or_none(std::string_view name) {
  if (std::ranges::none_of(members_, [&](const member& m) { return m.name == name; })) return {};
  return run(name);
}

std::uint64_t input::number(std::string_view name, std::uint64_t otherwise, std::uint64_t min,
                            std::uint64_t max) {
  const auto* m = find(name);
  if (!m) return otherwise;
  std::uint64_t n = 0;
  const char* end = m->text.data() + m->text.size();
  auto [at, failed] = std::from_chars(m->text.data(), end, n);
  if (failed != std::errc{} || at != end || n < min || n > max) {
    wrong(name, "must be a number from " + std::to_string(min) + " to " + std::to_string(max));
    return otherwise;
  }
  return n;
}

std::uint64_t input::one_of(std::string_view name, std::uint64_t otherwise,
                            std::span<const std::uint64_t> allowed) {
  const auto* m = find(name);
  if (!m || m->kind == json::cursor::kind::null) return otherwise;
  std::string choice;
  for (const auto n : allowed) {
    const auto text = std::to_string(n);
    if (m->kind == json::cursor::kind::integer && m->text == text) return n;
    choice += (choice.empty() ? "" : ", ") + text;
  }
  wrong(name, "must be one of the numbers " + choice);
  return otherwise;
}

std::string input::one_of(std::string_view name, std::string_view otherwise,
                          std::span<const std::string_view> allowed) {
  const auto* m = find(name);
  if (!m || m->kind == json::cursor::kind::null) return std::string{otherwise};
  std::string choice;
  for (const auto text : allowed) {
    if (m->kind == json::cursor::kind::string && m->text == text) return m->text;
    choice.append(choice.empty() ? "" : ", ").append(text);
  }
  wrong(name, "must be one of " + choice);
  return std::string{otherwise};
}

std::vector<std::string> input::texts(std::string_view name, std::size_t bytes_max,
                                      std::size_t count_max) {
  const auto* m = find(name);
  if (!m || m->kind == json::cursor::kind::null) return {};
  const auto list = m->kind == json::cursor::kind::array
                      ? json::decode<std::vector<std::string>>(m->text)
                      : result<std::vector<std::string>>{make_error(errc::bad_input, "no list")};
  if (!list) {
    wrong(name, "must be a list of strings");
    return {};
  }
  if (list->size() > count_max) wrong(name, "at most " + std::to_string(count_max));
  for (auto text = list->begin(); text != list->end(); ++text) {
    if (text->empty() || text->size() > bytes_max)
      wrong(name, "each must have 1 to " + std::to_string(bytes_max) + " bytes");
    if (std::find(list->begin(), text, *text) != text)
      wrong(name, "'" + *text + "' is there twice");
  }
  return *list;
}

std::optional<http::problem> input::problem() {
  for (const auto& m : members_) {
    if (!m.used) wrong(m.name, "unknown");
  }
  if (mistakes_.empty()) return std::nullopt;
  return invalid(mistakes_);
}

} // namespace sluice::api
