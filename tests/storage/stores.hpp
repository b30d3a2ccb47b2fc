#pragma once

#include "base/uuid.hpp"
#include "messages/event.hpp"
#include "messages/journal.hpp"
#include "messages/run.hpp"
#include "storage/lmdb_store.hpp"
#include "storage/memory_store.hpp"
#include "storage/store.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Words that the tests of storage share.
namespace sluice::testing {

/// A folder that is gone after the test; in memory where there is such a place, because what is
/// tested is the logic, not the disk.
class temp_folder {
public:
  temp_folder() {
    std::error_code ignored;
    std::filesystem::path parent = "/dev/shm";
    if (!std::filesystem::is_directory(parent, ignored)) {
      parent = std::filesystem::temp_directory_path();
    }
    auto name = (parent / "sluice-storage-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  temp_folder(const temp_folder&) = delete;
  temp_folder& operator=(const temp_folder&) = delete;
  ~temp_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// A journal folder inside it, which does not exist yet.
  [[nodiscard]] std::string journal() const { return path_ + "/journal"; }

private:
  std::string path_;
};

/// A store that can crash: what was committed is there again after `reopen`.
struct lmdb_under_test {
  static constexpr const char* name = "lmdb";
  temp_folder folder;
  lmdb_options options{folder.journal(), std::size_t{1} << 30, 0, false};
  std::unique_ptr<store> make() { return std::make_unique<lmdb_store>(options); }
};

struct memory_under_test {
  static constexpr const char* name = "memory";
  std::shared_ptr<memory_disk> disk = std::make_shared<memory_disk>();
  std::unique_ptr<store> make() { return std::make_unique<memory_store>(disk); }
};

inline run_id make_run(std::uint64_t n, std::int64_t ms = 1'700'000'000'000) {
  uuid_source source{n + 1};
  return run_id{source.next(from_millis(ms + static_cast<std::int64_t>(n)))};
}

inline run_row row_of(const run_id& id, run_status status = run_status::running) {
  run_row row;
  row.id = id;
  row.workflow = "backfill";
  row.tenant = "acme";
  row.installation = "inst-1";
  row.status = status;
  row.requested_at = from_millis(1'700'000'000'000);
  if (is_terminal(status)) row.ended_at = from_millis(1'700'000'100'000);
  return row;
}

inline event event_of(std::string kind, std::string subject, run_id run = {},
                      std::string key = {}) {
  event e;
  e.run = run;
  e.kind = std::move(kind);
  e.subject = std::move(subject);
  e.key = std::move(key);
  e.correlation = "corr";
  e.at = from_millis(1'700'000'000'001);
  e.data = R"({"a":1})";
  return e;
}

inline step_record step_of(const run_id& run, std::uint32_t ordinal, std::string payload = "1",
                           step_status status = step_status::done) {
  step_record s;
  s.run = run;
  s.ordinal = ordinal;
  s.status = status;
  s.at = from_millis(1'700'000'000'002 + ordinal);
  s.name = "step-" + std::to_string(ordinal);
  s.payload = std::move(payload);
  return s;
}

/// Request event and row, as the engine writes them.
inline std::vector<op> begin_run(const run_id& id, std::string input = "{}", std::string key = {}) {
  auto e = event_of(event_kind::run_requested, "backfill", id, std::move(key));
  e.data = std::move(input);
  return {put_event{std::move(e)}, put_run{row_of(id)}};
}

inline std::vector<op> end_run(const run_id& id) {
  return {put_run{row_of(id, run_status::completed)},
          put_event{event_of(event_kind::run_ended, to_string(id), id)}};
}

inline std::vector<op> operator+(std::vector<op> a, std::vector<op> b) {
  for (auto& o : b)
    a.push_back(std::move(o));
  return a;
}

/// Holds a store as the journal actor does: knows epoch and head.
template <class Fixture>
class hand {
public:
  hand() { open(); }

  void open() {
    store_ = fixture.make();
    auto granted = store_->open();
    REQUIRE(granted.engaged());
    grant = *granted;
  }
  void close() { store_.reset(); }
  /// Ends the store object without a word and opens what it left.
  void reopen() {
    close();
    open();
  }

  [[nodiscard]] batch next(std::vector<op> ops) {
    batch b;
    b.epoch = grant.epoch;
    b.expected_head = grant.head;
    b.id = batch_id{ids_.next(from_millis(1'700'000'000'000))};
    b.at = from_millis(1'700'000'000'000);
    b.ops = std::move(ops);
    return b;
  }

  commit_result commit(const batch& b) {
    store_->submit({b});
    auto done = store_->finished(duration{0});
    REQUIRE(done.size() == 1);
    REQUIRE(done[0].id == b.id);
    if (done[0].status == commit_status::committed) grant.head = done[0].head;
    return done[0];
  }
  commit_result commit(std::vector<op> ops) { return commit(next(std::move(ops))); }

  /// The commit must work; gives the new head.
  std::uint64_t must(std::vector<op> ops) {
    auto answer = commit(std::move(ops));
    INFO(answer.detail);
    REQUIRE(answer.status == commit_status::committed);
    return answer.head;
  }

  /// All parts of all memos put together, read in pages of `limit`.
  std::vector<run_memo> memos(const std::vector<run_id>& runs, std::size_t limit = 1000) {
    std::vector<run_memo> all;
    for (std::optional<step_position> at = step_position{}; at;) {
      auto page = store_->load_steps(0, runs, *at, limit);
      REQUIRE(page.engaged());
      std::size_t steps = 0;
      for (auto& part : page->runs) {
        steps += part.steps.size();
        if (!all.empty() && all.back().run == part.run) {
          CHECK(part.input.empty());
          CHECK(part.versions.empty());
          for (auto& s : part.steps)
            all.back().steps.push_back(std::move(s));
        } else {
          all.push_back(std::move(part));
        }
      }
      REQUIRE(steps <= std::max<std::size_t>(limit, 1));
      at = page->next;
    }
    return all;
  }
  run_memo memo(const run_id& run, std::size_t limit = 1000) { return memos({run}, limit).at(0); }

  store* operator->() { return store_.get(); }
  store& operator*() { return *store_; }

  Fixture fixture;
  shard_grant grant;

private:
  std::unique_ptr<store> store_;
  uuid_source ids_{7};
};

} // namespace sluice::testing
