#include "app/follow.hpp"

#include "app/answer.hpp"
#include "app/output.hpp"
#include "messages/run.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace sluice {

namespace {

using namespace std::chrono_literals;

constexpr auto pause_between = 200ms;

/// Prints steps in their order, each once.
class step_printer {
public:
  /// Prints what is done since the last call; true when there are more to ask for at once.
  bool take(const json::cursor& run, bool quiet) {
    for (const auto& step : items_of(run, "steps")) {
      const auto status = text_of(step, "status");
      if (status != "done" && status != "failed") return false;
      after_ = text_of(step, "ordinal");
      if (!quiet) print_line("  " + printable(text_of(step, "name")) + "  " + printable(status));
    }
    return !text_of(run, "stepsNext").empty();
  }

  [[nodiscard]] std::string query() const {
    return after_.empty() ? std::string{} : "?stepsAfter=" + after_;
  }

private:
  std::string after_;
};

} // namespace

exit_code follow_run(client& node, const std::string& run, bool json) {
  if (!json) print_line("run " + printable(run));
  step_printer steps;
  for (;;) {
    auto said = node.get("runs/" + run + steps.query());
    if (!said) return fail(said.error());
    auto answer = json::document::parse(*said);
    if (!answer) return fail(answer.error());
    const auto root = answer->root();
    if (steps.take(root, json)) continue;
    const auto status = run_status_from_string(text_of(root, "status"));
    if (!status) return fail(make_error(errc::internal, "the node says no status"));
    if (!is_terminal(*status) && *status != run_status::parked) {
      std::this_thread::sleep_for(pause_between);
      continue;
    }
    if (json) {
      print_line(*said);
    } else {
      print_line(painted(to_string(*status)) + "  " + printable(text_of(root, "result"))
                 + printable(text_of(root, "reason")) + printable(text_of(root, "error")));
    }
    return *status == run_status::completed ? exit_code::done : exit_code::failed;
  }
}

} // namespace sluice
