#pragma once

#include "messages/http.hpp"
#include "messages/ids.hpp"
#include "messages/journal.hpp"
#include "messages/work.hpp"
#include "workflows/outside.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A run inside its host: which place, and the how manieth tenant of that place, so that an answer
/// for a run that has left finds nobody.
struct run_ref {
  std::uint32_t place = 0;
  std::uint32_t tenancy = 0;

  friend bool operator==(const run_ref&, const run_ref&) = default;
};

/// What a commit belongs to: the ordinal of an ask, or one of these.
namespace commit_of {
inline constexpr std::uint32_t version = no_ordinal;
inline constexpr std::uint32_t end = 0xFFFF'FFFE;    ///< the terminal row
inline constexpr std::uint32_t ending = 0xFFFF'FFFD; ///< the row that says why it ends
inline constexpr std::uint32_t crash = 0xFFFF'FFFC;  ///< the raised crash count
inline constexpr std::uint32_t parked = 0xFFFF'FFFB;
} // namespace commit_of

struct commit_ref {
  run_ref run;
  std::uint32_t what = 0;
};

/// What runs want done, gathered while their host handles one message and carried out by it at the
/// end: the runs decide, the actor carries.
struct effects {
  std::vector<op> ops;             ///< one commit
  std::vector<commit_ref> commits; ///< who waits for it

  std::vector<timer> timers;

  struct question {
    run_ref run;
    std::uint32_t ordinal = 0;
    event_question what;
  };
  std::vector<question> questions;
  std::vector<token> forgotten; ///< questions whose answer is no longer wanted

  struct call {
    run_ref run;
    token id = 0;
    outside_question what;
  };
  std::vector<call> calls;
  std::vector<token> aborts;
  std::vector<request_finished> finished; ///< how requests with a pass went

  struct load {
    run_ref run;
    run_id id;
    std::optional<std::uint32_t> after;
    bool recall = false; ///< for `on_failure`, with marks
  };
  std::vector<load> loads;

  std::vector<run_id> slots_returned;
  std::vector<run_id> slots_wanted;
  std::vector<run_id> calm;
  std::vector<run_ref> left; ///< ended or parked, and that is durable
  std::vector<run_ref>
    stopped; ///< work has stopped and that is committed: answer whoever cancelled

  // -- what the host provides ---------------------------------------------------

  timestamp now{};
  bool draining = false; ///< start no work
  token next_token = 1;
  std::function<uuid(timestamp)> make_uuid;
};

} // namespace sluice
