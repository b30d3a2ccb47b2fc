#pragma once

#include "actors/observed.hpp"
#include "base/clock.hpp"
#include "base/uuid.hpp"
#include "messages/actors.hpp"
#include "storage/store.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

struct journal_config {
  std::size_t batch_records_max = 4096;
  std::uint64_t batch_bytes_max = 1ULL << 20;
  duration retry_interval{1000}; ///< how often a full store is tried again
};

/// Groups what lies in the mailbox into one commit, then answers everyone in it. While one commit
/// runs the next batch gathers; there is no delay to tune. Nothing is acknowledged before it is
/// durable; an unknown outcome is resolved by `probe` before anything else is written. A full store
/// is tried again until there is room (I19); requests from outside are not kept until then but
/// refused. Any other failure ends this actor, and with it the process (F22): the next start
/// rereads.
struct journal_state {
  explicit journal_state(journal_actor::pointer p) : self{p} {}
  static inline const char* name = "journal";

  journal_actor::pointer self;
  actor_activity activity;
  store* disk = nullptr;
  shard_grant grant;
  engine_clock clock;
  uuid_source ids;
  journal_config config;
  std::vector<event_observer> observers;

  struct sender {
    commit_sink from;
    token id = 0;
    std::size_t ops = 0;
    bool droppable = false;
  };
  using flush_promise = caf::typed_response_promise<flushed>;

  // what gathers
  std::deque<append> gathered;
  bool wanted = false;                                        ///< somebody waits for one of them
  std::vector<std::pair<std::size_t, flush_promise>> flushes; ///< after so many gathered appends

  // the commit under way
  batch current;
  std::vector<sender> senders;
  std::vector<flush_promise> answered_by_current;
  bool under_way = false;
  bool no_room = false; ///< it was refused for want of room and is not with the store
  /// A commit that found no room, while one that makes room goes ahead.
  struct held_commit {
    batch what;
    std::vector<sender> senders;
    std::vector<flush_promise> answers;
  };
  std::optional<held_commit> stuck;
  store_state room = store_state::writable;
  std::uint64_t commits = 0;
  std::uint64_t records = 0;

  void add(append& a);
  void flush();
  void drop_late_marks(std::vector<op>& ops);
  void stamp();
  void try_again();
  append take_out(std::deque<append>::iterator place);
  void refuse_requests();
  void refuse(const commit_sink& who, token id);
  void submit();
  void poll();
  void judge(const commit_result& r);
  void acknowledge();
  void tell_observers();
  void set_room(store_state s, const std::string& detail);
  void fail(const std::string& what, const std::string& detail);
};

journal_actor::behavior_type journal(journal_actor::stateful_pointer<journal_state> self,
                                     store* disk, shard_grant grant, engine_clock clock,
                                     uuid_source ids, journal_config config);

} // namespace sluice
