#include "storage/codec.hpp"
#include "storage/inspect.hpp"
#include "storage/keys.hpp"
#include "storage/lmdb.hpp"
#include "storage/lmdb_tables.hpp"
#include "tests/storage/stores.hpp"

#include <functional>

using namespace sluice;
using namespace sluice::testing;

namespace {

/// Changes the file behind the store's back; the store must be closed.
void meddle(const std::string& folder,
            const std::function<void(lmdb::txn&, const lmdb_tables&)>& change) {
  auto env = lmdb::env::open({folder, std::size_t{1} << 30, lmdb_table_count, lmdb::access::write});
  REQUIRE(env.engaged());
  lmdb::txn t{*env, lmdb::txn::mode::write};
  auto db = lmdb_tables::open(t);
  REQUIRE(db.engaged());
  change(t, *db);
  REQUIRE_FALSE(t.commit());
}

void flip(lmdb::txn& t, lmdb::dbi db, std::string_view key, std::size_t from_end = 1) {
  auto value = t.get(db, key);
  REQUIRE(value.has_value());
  std::string bad{*value};
  bad[bad.size() - from_end] = static_cast<char>(bad[bad.size() - from_end] ^ 0x10);
  t.put(db, key, bad);
}

verify_report verified(const std::string& folder) {
  auto report = verify_journal(folder);
  REQUIRE(report.engaged());
  return *report;
}

/// Two runs with three steps each; the first record of `hurt` lies at 2, its steps at 5, 6, 7.
struct two_runs {
  run_id hurt = make_run(1);
  run_id well = make_run(2);
  hand<lmdb_under_test> s;

  two_runs() {
    s.must(begin_run(hurt, R"("input")"));
    s.must(begin_run(well));
    s.must({put_step{step_of(hurt, 0)}, put_step{step_of(hurt, 1)}, put_step{step_of(hurt, 2)},
            put_step{step_of(well, 0)}});
    s.must({put_row{table::limit, "bucket", "1"}, set_wake{well, from_millis(5)}});
  }
  [[nodiscard]] const std::string& folder() const { return s.fixture.options.path; }
  void damage(const std::function<void(lmdb::txn&, const lmdb_tables&)>& change) {
    s.close();
    meddle(folder(), change);
  }
};

} // namespace

TEST_CASE("damage: a bad step marks its run and no other (F23, F10)") {
  two_runs w;
  w.damage([](auto& t, auto& db) { flip(t, db.log, keys::position({7, 2})); });
  const auto report = verified(w.folder());
  CHECK(report.problems == 1);
  CHECK(report.corrupt_runs == std::vector{w.hurt});
  w.s.open();
  auto page = w.s->load_runs(0, std::nullopt, 10);
  REQUIRE(page->runs.size() == 2);
  CHECK(page->runs[0].corrupt);
  CHECK(page->runs[0].row.id == w.hurt);
  CHECK_FALSE(page->runs[1].corrupt);
  CHECK(w.s->stats().corrupt_records == 1);
  auto memos = w.s.memos({w.hurt, w.well});
  CHECK(memos[0].corrupt);
  CHECK(memos[0].detail.find("record 7") != std::string::npos);
  CHECK(memos[0].steps.size() == 2);
  CHECK_FALSE(memos[1].corrupt);
  CHECK(memos[1].steps.size() == 1);
  // It can be parked and ended all the same, and then it is still known to be damaged.
  w.s.must({put_run{row_of(w.hurt, run_status::parked)}});
  w.s.must(end_run(w.hurt));
  CHECK(w.s.memo(w.hurt).corrupt);
  const auto records = w.s->stats().log_records;
  w.s.must({trim_run{w.hurt, 1000}});
  CHECK(w.s->stats().log_records == records + 1 - 5);
  w.s.close();
  CHECK(verified(w.folder()).good());
}

TEST_CASE("damage: a bad record of an ended run is met when it is read (F23)") {
  two_runs w;
  w.s.must(end_run(w.hurt) + end_run(w.well));
  w.damage([](auto& t, auto& db) { flip(t, db.log, keys::position({6, 2})); });
  w.s.open();
  CHECK(w.s->stats().corrupt_records == 0);
  auto memo = w.s.memo(w.hurt);
  CHECK(memo.corrupt);
  CHECK(memo.steps.size() == 2);
  CHECK(w.s->stats().corrupt_records == 1);
}

TEST_CASE("damage: a bad row is named by its key (F23)") {
  two_runs w;
  w.damage([&](auto& t, auto& db) { flip(t, db.runs, keys::run(w.hurt), 20); });
  CHECK(verified(w.folder()).corrupt_runs == std::vector{w.hurt});
  w.s.open();
  auto page = w.s->load_runs(0, std::nullopt, 10);
  REQUIRE(page->runs.size() == 2);
  CHECK(page->runs[0].corrupt);
  CHECK(page->runs[0].row.id == w.hurt);
  CHECK(code_of(w.s->find_run(0, w.hurt).error()) == errc::corrupt);
  CHECK(w.s->query("", {}, std::nullopt, 10)->runs.size() == 1);
  w.s.must({put_run{row_of(w.hurt, run_status::parked)}});
  CHECK_FALSE(w.s->load_runs(0, std::nullopt, 10)->runs[0].corrupt);
}

