#include "app/follow.hpp"

#include "app/answer.hpp"
#include "app/output.hpp"
#include "app/unit_board.hpp"
#include "messages/backfill.hpp"
#include "messages/run.hpp"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace sluice {

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto redraw_interval = 200ms;
constexpr auto pause_between = 500ms;
/// A node that is restarted is back sooner; one that is gone is given up.
constexpr auto given_up_after = 5min;

/// What the person sees of a run.
class follower {
public:
  explicit follower(bool quiet) : quiet_{quiet} {}

  void take(const told_event& told) {
    auto parsed = json::document::parse(told.data);
    if (!parsed) return;
    notice_.clear();
    const auto data = parsed->root();
    if (told.name == "progress") return take_progress(data);
    if (told.name == "log") return take_step(data);
    if (told.name != "completed") return;
    board_.take(data, steady::now());
    last_ = told.data;
    status_ = run_status_from_string(text_of(data, "status"));
  }

  /// Draws the bars anew; without a terminal nothing is to be done.
  void draw() {
    if (quiet_ || board_.empty()) return;
    const auto size = terminal();
    if (!size) return;
    std::string frame = up();
    const auto wall = std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
    auto lines =
      board_.lines(size->columns, size->rows - (notice_.empty() ? 1 : 2), timestamp{wall});
    if (!notice_.empty()) lines.push_back(clipped(notice_, size->columns));
    for (const auto& line : lines)
      frame += "\x1b[2K" + line + "\n";
    // A window that became lower leaves lines behind.
    print(frame + "\x1b[J");
    drawn_ = lines.size();
  }

  void say(const std::string& line) {
    if (!quiet_) print(up() + (drawn_ > 0 ? "\x1b[J" : "") + line + "\n");
    drawn_ = 0;
  }

  /// Says it below the bars until the node is heard again; where there are none, once.
  void lost(const std::string& line) {
    if (board_.empty() || !terminal()) {
      if (notice_.empty()) say(line);
    }
    notice_ = line;
    draw();
  }

  /// Ended, or parked: nothing more happens by itself.
  [[nodiscard]] bool over() const {
    return status_ && (!last_.empty() || *status_ == run_status::parked);
  }

  exit_code finish(client& node, const std::string& run) {
    if (quiet_) {
      auto whole = node.get("runs/" + run);
      print_line(whole ? *whole : last_);
    } else {
      print(up() + (drawn_ > 0 ? "\x1b[J" : "") + board_.summary());
      print_line(painted(to_string(*status_)) + "  " + outcome());
    }
    return *status_ == run_status::completed ? exit_code::done : exit_code::failed;
  }

private:
  void take_progress(const json::cursor& data) {
    is_backfill_ = text_of(data, "workflow") == backfill_run_name;
    const auto status = run_status_from_string(text_of(data, "status"));
    if (status == run_status::parked) {
      status_ = status;
      reason_ = printable(text_of(data, "reason"));
    }
    const auto changes = board_.take(data, steady::now());
    if (quiet_ || terminal()) return;
    for (const auto& line : changes)
      print_line(line);
  }

  /// After a node was restarted it tells all steps again.
  void take_step(const json::cursor& step) {
    const auto ordinal = step.find("ordinal");
    const auto n = ordinal ? ordinal->u64() : result<std::uint64_t>{std::uint64_t{0}};
    if (!n || (last_step_ && *n <= *last_step_)) return;
    last_step_ = *n;
    if (!quiet_ && !is_backfill_)
      print_line("  " + printable(text_of(step, "name")) + "  "
                 + printable(text_of(step, "status")));
  }

  [[nodiscard]] std::string outcome() const {
    auto run = json::document::parse(last_);
    if (!run) return reason_;
    const auto root = run->root();
    const auto wrong = root.find("error");
    const auto said = is_backfill_ && wrong ? text_of(*wrong, "message") : text_of(root, "error");
    if (!is_backfill_) return printable(text_of(root, "result") + said);
    const auto totals = root.find("totals");
    if (!totals) return printable(said);
    return printable(text_of(*totals, "unitsCompleted") + " of " + text_of(*totals, "units")
                     + " units, " + text_of(*totals, "eventsDispatched") + " events, "
                     + text_of(*totals, "pagesProcessed") + " pages"
                     + (said.empty() ? "" : ": " + said));
  }

  [[nodiscard]] std::string up() const {
    return drawn_ == 0 ? std::string{} : "\x1b[" + std::to_string(drawn_) + "A\r";
  }

  bool quiet_;
  unit_board board_;
  std::size_t drawn_ = 0; ///< lines of the bars that stand above the cursor
  bool is_backfill_ = false;
  std::optional<std::uint64_t> last_step_;
  std::optional<run_status> status_;
  std::string reason_;
  std::string notice_;
  std::string last_; ///< the run as it ended, JSON
};

/// Is this the end of one node, or of the run?
bool may_come_back(const error& why) {
  if (!why) return true;
  const auto code = code_of(why);
  return code == errc::network || code == errc::unavailable || code == errc::timed_out;
}

} // namespace

exit_code follow_run(client& node, const std::string& run, bool json) {
  follower seen{json};
  seen.say("run " + printable(run));
  auto heard_at = steady::now();
  for (;;) {
    auto stream = node.subscribe("runs/" + run + "/events");
    subscription::news news;
    while (!news.over) {
      news = stream->wait(redraw_interval);
      for (const auto& told : news.events)
        seen.take(told);
      if (!news.events.empty()) heard_at = steady::now();
      if (seen.over()) return seen.finish(node, run);
      seen.draw();
    }
    if (!may_come_back(news.why)) return fail(news.why);
    if (steady::now() - heard_at > given_up_after)
      return fail(make_error(errc::unavailable, "the node says nothing of the run any more"));
    seen.lost("the node does not answer, trying again");
    std::this_thread::sleep_for(pause_between);
  }
}

} // namespace sluice
