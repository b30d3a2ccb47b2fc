#include "storage/lmdb_trim.hpp"

#include "storage/codec.hpp"
#include "storage/keys.hpp"
#include "storage/seq_chunks.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

namespace {

/// Removes single records and counts them.
class record_remover {
public:
  record_remover(lmdb::txn& t, const lmdb_tables& db, std::uint32_t records_max)
    : t_{t}, db_{db}, left_{records_max} {}

  ~record_remover() {
    if (removed_ > 0) {
      set_meta_number(t_, db_, meta::removed, meta_number(t_, db_, meta::removed) + removed_);
    }
  }

  void remove(keys::log_position at) {
    const auto key = keys::position(at);
    if (auto value = t_.get(db_.log, key)) {
      forget_idempotency_key(at, *value);
      t_.del(db_.log, key);
      ++removed_;
    }
    --left_;
  }

  [[nodiscard]] bool may_go_on() const noexcept { return left_ > 0 && t_.ok(); }

private:
  void forget_idempotency_key(keys::log_position at, std::string_view value) {
    auto record = codec::open(value, codec::seed_of(at));
    if (!record || record->kind != codec::value_kind::event) return;
    auto e = codec::read_event(record->frame, at.seq);
    if (!e || e->key.empty()) return;
    const auto key = keys::idempotency(e->key);
    auto holder = t_.get(db_.event_keys, key);
    if (holder && keys::position_from(*holder) == at) t_.del(db_.event_keys, key);
  }

  lmdb::txn& t_;
  const lmdb_tables& db_;
  std::uint32_t left_;
  std::uint64_t removed_ = 0;
};

struct owned_entry {
  std::string key;
  std::string value;
};

/// The last chunk of a run's seq lists, copied because what follows writes.
std::optional<owned_entry> last_chunk(lmdb::txn& t, const lmdb_tables& db, const run_id& run) {
  lmdb::cursor c{t, db.ended};
  auto e = c.until(keys::chunk(run, keys::seq_list::steps, ~std::uint32_t{0}));
  if (!e || !e->key.starts_with(keys::run(run))) return std::nullopt;
  return owned_entry{std::string{e->key}, std::string{e->value}};
}

/// Position of the run's first record: the first entry of its first chunk.
std::uint64_t number_of(lmdb::txn& t, const lmdb_tables& db, const run_id& run) {
  const auto key = keys::chunk(run, keys::seq_list::others, 0);
  auto value = t.get(db.ended, key);
  auto others = value ? codec::read_others(key, *value) : make_error(errc::not_found, "");
  return others && !others->empty() ? others->front().seq() : 0;
}

void remove_prefix(lmdb::txn& t, lmdb::dbi db, std::string_view prefix) {
  while (t.ok()) {
    lmdb::cursor c{t, db};
    auto e = c.from(prefix);
    if (!e || !e->key.starts_with(prefix)) return;
    c.del();
  }
}

/// Takes entries off the end of a chunk while there is budget; true when none is left.
template <class Place, class Write>
bool shorten(lmdb::txn& t, lmdb::dbi db, const std::string& key, std::vector<Place> places,
             record_remover& remover, std::uint64_t number, Write write) {
  while (!places.empty() && remover.may_go_on()) {
    remover.remove({places.back().seq(), number});
    places.pop_back();
  }
  if (places.empty())
    t.del(db, key);
  else
    t.put(db, key, write(places));
  return places.empty();
}

bool remove_from_chunk(lmdb::txn& t, const lmdb_tables& db, const owned_entry& chunk,
                       record_remover& remover, std::uint64_t number) {
  // Positions that cannot be read cannot be removed one by one: `verify` finds what they leave.
  auto give_up = [&] {
    t.del(db.ended, chunk.key);
    return true;
  };
  auto name = keys::chunk_from(chunk.key);
  if (!name) return give_up();
  const auto key = keys::chunk(name->run, name->list, name->first);
  if (name->list == keys::seq_list::steps) {
    auto steps = codec::read_steps(chunk.key, chunk.value);
    if (!steps) return give_up();
    return shorten(t, db.ended, chunk.key, std::move(*steps), remover, number,
                   [&](auto& rest) { return codec::write_steps(key, rest); });
  }
  auto others = codec::read_others(chunk.key, chunk.value);
  if (!others) return give_up();
  return shorten(t, db.ended, chunk.key, std::move(*others), remover, number,
                 [&](auto& rest) { return codec::write_others(key, rest); });
}

} // namespace

void remove_run_slice(lmdb::txn& t, const lmdb_tables& db, const trim_run& o) {
  record_remover remover{t, db, o.records_max};
  const auto number = number_of(t, db, o.run);
  while (remover.may_go_on()) {
    auto chunk = last_chunk(t, db, o.run);
    if (!chunk) break;
    if (!remove_from_chunk(t, db, *chunk, remover, number)) return;
  }
  if (!t.ok() || last_chunk(t, db, o.run)) return;
  t.del(db.runs, keys::run(o.run));
  remove_prefix(t, db.row(table::cert), keys::cert_prefix(o.run));
}

void remove_log_slice(lmdb::txn& t, const lmdb_tables& db, const trim_log& o,
                      std::uint64_t newest) {
  const auto below = std::min(o.below, newest);
  record_remover remover{t, db, o.records_max};
  std::optional<std::uint64_t> last;
  while (remover.may_go_on()) {
    std::optional<keys::log_position> at;
    {
      lmdb::cursor c{t, db.log};
      if (auto e = c.first()) at = keys::position_from(e->key);
    }
    if (!at || at->run != 0 || at->seq >= below) break;
    remover.remove(*at);
    last = at->seq;
  }
  if (last) set_meta_number(t, db, meta::trimmed, *last + 1);
}

} // namespace sluice
