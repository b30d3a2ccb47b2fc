#include "base/hash.hpp"
#include "storage/codec.hpp"
#include "storage/frame.hpp"
#include "storage/keys.hpp"
#include "storage/seq_chunks.hpp"
#include "tests/storage/stores.hpp"

#include <functional>
#include <limits>
#include <random>

using namespace sluice;
using namespace sluice::testing;

namespace {

const keys::log_position here{77, 12};

std::string encode(const auto& x) {
  std::string value(codec::bytes_of(x), '?');
  codec::write(value.data(), here, x);
  return value;
}

std::string encode(const event& x) {
  const auto head = codec::event_head(x);
  std::string value(codec::bytes_of(x, head), '?');
  codec::write(value.data(), here, x, head);
  return value;
}

std::string_view frame_of(const std::string& value) {
  auto opened = codec::open(value, codec::seed_of(here));
  REQUIRE(opened.engaged());
  return opened->frame;
}

step_record rich_step() {
  step_record s;
  s.run = make_run(3);
  s.ordinal = failure_ordinal + 7;
  s.attempt = std::numeric_limits<std::uint32_t>::max();
  s.kind = step_kind::invoke;
  s.status = step_status::waiting;
  s.at = from_millis(-5);
  s.until = from_millis(std::numeric_limits<std::int64_t>::max());
  s.gated = std::numeric_limits<std::uint64_t>::max();
  s.name = std::string(300, 'n');
  s.payload = std::string("{\"a\":\0}", 7);
  return s;
}

event rich_event() {
  auto e = event_of("order.approved", "größe \"x\"", make_run(3), "key");
  e.traceparent = "00-aa-bb-01";
  e.data = R"({"deep":[1,2,{"x":null}]})";
  return e;
}

/// Every value with the seed under which it opens, one of each kind.
std::vector<std::pair<std::string, std::uint64_t>> one_of_each() {
  const auto run = make_run(3);
  const auto steps_key = keys::chunk(run, keys::seq_list::steps, 1);
  const auto others_key = keys::chunk(run, keys::seq_list::others, 0);
  const std::vector steps{step_place::at(1, 900), step_place::at(2, 5)};
  const std::vector others{other_place::at(record_role::event, 12),
                           other_place::at(record_role::marks, 1ULL << 40)};
  const auto at = codec::seed_of(here);
  return {{encode(codec::batch_record{{run.value}, 3, from_millis(99), 12}), at},
          {encode(rich_step()), at},
          {encode(rich_event()), at},
          {encode(put_marks{run, "issue", 7, "\x01\x02"}), at},
          {codec::write_run(row_of(run), 12), codec::seed_of(keys::run(run))},
          {codec::write_steps(steps_key, steps), codec::seed_of(steps_key)},
          {codec::write_others(others_key, others), codec::seed_of(others_key)}};
}

/// Reads a frame as everything it could be: none of it may crash.
void read_as_anything(std::string_view frame) {
  const auto run = make_run(1);
  (void)codec::read_batch(frame).engaged();
  (void)codec::read_step(frame, run).engaged();
  (void)codec::peek_step(frame).engaged();
  (void)codec::read_marks(frame, run).engaged();
  (void)codec::read_event(frame, 1).engaged();
  (void)codec::peek_topic(frame).engaged();
  (void)codec::peek_run(frame).engaged();
  (void)codec::read_run(frame).engaged();
}

} // namespace

TEST_CASE("codec: what is written is read") {
  const auto run = make_run(3);
  const codec::batch_record b{{run.value}, 3, from_millis(99), 12};
  CHECK(*codec::read_batch(frame_of(encode(b))) == b);
  CHECK(*codec::read_step(frame_of(encode(rich_step())), run) == rich_step());
  CHECK(*codec::read_step(frame_of(encode(step_record{})), {}) == step_record{});
  const put_marks m{run, "issue", 7, std::string("\0\x01", 2)};
  CHECK(*codec::read_marks(frame_of(encode(m)), run) == m);
  auto e = rich_event();
  e.seq = 77;
  CHECK(*codec::read_event(frame_of(encode(e)), 77) == e);
  const auto head = codec::peek_step(frame_of(encode(rich_step())));
  CHECK(head->ordinal == failure_ordinal + 7);
  CHECK(head->kind == step_kind::invoke);
  CHECK(head->status == step_status::waiting);
  CHECK(*codec::peek_topic(frame_of(encode(e))) == codec::topic_of(e.kind, e.subject));
}

TEST_CASE("codec: a step looks as docs/journal-format.md shows it") {
  step_record s;
  s.at = from_millis(1'720'000'000'250);
  s.name = "fetch-p1";
  s.payload = "42";
  std::string value(codec::bytes_of(s), '?');
  codec::write(value.data(), {3, 2}, s);
  const std::string shown{"\x01\x02\x70\x05\xe1\x73\xd4\xe7\xeb\x0e\x00\x02\x00\x00"
                          "\xf4\xc3\xe9\xff\x8e\x64\x00\x00\x08"
                          "fetch-p1"
                          "42",
                          33};
  CHECK(value == shown);
}

