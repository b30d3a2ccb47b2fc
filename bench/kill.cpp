#include "bench/kill.hpp"

#include "app/client.hpp"
#include "base/json.hpp"
#include "bench/child.hpp"
#include "bench/measure.hpp"
#include "storage/inspect.hpp"
#include "workflows/examples.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <thread>

namespace sluice::bench {

namespace {

using std::chrono::milliseconds;

/// A run whose request the node acknowledged, and what must come of it.
using expected_results = std::map<std::string, std::string>;

struct accepted_body {
  std::string run;
};

template <class Fields>
void describe(Fields& f, accepted_body& x) {
  f("runId", x.run);
}

struct run_body {
  std::string status;
  json::raw result;
};

template <class Fields>
void describe(Fields& f, run_body& x) {
  f("status", x.status);
  f("result", x.result);
}

/// A node process on the folder under test.
class victim {
public:
  victim(const std::string& folder, const std::string& ledger_url)
    : port_file_{folder + "/port"},
      process_{
        own_program(),
        {"node", "--data", folder + "/data", "--listen", "127.0.0.1:0", "--port-file", port_file_},
        {{"SLUICE_EXAMPLE_URL", ledger_url}, {"SLUICE_LOG_LEVEL", "error"}},
        folder + "/node.log"} {}
  ~victim() {
    process_.kill();
    std::filesystem::remove(port_file_);
  }
  victim(const victim&) = delete;
  victim& operator=(const victim&) = delete;

  /// A client of it as soon as it is ready.
  client* api() {
    if (client_) return &*client_;
    std::ifstream file{port_file_};
    std::string port;
    if (!(file >> port) || file.peek() != '\n') return nullptr;
    auto made = client::make("http://127.0.0.1:" + port, duration{5'000});
    if (!made) return nullptr;
    client_.emplace(std::move(*made));
    return &*client_;
  }
  bool running() { return process_.running(); }
  int end() { return process_.end(); }

private:
  std::string port_file_;
  child process_;
  std::optional<client> client_;
};

/// Asks for one run; an answer that does not come promises nothing.
void ask_for_run(client& api, std::mt19937_64& draw, expected_results& expected) {
  const auto size = static_cast<std::uint32_t>(1 + draw() % 12);
  std::string body;
  std::string result;
  if (draw() % 4 == 0) {
    const std::uint64_t sum = std::uint64_t{size} * (size + 1) / 2;
    body = fmt::format(R"({{"workflow":"example.counter","input":{{"steps":{},"pauseMs":{}}}}})",
                       size, draw() % 30);
    result = json::encode(counter_result{sum, size});
  } else {
    body = fmt::format(R"({{"workflow":"example.calls","input":{{"calls":{}}}}})", size);
    result = json::encode(calls_result{size});
  }
  auto answer = api.post("/runs", body);
  if (!answer) return;
  if (auto accepted = json::decode<accepted_body>(*answer)) expected[accepted->run] = result;
}

void check_run(client& api, const std::string& run, const std::string& result, kill_result& r) {
  for (int tries = 0; tries < 3000; ++tries) {
    auto answer = api.get("/runs/" + run);
    if (!answer) {
      ++r.missing;
      return;
    }
    auto body = json::decode<run_body>(*answer);
    const bool over = body && body->status != "running" && body->status != "pending"
                      && body->status != "recovering";
    if (over) {
      if (body->status != "completed" || body->result.text != result) ++r.wrong;
      return;
    }
    std::this_thread::sleep_for(milliseconds{10});
  }
  ++r.wrong;
}

} // namespace

result<kill_result> run_kill_bench(const kill_options& o,
                                   const std::function<void(const std::string&)>& progress) {
  bench_folder folder{o.data_dir};
  if (folder.path().empty()) return make_error(errc::bad_input, "no folder to work in");
  auto ledger = call_ledger::open();
  if (!ledger) return std::move(ledger.error());
  kill_result r;
  stopwatch watch;
  std::mt19937_64 draw{o.seed};
  expected_results expected;
  for (std::uint32_t round = 0; round < o.rounds; ++round) {
    victim node{folder.path(), (*ledger)->url(round)};
    const auto life = milliseconds{1 + draw() % o.life_ms_max};
    const auto end = std::chrono::steady_clock::now() + life;
    bool ready = false;
    while (std::chrono::steady_clock::now() < end) {
      if (!node.running())
        return make_error(errc::internal,
                          "the node ended by itself in round " + std::to_string(round + 1));
      if (auto* api = node.api()) {
        ready = true;
        ask_for_run(*api, draw, expected);
      }
      std::this_thread::sleep_for(milliseconds{1});
    }
    ++r.kills;
    if (!ready) ++r.unready;
    if (progress && (round + 1) % 20 == 0)
      progress(fmt::format("{} kills, {} runs acknowledged", round + 1, expected.size()));
  }
  r.requested = expected.size();
  victim node{folder.path(), (*ledger)->url(o.rounds)};
  for (int tries = 0; node.api() == nullptr; ++tries) {
    if (tries > 3000 || !node.running())
      return make_error(errc::internal, "the node does not start again after the last kill");
    std::this_thread::sleep_for(milliseconds{10});
  }
  for (const auto& [run, result] : expected)
    check_run(*node.api(), run, result, r);
  if (node.end() != 0) return make_error(errc::internal, "the node does not stop in order");
  r.calls = (*ledger)->judge();
  auto verified = verify_journal(folder.path() + "/data");
  if (!verified) return std::move(verified.error());
  r.journal_problems = verified->problems;
  r.seconds = watch.seconds();
  return r;
}

report report_of(const kill_options& o, const kill_result& r) {
  auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  return report{"kill",
                fmt::format("{}", o.rounds),
                {{"kills", number(r.kills)},
                 {"killed_before_ready", number(r.unready)},
                 {"runs_acknowledged", number(r.requested)},
                 {"runs_missing", number(r.missing)},
                 {"runs_wrong", number(r.wrong)},
                 {"steps_called", number(r.calls.calls)},
                 {"steps_lost", number(r.calls.lost)},
                 {"steps_skipped", number(r.calls.skipped)},
                 {"steps_repeated", number(r.calls.repeated)},
                 {"steps_repeated_without_kill", number(r.calls.twice)},
                 {"bad_keys", number(r.calls.bad_keys)},
                 {"journal_problems", number(r.journal_problems)},
                 {"seconds", r.seconds}}};
}

} // namespace sluice::bench