TEST_CASE("damage: a bad batch record stops nothing (F23)") {
  two_runs w;
  const auto head = w.s.grant.head;
  w.damage([&](auto& t, auto& db) {
    flip(t, db.log, keys::position({1, 0}));
    flip(t, db.log, keys::position({head, 0}));
  });
  CHECK(verified(w.folder()).problems == 2);
  w.s.open();
  CHECK(w.s.grant.head == head);
  CHECK_FALSE(w.s->load_runs(0, std::nullopt, 10)->runs[0].corrupt);
  w.s.must({put_step{step_of(w.well, 1)}});
  CHECK(w.s->probe(0, w.s.grant.epoch, {}, 0) == probe_answer::absent);
}

TEST_CASE("damage: a bad row of a small table is left out") {
  two_runs w;
  w.s.must({put_row{table::limit, "other", "2"}});
  w.damage([](auto& t, auto& db) { flip(t, db.row(table::limit), "bucket"); });
  CHECK(verified(w.folder()).problems == 1);
  w.s.open();
  auto rows = w.s->load(table::limit, 0, "", "", 10);
  REQUIRE(rows->size() == 1);
  CHECK(rows->at(0).key == "other");
}

TEST_CASE("verify: what is missing or does not agree is found (I5, I27)") {
  using change = std::function<void(lmdb::txn&, const lmdb_tables&)>;
  const auto run = make_run(1);
  const auto well = make_run(2);
  const std::vector<std::pair<std::string, change>> cases{
    {"are there and", [](auto& t, auto& db) { t.del(db.log, keys::position({6, 2})); }},
    {"one was expected at", [](auto& t, auto& db) { t.del(db.log, keys::position({3, 0})); }},
    {"live without a row", [&](auto& t, auto& db) { t.del(db.runs, keys::run(run)); }},
    {"not every run that has not ended",
     [&](auto& t, auto& db) { t.del(db.live, keys::run(run)); }},
    {"its first record is missing",
     [](auto& t, auto& db) { t.del(db.log, keys::position({2, 2})); }},
    {"belongs to no live run", [](auto& t, auto& db) { t.put(db.wakes, keys::number(9), "x"); }},
    {"not every wake-up", [](auto& t, auto& db) { t.del(db.due, keys::instant(from_millis(5))); }},
    {"due: an entry", [](auto& t, auto& db) { t.put(db.due, "12345678", keys::number(4)); }},
    {"not every key", [](auto& t, auto& db) { t.put(db.event_keys, "tx", "y"); }},
    {"has lists but is no ended run",
     [&](auto& t, auto& db) {
       const auto key = keys::chunk(well, keys::seq_list::others, 0);
       std::string value(codec::header_bytes, '\0');
       codec::seal(value.data(), value.size(), codec::value_kind::seqs, codec::seed_of(key));
       t.put(db.ended, key, value);
     }},
  };
  for (const auto& [expected, change] : cases) {
    two_runs w;
    w.s.close();
    REQUIRE(verified(w.folder()).good());
    meddle(w.folder(), change);
    const auto report = verified(w.folder());
    INFO(expected);
    CHECK_FALSE(report.good());
    bool found = false;
    for (const auto& d : report.details)
      found = found || d.find(expected) != std::string::npos;
    CHECK(found);
  }
}

TEST_CASE("verify: the lists of an ended run must name its records (I5)") {
  two_runs w;
  w.s.must(end_run(w.hurt));
  w.s.close();
  CHECK(verified(w.folder()).good());
  meddle(w.folder(), [&](auto& t, auto& db) {
    t.del(db.ended, keys::chunk(w.hurt, keys::seq_list::steps, 0));
  });
  const auto report = verified(w.folder());
  REQUIRE(report.problems == 1);
  CHECK(report.details[0].find("its lists and its records differ") != std::string::npos);
}

TEST_CASE("dump: every record is a line of JSON, those of one run on demand") {
  two_runs w;
  w.s.must({put_marks{w.hurt, "issue", 1, "\x05"}});
  w.s.close();
  std::vector<std::string> lines;
  auto take = [&](std::string_view line) {
    CHECK(json::document::parse(line).engaged());
    lines.emplace_back(line);
    return true;
  };
  CHECK_FALSE(dump_journal(w.folder(), std::nullopt, take));
  // Two rows of runs, twelve records, one table row.
  CHECK(lines.size() == 15);
  lines.clear();
  CHECK_FALSE(dump_journal(w.folder(), w.hurt, take));
  REQUIRE(lines.size() == 6);
  CHECK(lines[0].find(R"("status":"running")") != std::string::npos);
  CHECK(lines[1].find(R"("event":"run.requested")") != std::string::npos);
  CHECK(lines[1].find(R"("data":"input")") != std::string::npos);
  CHECK(lines[2].find(R"("name":"step-0")") != std::string::npos);
  CHECK(lines[5].find(R"("bitmap":"05")") != std::string::npos);
  lines.clear();
  CHECK_FALSE(dump_journal(w.folder(), std::nullopt, [&](std::string_view line) {
    lines.emplace_back(line);
    return lines.size() < 3;
  }));
  CHECK(lines.size() == 3);
  CHECK(code_of(dump_journal(w.folder(), make_run(9), take)) == errc::not_found);
  CHECK(journal_stats(w.folder())->live_runs == 2);
}