TEST_CASE("codec: a run's row keeps every field") {
  auto row = row_of(make_run(3), run_status::failed);
  row.code_version = 9;
  row.reason = "why";
  row.why = ending::time_out;
  row.error = failure{"timed_out", "no answer", "fetch-p1", false};
  row.crashes = 2;
  row.crash_seq = 1ULL << 50;
  row.parent = make_run(1);
  row.keys = {"a", "b"};
  row.correlation = "c";
  row.traceparent = "00-aa-bb-01";
  row.dedupe_key = "d";
  row.started_at = from_millis(5);
  const auto value = codec::write_run(row, 12);
  auto opened = codec::open(value, codec::seed_of(keys::run(row.id)));
  REQUIRE(opened.engaged());
  CHECK(*codec::read_run(opened->frame) == row);
  auto head = codec::peek_run(opened->frame);
  CHECK(head->number == 12);
  CHECK(head->status == run_status::failed);
  CHECK(head->ended_at == row.ended_at);
  CHECK(head->tenant == codec::word_hash("acme"));
}

TEST_CASE("codec: any changed byte of any value is found (F23)") {
  for (auto& [value, seed] : one_of_each()) {
    REQUIRE(codec::open(value, seed).engaged());
    for (std::size_t i = 0; i < value.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        auto bad = value;
        bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
        auto opened = codec::open(bad, seed);
        REQUIRE_FALSE(opened.engaged());
        REQUIRE(code_of(opened.error()) == errc::corrupt);
      }
    }
    CHECK_FALSE(codec::open(value, seed + 1).engaged());
    for (std::size_t n = 0; n < value.size(); ++n) {
      REQUIRE_FALSE(codec::open(std::string_view{value}.substr(0, n), seed).engaged());
    }
  }
  const auto row = codec::write_row(table::limit, "k", "value");
  CHECK(*codec::read_row(table::limit, "k", row) == "value");
  CHECK_FALSE(codec::read_row(table::limit, "l", row).engaged());
  CHECK_FALSE(codec::read_row(table::circuit, "k", row).engaged());
}

TEST_CASE("codec: a newer version is refused as such, not as damage (F31)") {
  auto value = encode(rich_step());
  value[0] = static_cast<char>(codec::version + 1);
  // As a newer build would seal it: same checksum rule, other version byte.
  const auto sealed = [&] {
    auto copy = value;
    const auto frame = std::string_view{copy}.substr(codec::header_bytes);
    frame::writer{copy.data() + 2}.u64(
      hash64(frame, mix64(codec::seed_of(here), ((codec::version + 1ULL) << 8) | 2)));
    return copy;
  }();
  CHECK(code_of(codec::open(sealed, codec::seed_of(here)).error()) == errc::newer_format);
  CHECK(code_of(codec::open(value, codec::seed_of(here)).error()) == errc::corrupt);
}

TEST_CASE("codec: garbage with a good checksum is refused, never trusted") {
  const auto seed = Catch::rngSeed() != 0 ? Catch::rngSeed() : 20261118U;
  INFO("seed " << seed);
  std::mt19937_64 random{seed};
  for (int round = 0; round < 20'000; ++round) {
    std::string frame(random() % 60, '\0');
    for (auto& c : frame)
      c = static_cast<char>(random() % 4 == 0 ? 0xFF : random());
    read_as_anything(frame);
    const auto key = keys::chunk(make_run(1), keys::seq_list::steps, 0);
    std::string value(codec::header_bytes, '\0');
    value += frame;
    codec::seal(value.data(), value.size(), codec::value_kind::seqs, codec::seed_of(key));
    (void)codec::read_steps(key, value).engaged();
    (void)codec::read_others(key, value).engaged();
  }
  for (auto& [value, ignored] : one_of_each()) {
    for (int round = 0; round < 2'000; ++round) {
      auto frame = value.substr(codec::header_bytes);
      frame.resize(random() % (frame.size() + 1));
      if (!frame.empty()) frame[random() % frame.size()] = static_cast<char>(random());
      read_as_anything(frame);
    }
  }
}

TEST_CASE("codec: lists of positions keep order and extremes") {
  const auto run = make_run(1);
  const auto steps_key = keys::chunk(run, keys::seq_list::steps, 0);
  const std::vector steps{step_place::at(0, 1ULL << 60), step_place::at(1, 1),
                          step_place::at(no_ordinal - 1, 1ULL << 50)};
  CHECK(*codec::read_steps(steps_key, codec::write_steps(steps_key, steps)) == steps);
  const auto others_key = keys::chunk(run, keys::seq_list::others, 0);
  const std::vector others{other_place::at(record_role::event, 1),
                           other_place::at(record_role::superseded, 2),
                           other_place::at(record_role::unreadable, 1ULL << 60)};
  CHECK(*codec::read_others(others_key, codec::write_others(others_key, others)) == others);
}

TEST_CASE("keys: they sort as what they mean") {
  CHECK(std::string_view{keys::number(255)} < std::string_view{keys::number(256)});
  CHECK(std::string_view{keys::instant(from_millis(-1))}
        < std::string_view{keys::instant(from_millis(0))});
  CHECK(std::string_view{keys::position({1, 9})} < std::string_view{keys::position({2, 0})});
  CHECK(keys::position_from(keys::position({1ULL << 60, 5})) == keys::log_position{1ULL << 60, 5});
  CHECK(keys::instant_from(keys::instant(from_millis(-77))) == from_millis(-77));
  CHECK(keys::run_from(keys::run(make_run(4))) == make_run(4));
  CHECK_FALSE(keys::number_from("short"));
  const auto chunk = keys::chunk_from(keys::chunk(make_run(4), keys::seq_list::steps, 513));
  CHECK(chunk->run == make_run(4));
  CHECK(chunk->first == 513);
  CHECK(keys::idempotency("abc") == "tabc");
  CHECK(keys::idempotency(std::string(600, 'a')).size() == 65);
}
