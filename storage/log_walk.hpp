#pragma once

#include "storage/keys.hpp"
#include "storage/lmdb.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

/// Reads log records at ascending positions. Neighbours cost one step of a cursor, not a search.
class log_walk {
public:
  log_walk(lmdb::txn& t, lmdb::dbi log) : cursor_{t, log} {}

  struct record {
    keys::log_position at;
    std::string_view value;
  };

  /// The record at `seq`, which must not be below the one asked for before.
  std::optional<record> at(std::uint64_t seq) {
    if (!here_ || seq > here_->at.seq + near) {
      take(cursor_.from(keys::position({seq, 0})));
    } else {
      while (here_ && here_->at.seq < seq)
        take(cursor_.next());
    }
    if (!here_ || here_->at.seq != seq) return std::nullopt;
    return here_;
  }

private:
  /// A search costs about as much as so many steps.
  static constexpr std::uint64_t near = 16;

  void take(std::optional<lmdb::entry> e) {
    here_.reset();
    if (!e) return;
    if (auto position = keys::position_from(e->key)) here_ = record{*position, e->value};
  }

  lmdb::cursor cursor_;
  std::optional<record> here_;
};

} // namespace sluice
