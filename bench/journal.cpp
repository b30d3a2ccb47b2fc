#include "bench/journal.hpp"

#include "base/uuid.hpp"
#include "bench/measure.hpp"
#include "storage/lmdb_store.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace sluice::bench {

namespace {

/// Half of a bare log with one producer, two fifths with a thousand (J11).
double bar_for(std::size_t producers) noexcept {
  if (producers <= 1) return 0.5;
  return producers >= 1000 ? 0.4 : 0;
}

/// The store as the journal actor drives it: one batch at a time, one record of each producer in
/// it.
class journal_loop {
public:
  journal_loop(store& s, shard_grant grant, std::size_t producers, std::size_t record_bytes)
    : store_{s}, grant_{grant}, runs_(producers), payload_(record_bytes, 'x') {
    batch_.epoch = grant.epoch;
    for (auto& run : runs_) {
      run = run_id{ids_.next(from_millis(1))};
      event requested;
      requested.run = run;
      requested.kind = event_kind::run_requested;
      run_row row;
      row.id = run;
      batch_.ops.push_back(put_event{std::move(requested)});
      batch_.ops.push_back(put_run{std::move(row)});
    }
  }

  error begin() {
    if (auto e = commit()) return e;
    batch_.ops.clear();
    for (const auto& run : runs_) {
      step_record step;
      step.run = run;
      step.at = from_millis(1'700'000'000'000);
      step.name = "fetch-p1";
      step.payload = payload_;
      batch_.ops.push_back(put_step{std::move(step)});
    }
    return {};
  }

  /// One commit with the next step of each run.
  error commit() {
    batch_.expected_head = grant_.head;
    batch_.id = batch_id{ids_.next(from_millis(1))};
    submitted_[0] = std::move(batch_);
    store_.submit(submitted_);
    batch_ = std::move(submitted_[0]);
    const auto done = store_.finished(duration{0});
    if (done.size() != 1 || done[0].status != commit_status::committed) {
      return make_error(errc::storage_failed, done.empty() ? "no answer" : done[0].detail);
    }
    grant_.head = done[0].head;
    return {};
  }

  void next_steps() {
    for (auto& o : batch_.ops)
      ++std::get<put_step>(o).step.ordinal;
  }

  [[nodiscard]] const shard_grant& grant() const noexcept { return grant_; }

private:
  store& store_;
  shard_grant grant_;
  uuid_source ids_;
  std::vector<run_id> runs_;
  std::string payload_;
  batch batch_;
  std::vector<batch> submitted_{1};
};

/// Rounds per second of `once` over about `seconds`; nothing when it failed.
template <class Once>
std::optional<double> rate(double seconds, Once once) {
  stopwatch watch;
  std::size_t rounds = 0;
  double spent = 0;
  while (rounds == 0 || spent < seconds) {
    if (!once()) return std::nullopt;
    ++rounds;
    spent = watch.seconds();
  }
  return static_cast<double>(rounds) / spent;
}

result<journal_case> measure_case(store& s, shard_grant& grant, bare_log& bare,
                                  const journal_options& o, std::size_t producers) {
  journal_loop loop{s, grant, producers, o.record_bytes};
  if (auto e = loop.begin()) return e;
  const std::string bytes(producers * o.record_bytes, 'x');
  const auto turn =
    o.per_case.count() / static_cast<double>(2 * std::max<std::size_t>(o.rounds, 1));
  std::vector<double> journal_rates;
  std::vector<double> bare_rates;
  error failed;
  for (std::size_t i = 0; i < std::max<std::size_t>(o.rounds, 1); ++i) {
    auto journal = rate(turn, [&] {
      loop.next_steps();
      failed = loop.commit();
      return !failed;
    });
    if (!journal) return failed;
    auto floor = rate(turn, [&] { return bare.append(bytes); });
    if (!floor) return make_error(errc::storage_failed, "the bare log cannot be written");
    journal_rates.push_back(*journal);
    bare_rates.push_back(*floor);
  }
  grant = loop.grant();
  const auto n = static_cast<double>(producers);
  journal_case c;
  c.producers = producers;
  c.commit_us = 1e6 / median(journal_rates);
  c.journal_per_s = n * median(std::move(journal_rates));
  c.bare_per_s = n * median(std::move(bare_rates));
  c.ratio = c.journal_per_s / c.bare_per_s;
  c.bar = bar_for(producers);
  return c;
}

} // namespace

bool journal_result::good() const noexcept {
  return std::all_of(cases.begin(), cases.end(), [](auto& c) { return c.good(); });
}

result<journal_result> run_journal_bench(const journal_options& o,
                                         const std::function<void(const journal_case&)>& progress) {
  bench_folder folder{o.data_dir};
  if (folder.path().empty()) {
    return make_error(errc::storage_failed, "no folder can be made for the measurement");
  }
  journal_result r;
  r.sync_us = sync_us(folder.path());
  bare_log bare{folder.path() + "/bare.log"};
  lmdb_options options;
  options.path = folder.path() + "/journal";
  lmdb_store s{options};
  auto grant = s.open();
  if (!grant) return grant.error();
  for (auto producers : o.producers) {
    auto c = measure_case(s, *grant, bare, o, producers);
    if (!c) return c.error();
    if (progress) progress(*c);
    r.cases.push_back(*c);
  }
  return r;
}

report report_of(const journal_result& r) {
  std::vector<figure> figures{{"sync_us", r.sync_us}};
  for (const auto& c : r.cases) {
    const auto n = "_" + std::to_string(c.producers);
    figures.push_back({"journal_per_s" + n, c.journal_per_s});
    figures.push_back({"floor_per_s" + n, c.bare_per_s});
    figures.push_back({"ratio_to_floor" + n, c.ratio});
    figures.push_back({"commit_us" + n, c.commit_us});
  }
  return report{"journal", r.good() ? "good" : "below its bar", std::move(figures)};
}

} // namespace sluice::bench
