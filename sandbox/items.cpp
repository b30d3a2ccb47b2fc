#include "sandbox/items.hpp"

#include "sandbox/item_shapes.hpp"
#include "sandbox/moments.hpp"
#include "sandbox/shape.hpp"

namespace sluice::sandbox {

namespace writing {

using namespace item_shapes;
using values = std::array<std::string_view, places.size()>;

constexpr std::array<std::string_view, 6> logins{"octocat", "hubot", "mona-lisa",
                                                 "kim",     "d4ve",  "renovate-bot"};
constexpr std::array<std::string_view, 4> labels{"bug", "enhancement", "docs", "good%20first"};
constexpr std::array<std::string_view, 6> verbs{"Fix",  "Rework",  "Document",
                                                "Bump", "Replace", "Measure"};
constexpr std::array<std::string_view, 6> nouns{"the retry loop",    "login on slow networks",
                                                "pagination",        "the cache of thumbnails",
                                                "a leak in uploads", "flaky tests"};

/// Bodies are pieces of this text.
constexpr std::string_view prose =
  R"(## What\r\n\r\nThe worker kept its lease although the process that held it was gone, so the next )"
  R"(one waited for a full time-out before it took over. Now the lease is given back when the )"
  R"(connection closes, and the time-out only matters when the machine itself disappears.\r\n\r\n)"
  R"(- [x] tests\r\n- [ ] docs \u2014 follow in #12\r\n\r\n```cpp\r\nif (lease.expired(now)) return )"
  R"(take_over(\"worker\");\r\n```\r\n\r\nMeasured on a quiet machine: 412 ms before, 9 ms after. )"
  R"(Naïve readers may wonder why the clock is passed in; see the notes on time in the guide. )"
  R"(Closes nothing, relates to a report from last week in which two uploads were seen twice \ud83d\ude80.)";

/// Where `prose` may be cut: never inside an escape or a character.
constexpr std::array<std::size_t, 5> cuts{prose.find("The worker"), prose.find("one waited"),
                                          prose.find("connection"), prose.find("Measured"),
                                          prose.find("Closes")};

/// What a few items begin with: bytes that no careless reader passes on unchanged.
/// 23 is odd, so that they are met among odd numbers as well as among all.
std::string_view oddity(const item_facts& f) {
  switch (f.number % 23) {
  case 0:
    return R"("serial":123456789012345678901234567890,)";
  case 1:
    return R"("emoji":"caf\u00e9 \ud83d\ude80 \/ \u0041",)";
  case 2:
    return " \n\t\"spacing\" :  [ 1 ,2,\t3 ] ,\r\n  ";
  case 3:
    return R"("ratio":1.0E+05,"tiny":0.1000,"minus":-0,)";
  case 4:
    return "\"nick\":\"Zoë 🚀\",";
  default:
    return "";
  }
}

std::string title_of(std::uint64_t dice, std::uint32_t version) {
  std::string text{verbs[dice % verbs.size()]};
  text += ' ';
  text += nouns[(dice >> 8) % nouns.size()];
  if (version > 0) text += " (edited " + std::to_string(version) + ")";
  return text;
}

std::string_view body_of(std::uint64_t dice) {
  const auto from = cuts[(dice >> 16) % 4];
  const auto longest = dice % 4 != 0;
  return longest ? prose.substr(from) : prose.substr(from, cuts[4] - from);
}

std::string quoted_or_null(bool there, const std::string& text) {
  return there ? "\"" + text + "\"" : "null";
}

const shape& shape_of(entity kind) {
  static const shape pull{pull_request, places};
  static const shape thread{issue, places};
  static const shape tag{release, places};
  static const shape deploy{deployment, places};
  switch (kind) {
  case entity::pull_request:
    return pull;
  case entity::issue:
    return thread;
  case entity::release:
    return tag;
  case entity::deployment:
    return deploy;
  }
  return pull;
}

const shape& mark_shape() {
  static const shape mark{pull_request_mark, places};
  return mark;
}

} // namespace writing

item_writer::item_writer(const world& w, list_ref l)
  : world_{w}, list_{l}, name_{w.name_of(l.of)}, owner_{name_.substr(0, name_.find('/'))},
    provider_id_{w.provider_id_of(l.of)}, prefix_{w.delivery_prefix(l)} {}

std::uint64_t item_writer::dice(const item_facts& f) const noexcept {
  const auto what = (std::uint64_t{f.version} << 40) | (std::uint64_t(f.kind) << 32) | f.number;
  return mix64(mix64(world_.about().seed + 2, list_.of.key()), what);
}

std::string item_writer::release_id(std::uint32_t number) const {
  return std::to_string(world_.repo_id_of(list_.of) * 100'000 + number);
}

std::string item_writer::uid(std::uint32_t number) const {
  return "dpl_" + to_hex(mix64(mix64(world_.about().seed + 3, list_.of.key()), number));
}

std::string item_writer::delivery_id(const item_facts& f) const {
  switch (list_.kind) {
  case entity::pull_request:
  case entity::issue:
    return prefix_ + std::to_string(f.number);
  case entity::release:
    return prefix_ + release_id(f.number);
  case entity::deployment:
    return prefix_ + uid(f.number);
  }
  return prefix_;
}

void item_writer::append(std::string& out, const item_facts& f) const {
  switch (list_.kind) {
  case entity::pull_request:
  case entity::issue:
    return append_thread(out, f);
  case entity::release:
    return append_release(out, f);
  case entity::deployment:
    return append_deployment(out, f);
  }
}

void item_writer::append_thread(std::string& out, const item_facts& f) const {
  using namespace writing;
  const auto chance = dice(f);
  const auto number_text = std::to_string(f.number);
  const auto id_text = std::to_string(world_.repo_id_of(list_.of) * 1'000'000 + f.number * 2ULL
                                      + (list_.kind == entity::issue ? 1 : 0));
  const auto sha_text = to_hex(chance) + to_hex(chance * 31) + "0badcafe";
  const auto base_text = to_hex(chance * 7) + to_hex(chance * 11) + "00c0ffee";
  const auto created_text = iso_seconds(f.created_ms);
  const auto updated_text = iso_seconds(f.updated_ms);
  const auto done_text = quoted_or_null(!f.open, updated_text);
  const auto merged_text = quoted_or_null(!f.open && chance % 5 != 0, updated_text);
  const auto title_text = title_of(chance, f.version);
  const auto user_text = std::to_string(10'000 + chance % logins.size());
  values v{};
  v[odd] = oddity(f);
  v[id] = id_text;
  v[n] = number_text;
  v[repo] = name_;
  v[owner] = owner_;
  v[rid] = provider_id_;
  v[title] = title_text;
  v[body] = body_of(chance);
  v[state] = f.open ? "open" : "closed";
  v[created] = created_text;
  v[updated] = updated_text;
  v[done] = done_text;
  v[merge] = merged_text;
  v[sha] = sha_text;
  v[base] = base_text;
  v[login] = logins[chance % logins.size()];
  v[writing::uid] = user_text;
  v[draft] = f.open && chance % 7 == 0 ? "true" : "false";
  v[label] = labels[chance % labels.size()];
  std::string mark;
  if (list_.kind == entity::issue && f.kind == entity::pull_request) mark_shape().fill(mark, v);
  v[more] = mark;
  shape_of(list_.kind).fill(out, v);
}

void item_writer::append_release(std::string& out, const item_facts& f) const {
  using namespace writing;
  const auto chance = dice(f);
  const auto number_text = std::to_string(f.number);
  const auto id_text = release_id(f.number);
  const auto sha_text = to_hex(chance);
  const auto created_text = iso_seconds(f.created_ms);
  const auto published =
    quoted_or_null(f.window_ms.has_value(), iso_seconds(f.window_ms.value_or(0)));
  const auto title_text = "v1." + number_text + ": " + title_of(chance, f.version);
  const auto user_text = std::to_string(10'000 + chance % logins.size());
  values v{};
  v[odd] = oddity(f);
  v[id] = id_text;
  v[n] = number_text;
  v[repo] = name_;
  v[sha] = sha_text;
  v[title] = title_text;
  v[body] = body_of(chance);
  v[created] = created_text;
  v[done] = published;
  v[draft] = f.window_ms ? "false" : "true";
  v[flag] = chance % 4 == 0 ? "true" : "false";
  v[login] = logins[chance % logins.size()];
  v[writing::uid] = user_text;
  shape_of(entity::release).fill(out, v);
}

void item_writer::append_deployment(std::string& out, const item_facts& f) const {
  using namespace writing;
  const auto chance = dice(f);
  const auto number_text = std::to_string(f.number);
  const auto id_text = uid(f.number);
  const auto sha_text = to_hex(chance) + to_hex(chance * 31) + "0badcafe";
  const auto created_text = std::to_string(f.created_ms);
  const auto ready_text = std::to_string(f.created_ms + 45'000);
  const auto title_text = title_of(chance, f.version);
  const auto owner_text = "acme-" + std::to_string(list_.of.owner.number);
  values v{};
  v[odd] = oddity(f);
  v[id] = id_text;
  v[n] = number_text;
  v[number] = "@";
  v[repo] = name_;
  v[owner] = owner_text;
  v[rid] = provider_id_;
  v[title] = title_text;
  v[body] = body_of(chance);
  v[state] = chance % 9 == 0 ? "ERROR" : "READY";
  v[created] = created_text;
  v[updated] = ready_text;
  v[sha] = sha_text;
  v[login] = logins[chance % logins.size()];
  v[writing::uid] = v[login];
  v[flag] = chance % 3 == 0 ? R"("production")" : "null";
  shape_of(entity::deployment).fill(out, v);
}

} // namespace sluice::sandbox
