#include "storage/inspect.hpp"
#include "tests/storage/stores.hpp"

#include <random>
#include <set>

using namespace sluice;
using namespace sluice::testing;

namespace {

/// Makes operations for runs in every state, some of them against the rules.
class op_source {
public:
  explicit op_source(std::uint32_t seed) : random_{seed} {}

  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(int percent) { return below(100) < static_cast<std::size_t>(percent); }

  std::vector<op> some() {
    std::vector<op> ops;
    for (auto n = 1 + below(6); n > 0; --n)
      ops = std::move(ops) + one();
    return ops;
  }

  /// What was committed decides which runs are written to.
  void learn(const batch& b) {
    for (const auto& o : b.ops) {
      const auto* put = std::get_if<put_run>(&o);
      if (put == nullptr) continue;
      std::erase(live_, put->row->id);
      (is_terminal(put->row->status) ? ended_ : live_).push_back(put->row->id);
    }
  }

  std::vector<run_id> runs;

private:
  run_id pick(const std::vector<run_id>& from) {
    const auto& some = from.empty() || chance(1) ? runs : from;
    return some.empty() ? make_run(999'999) : some[below(some.size())];
  }

  std::string text(const char* prefix, std::size_t n) { return prefix + std::to_string(below(n)); }
  std::string key() { return chance(3) ? text("key-", 40) : "key-" + std::to_string(next_key_++); }

  std::vector<op> one() {
    switch (below(16)) {
    case 0:
    case 1: {
      if (!chance(1) || runs.empty()) runs.push_back(make_run(next_run_++ * 7 % 1009));
      auto ops = begin_run(runs.back(), text("", 100), chance(30) ? key() : "");
      if (chance(20)) std::swap(ops[0], ops[1]);
      return ops;
    }
    case 2: {
      auto row = row_of(pick(live_), static_cast<run_status>(below(8)));
      if (!is_terminal(row.status) || chance(50)) row.tenant = text("tenant-", 2);
      row.workflow = text("flow-", 2);
      return {put_run{row}};
    }
    case 3:
      return {set_wake{pick(live_), chance(20) ? never : from_millis(100 + below_i(50))}};
    case 4:
      return {put_marks{pick(live_), text("unit-", 2), below_u(3), text("bits-", 50)}};
    case 5:
    case 6:
      return {put_event{event_of(text("kind-", 2), text("subject-", 2),
                                 chance(50) ? pick(live_) : run_id{}, chance(20) ? key() : "")}};
    case 7:
      return {put_row{static_cast<table>(below(table_count - 1)), text("row-", 20), text("", 9)}};
    case 8:
      return {del_row{static_cast<table>(below(table_count - 1)), text("row-", 20)}};
    case 9:
      return {trim_run{pick(ended_), below_u(12)}};
    case 10:
      return {trim_log{below(400), below_u(12)}};
    case 11: {
      auto s = step_of(pick(live_), no_ordinal, text("", 5));
      s.kind = step_kind::version;
      return {put_step{s}};
    }
    default: {
      auto s =
        step_of(pick(live_), below_u(15), text("", 1000), static_cast<step_status>(below(4)));
      s.attempt = below_u(3);
      return {put_step{s}};
    }
    }
  }

  std::uint32_t below_u(std::uint32_t n) { return static_cast<std::uint32_t>(below(n)); }
  std::int64_t below_i(std::size_t n) { return static_cast<std::int64_t>(below(n)); }

  std::mt19937 random_;
  std::vector<run_id> live_;
  std::vector<run_id> ended_;
  std::uint64_t next_run_ = 1;
  std::uint64_t next_key_ = 1;
};

template <class T>
const T& good(const result<T>& r) {
  REQUIRE(r.engaged());
  return *r;
}

void compare_runs(store& a, store& b, std::size_t limit) {
  std::optional<run_id> after;
  do {
    auto x = a.load_runs(0, after, limit);
    auto y = b.load_runs(0, after, limit);
    REQUIRE(good(x).runs.size() == good(y).runs.size());
    for (std::size_t i = 0; i < x->runs.size(); ++i) {
      const auto& p = x->runs[i];
      const auto& q = y->runs[i];
      REQUIRE(p.row == q.row);
      REQUIRE(p.wake_at == q.wake_at);
      REQUIRE(p.first_seq == q.first_seq);
      REQUIRE(p.last_result_seq == q.last_result_seq);
      REQUIRE(p.records == q.records);
      REQUIRE(p.bytes == q.bytes);
      REQUIRE(p.corrupt == q.corrupt);
    }
    REQUIRE(x->next == y->next);
    after = x->next;
  } while (after);
}

void compare_steps(store& a, store& b, const std::vector<run_id>& runs, std::size_t limit) {
  std::optional<step_position> at = step_position{};
  while (at) {
    auto x = a.load_steps(0, runs, *at, limit);
    auto y = b.load_steps(0, runs, *at, limit);
    REQUIRE(good(x).runs.size() == good(y).runs.size());
    for (std::size_t i = 0; i < x->runs.size(); ++i) {
      REQUIRE(x->runs[i].run == y->runs[i].run);
      REQUIRE(x->runs[i].input == y->runs[i].input);
      REQUIRE(x->runs[i].versions == y->runs[i].versions);
      REQUIRE(x->runs[i].steps == y->runs[i].steps);
      REQUIRE(x->runs[i].corrupt == y->runs[i].corrupt);
    }
    REQUIRE(x->next.has_value() == y->next.has_value());
    if (x->next) {
      REQUIRE(x->next->index == y->next->index);
      REQUIRE(x->next->ordinal == y->next->ordinal);
    }
    at = x->next;
  }
}

std::vector<run_row> all_rows(store& s, std::string_view tenant, const run_filter& f) {
  std::vector<run_row> rows;
  std::optional<run_id> before;
  do {
    auto page = s.query(tenant, f, before, 3);
    for (const auto& row : good(page).runs)
      rows.push_back(row);
    before = page->next;
  } while (before);
  return rows;
}

void compare_events(store& a, store& b, op_source& from) {
  const auto after = from.below(100);
  REQUIRE(good(a.read_events(0, after, 20)) == good(b.read_events(0, after, 20)));
  for (auto kind : {"kind-0", "kind-1", event_kind::run_ended, event_kind::run_requested}) {
    for (auto subject : {"subject-0", "subject-1"}) {
      auto x = a.find_events(0, kind, subject, after, 7);
      REQUIRE(good(x) == good(b.find_events(0, kind, subject, after, 7)));
    }
  }
  for (int i = 0; i < 40; ++i) {
    const auto key = "key-" + std::to_string(i);
    REQUIRE(good(a.find_event(0, key)) == good(b.find_event(0, key)));
  }
}

void compare_all(store& a, store& b, op_source& from) {
  compare_runs(a, b, 1 + from.below(5));
  compare_steps(a, b, from.runs, 1 + from.below(30));
  compare_events(a, b, from);
  for (const auto& run : from.runs) {
    REQUIRE(good(a.load_marks(0, run)) == good(b.load_marks(0, run)));
    REQUIRE(good(a.run_ends(0, run)) == good(b.run_ends(0, run)));
    REQUIRE(good(a.find_run(0, run)) == good(b.find_run(0, run)));
  }
  const auto until = from_millis(100 + static_cast<std::int64_t>(from.below(60)));
  auto x = a.due(0, until, 10);
  auto y = b.due(0, until, 10);
  REQUIRE(good(x).size() == good(y).size());
  for (std::size_t i = 0; i < x->size(); ++i) {
    REQUIRE((*x)[i].run == (*y)[i].run);
    REQUIRE((*x)[i].wake_at == (*y)[i].wake_at);
  }
  run_filter f;
  if (from.chance(50)) f.status = static_cast<run_status>(from.below(8));
  if (from.chance(30)) f.workflow = "flow-0";
  REQUIRE(all_rows(a, "", f) == all_rows(b, "", f));
  REQUIRE(all_rows(a, "tenant-1", f) == all_rows(b, "tenant-1", f));
  for (std::size_t i = 0; i < table_count; ++i) {
    auto p = a.load(static_cast<table>(i), 0, "row-1", "row-11", 5);
    auto q = b.load(static_cast<table>(i), 0, "row-1", "row-11", 5);
    REQUIRE(good(p).size() == good(q).size());
    for (std::size_t k = 0; k < p->size(); ++k) {
      REQUIRE((*p)[k].key == (*q)[k].key);
      REQUIRE((*p)[k].value == (*q)[k].value);
    }
  }
  const auto s = a.stats();
  const auto t = b.stats();
  REQUIRE(s.head == t.head);
  REQUIRE(s.trimmed == t.trimmed);
  REQUIRE(s.log_records == t.log_records);
  REQUIRE(s.runs == t.runs);
  REQUIRE(s.live_runs == t.live_runs);
  REQUIRE(s.epoch == t.epoch);
}

/// Gives both the same batches; each must judge them alike. Says how many were committed.
std::size_t submit_both(hand<lmdb_under_test>& a, hand<memory_under_test>& b, op_source& from) {
  std::size_t committed = 0;
  std::vector<batch> batches;
  auto head = a.grant.head;
  for (auto n = from.chance(70) ? 1 : 1 + from.below(4); n > 0; --n) {
    auto one = a.next(from.some());
    one.expected_head = head;
    if (from.chance(3)) one.epoch += 1;
    if (from.chance(3)) one.expected_head += 1;
    // What a refused batch would have taken is not known here: then the rest conflicts.
    head +=
      1 + static_cast<std::uint64_t>(std::count_if(one.ops.begin(), one.ops.end(), is_logged));
    batches.push_back(std::move(one));
  }
  a->submit(batches);
  b->submit(batches);
  const auto x = a->finished(duration{0});
  const auto y = b->finished(duration{0});
  REQUIRE(x.size() == batches.size());
  REQUIRE(y.size() == batches.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    INFO(x[i].detail << " / " << y[i].detail);
    REQUIRE(x[i].id == y[i].id);
    REQUIRE(to_string(x[i].status) == to_string(y[i].status));
    REQUIRE(x[i].head == y[i].head);
    REQUIRE(x[i].detail == y[i].detail);
    const auto& put = batches[i];
    if (x[i].status == commit_status::committed) {
      a.grant.head = b.grant.head = x[i].head;
      from.learn(put);
      ++committed;
    }
    REQUIRE(a->probe(0, put.epoch, put.id, put.expected_head)
            == b->probe(0, put.epoch, put.id, put.expected_head));
  }
  return committed;
}

} // namespace

TEST_CASE("stores: the embedded store answers as the model does (J13, I1, I5, I6, I22)") {
  for (std::uint32_t seed = 1; seed <= 25; ++seed) {
    INFO("seed " << seed);
    op_source from{seed};
    hand<lmdb_under_test> a;
    hand<memory_under_test> b;
    std::size_t committed = 0;
    for (int round = 0; round < 150; ++round) {
      INFO("round " << round);
      committed += submit_both(a, b, from);
      if (from.chance(12)) compare_all(*a, *b, from);
      if (from.chance(4)) {
        a.close();
        auto report = verify_journal(a.fixture.options.path);
        REQUIRE(report.engaged());
        INFO((report->details.empty() ? "" : report->details[0]));
        REQUIRE(report->good());
        a.open();
        b.reopen();
        compare_all(*a, *b, from);
      }
    }
    compare_all(*a, *b, from);
    // A generator whose batches are all refused would compare nothing.
    CHECK(committed > 75);
  }
}
