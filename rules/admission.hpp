#pragma once

#include "messages/ids.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice {

/// One slot that a run needs: of the limit named `limit`, for the run's value of that limit's key.
/// A limit without key has the empty one.
struct slot_claim {
  std::string limit;
  std::string key;
  std::uint32_t capacity = 1;

  friend bool operator==(const slot_claim&, const slot_claim&) = default;
};

enum class queue_position : std::uint8_t {
  newcomer,
  returning, ///< held its slots before and gave them back: ahead of its key's newcomers
};

struct slot_book_stats {
  std::size_t waiting = 0;
  std::size_t holding = 0;
  std::size_t away = 0;    ///< gave their slots back and have not asked again
  std::size_t keys = 0;    ///< turn keys that have somebody waiting
  std::uint64_t looks = 0; ///< queues that `grant` looked at since the start: what it costs
};

/// How full one limit is, for one value of its key.
struct slot_usage {
  std::string limit;
  std::string key;
  std::uint32_t capacity = 0;
  std::uint32_t used = 0;

  friend bool operator==(const slot_usage&, const slot_usage&) = default;
};

/// Who may run, and who is next (P9, B22).
///
/// A run needs one slot of each of its claims, all at once. Runs of the same turn key and the same
/// claims wait in one queue, in arrival order, those that return ahead of newcomers. Among queues
/// whose next run could go now, the turn key that was granted least recently has its turn; a key
/// that begins to wait comes last. So between two grants of one key every other key that could go
/// is granted, and a queue that is held up by a limit of its own delays nobody.
///
/// Slots are not kept free for a run that needs several limits at once. It can be passed over for
/// long only if other runs each use some of its limits and not the rest; limits that contain one
/// another (installation, tenant, all) cannot do that.
///
/// The capacity of a limit is the newest one that a claim named; a lower one takes no slot away.
/// `grant` costs O(log n) per run it grants plus, amortised, per queue whose limit opened. Nothing
/// of this is stored: after a restart the runs are told again, with `restore` and `want`.
class slot_book {
public:
  slot_book() = default;
  slot_book(const slot_book&) = delete;
  slot_book& operator=(const slot_book&) = delete;

  /// Queues a run. One that waits or holds its slots already is left as it is.
  void want(run_id run, const std::vector<slot_claim>& claims, const std::string& turn_key,
            queue_position position = queue_position::newcomer);
  /// The run waits elsewhere and frees its slots meanwhile; the book remembers what it needs. Only
  /// for a run that holds its slots; else nothing happens.
  void give_back(run_id run);
  /// Queues a run that gave its slots back, as `returning`. False: the book knows no such run.
  bool return_to(run_id run);
  /// The run ended or was parked, wherever it was. An unknown one is no harm.
  void release(run_id run);
  /// Takes slots for a run that held them before a restart, above the capacity if need be.
  void restore(run_id run, const std::vector<slot_claim>& claims, const std::string& turn_key);

  /// Everyone that may go now, in fair order. They hold their slots from here on.
  [[nodiscard]] std::vector<run_id> grant();

  [[nodiscard]] bool holds(run_id run) const;
  [[nodiscard]] bool waits(run_id run) const;
  [[nodiscard]] slot_book_stats stats() const;
  /// Limits that are in use or waited for, by name and key.
  [[nodiscard]] std::vector<slot_usage> usage() const;

private:
  struct queue;

  /// A queue's place among others: the turn of its key, then the arrival of its first run.
  /// Arrivals are unique, so places are too.
  struct place {
    std::uint64_t turn = 0;
    std::uint64_t arrival = 0;

    friend auto operator<=>(const place&, const place&) = default;
  };

  /// One limit for one key, and the queues that wait because it was full when they were looked at.
  struct slot {
    std::uint32_t capacity = 0;
    std::uint32_t used = 0;
    std::size_t queues = 0; ///< that name it in their claims
    std::map<place, queue*> parked;
    std::optional<place> listed; ///< its entry in `open_`
  };

  using slot_map = std::map<std::pair<std::string, std::string>, slot>;

  struct turn_state {
    std::uint64_t turn = 0;
    std::size_t waiting = 0; ///< runs
    std::size_t queues = 0;
  };

  using turn_map = std::map<std::string, turn_state>;

  struct queue_name {
    std::string turn_key;
    std::vector<std::pair<std::string, std::string>> claims; ///< sorted, each once

    friend auto operator<=>(const queue_name&, const queue_name&) = default;
  };

  struct queue {
    turn_map::iterator key;
    std::vector<slot_map::iterator> claims;
    std::map<std::uint64_t, run_id> runs; ///< that wait, by arrival
    std::size_t members = 0;              ///< waiting, holding or away
    slot* at = nullptr;                   ///< where it is parked
    place as;                             ///< its entry there
  };

  using queue_map = std::map<queue_name, queue>;

  enum class whereabouts : std::uint8_t { waiting, holding, away };

  struct member {
    queue_map::iterator in;
    whereabouts state = whereabouts::waiting;
    std::uint64_t arrival = 0;
  };

  queue_map::iterator join(const std::vector<slot_claim>& claims, const std::string& turn_key);
  void leave(queue_map::iterator q);
  void line_up(run_id run, member& m, queue_position position);
  void step_out(member& m);
  void take(queue& q);
  void free(queue& q);
  void park(queue& q, slot& where);
  void unpark(queue& q);
  void list(slot& s);
  static slot* full_claim(const queue& q);

  slot_map slots_;
  turn_map turns_;
  queue_map queues_;
  std::unordered_map<run_id, member> members_;
  /// Where queues are parked that no full limit is known to hold up.
  slot door_{.capacity = 1, .used = 0, .queues = 0, .parked = {}, .listed = {}};
  /// Slots with room that somebody is parked at, by the first place there.
  std::map<place, slot*> open_;
  std::uint64_t last_turn_ = 0;
  std::uint64_t last_arrival_ = 0;
  std::size_t waiting_ = 0;
  std::size_t holding_ = 0;
  std::size_t keys_ = 0;
  std::uint64_t looks_ = 0;
};

} // namespace sluice
