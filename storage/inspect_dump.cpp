#include "base/clock.hpp"
#include "base/json.hpp"
#include "storage/codec.hpp"
#include "storage/inspect.hpp"
#include "storage/keys.hpp"
#include "storage/lmdb_journal.hpp"

#include <string>
#include <unordered_map>

namespace sluice {

namespace {

/// A read transaction ends after so many lines, so that a slow terminal holds no pages back (F26).
constexpr std::size_t lines_per_read = 1000;

/// JSON text as it is, but on one line; anything else as a string.
void put_text(json::writer& w, std::string_view text) {
  auto parsed = json::document::parse(text);
  if (parsed)
    w.raw(parsed->root().text());
  else
    w.str(text);
}

std::string hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    out += digits[b >> 4];
    out += digits[b & 15];
  }
  return out;
}

class dumper {
public:
  dumper(lmdb_journal& j, std::optional<run_id> only,
         const std::function<bool(std::string_view)>& line)
    : j_{j}, only_{only}, line_{line} {}

  error run() {
    if (auto e = dump(j_.db.runs, [&](auto& x) { return run_line(x); })) return e;
    if (only_ && only_number_ == 0) {
      return make_error(errc::not_found, "no run " + to_string(*only_) + " in the journal");
    }
    if (auto e = dump(j_.db.log, [&](auto& x) { return record_line(x); })) return e;
    for (std::size_t i = 0; i < table_count && !only_; ++i) {
      const auto where = static_cast<table>(i);
      if (auto e = dump(j_.db.row(where), [&](auto& x) { return row_line(where, x); })) return e;
    }
    return {};
  }

private:
  /// Walks a database in slices; `print` gives a line, or an empty one for what is left out.
  template <class Print>
  error dump(lmdb::dbi db, Print print) {
    std::optional<std::string> after;
    while (!stopped_) {
      std::vector<std::string> lines;
      std::size_t seen = 0;
      lmdb::txn t{j_.env, lmdb::txn::mode::read};
      lmdb::cursor c{t, db};
      auto e = after ? c.from(*after) : c.first();
      if (e && after && e->key == *after) e = c.next();
      for (; e && seen < lines_per_read; e = c.next(), ++seen) {
        if (auto text = print(*e); !text.empty()) lines.push_back(std::move(text));
        after = e->key;
      }
      if (!t.ok()) return t.failure();
      for (const auto& text : lines)
        stopped_ = stopped_ || !line_(text);
      if (!e) break;
    }
    return {};
  }

  std::string run_line(const lmdb::entry& e) {
    auto id = keys::run_from(e.key);
    if (!id || (only_ && *id != *only_)) return {};
    json::writer w;
    w.obj().key("run").str(to_string(*id));
    auto opened = codec::open(e.value, codec::seed_of(e.key));
    auto head = opened ? codec::peek_run(opened->frame) : opened.error();
    auto row = head ? codec::read_run(opened->frame) : head.error();
    if (row) {
      runs_[head->number] = *id;
      if (only_) only_number_ = head->number;
      w.key("firstSeq").num(head->number).key("status").str(to_string(row->status));
      w.key("row").raw(json::encode(*row));
    } else {
      if (only_) only_number_ = live_number(*id);
      w.key("corrupt").boolean(true);
    }
    return w.end().take();
  }

  std::uint64_t live_number(const run_id& id) {
    lmdb::txn t{j_.env, lmdb::txn::mode::read};
    auto value = t.get(j_.db.live, keys::run(id));
    return value ? keys::number_from(*value).value_or(0) : 0;
  }

  std::string record_line(const lmdb::entry& e) {
    auto at = keys::position_from(e.key);
    if (!at || (only_ && at->run != only_number_)) return {};
    json::writer w;
    w.obj().key("seq").num(at->seq);
    const auto owner = runs_.find(at->run);
    const run_id run = owner == runs_.end() ? only_.value_or(run_id{}) : owner->second;
    if (at->run != 0) w.key("run").str(to_string(run));
    auto opened = codec::open(e.value, codec::seed_of(*at));
    if (!opened || !put_record(w, *opened, run, at->seq)) w.key("corrupt").boolean(true);
    return w.end().take();
  }

  static bool put_record(json::writer& w, const codec::opened& record, const run_id& run,
                         std::uint64_t seq) {
    switch (record.kind) {
    case codec::value_kind::batch:
      return put_batch(w, record.frame);
    case codec::value_kind::step:
      return put_step_fields(w, record.frame, run);
    case codec::value_kind::event:
      return put_event_fields(w, record.frame, seq);
    case codec::value_kind::marks:
      return put_marks_fields(w, record.frame, run);
    case codec::value_kind::run:
    case codec::value_kind::row:
    case codec::value_kind::seqs:
      return false;
    }
    return false;
  }

  static bool put_batch(json::writer& w, std::string_view frame) {
    auto x = codec::read_batch(frame);
    if (!x) return false;
    w.key("kind").str("batch").key("id").str(to_string(x->id)).key("epoch").num(x->epoch);
    w.key("at").str(to_rfc3339(x->at)).key("records").num(x->records);
    return true;
  }

  static bool put_step_fields(json::writer& w, std::string_view frame, const run_id& run) {
    auto x = codec::read_step(frame, run);
    if (!x) return false;
    w.key("kind").str("step").key("step").str(to_string(x->kind));
    w.key("status").str(to_string(x->status));
    if (x->ordinal != no_ordinal) w.key("ordinal").num(std::uint64_t{x->ordinal});
    w.key("name").str(x->name).key("attempt").num(std::uint64_t{x->attempt});
    w.key("at").str(to_rfc3339(x->at));
    if (x->until != never) w.key("until").str(to_rfc3339(x->until));
    if (x->gated != 0) w.key("gatedMs").num(x->gated);
    w.key("payload");
    put_text(w, x->payload);
    return true;
  }

  static bool put_event_fields(json::writer& w, std::string_view frame, std::uint64_t seq) {
    auto x = codec::read_event(frame, seq);
    if (!x) return false;
    w.key("kind").str("event").key("event").str(x->kind).key("subject").str(x->subject);
    if (!x->key.empty()) w.key("key").str(x->key);
    w.key("correlation").str(x->correlation).key("at").str(to_rfc3339(x->at)).key("data");
    put_text(w, x->data);
    return true;
  }

  static bool put_marks_fields(json::writer& w, std::string_view frame, const run_id& run) {
    auto x = codec::read_marks(frame, run);
    if (!x) return false;
    w.key("kind").str("marks").key("unit").str(x->unit).key("page").num(std::uint64_t{x->page});
    w.key("bitmap").str(hex(x->bitmap));
    return true;
  }

  static std::string row_line(table where, const lmdb::entry& e) {
    json::writer w;
    w.obj().key("table").str(to_string(where)).key("key").str(e.key);
    if (auto value = codec::read_row(where, e.key, e.value)) {
      w.key("value");
      put_text(w, *value);
    } else {
      w.key("corrupt").boolean(true);
    }
    return w.end().take();
  }

  lmdb_journal& j_;
  const std::optional<run_id> only_;
  const std::function<bool(std::string_view)>& line_;
  std::unordered_map<std::uint64_t, run_id> runs_; ///< by number
  std::uint64_t only_number_ = 0;
  bool stopped_ = false;
};

} // namespace

error dump_journal(const std::string& folder, std::optional<run_id> run,
                   const std::function<bool(std::string_view)>& line) {
  auto j = open_beside(folder);
  if (!j) return j.error();
  return dumper{**j, run, line}.run();
}

} // namespace sluice
