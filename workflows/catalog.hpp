#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/time.hpp"
#include "rules/backoff.hpp"
#include "workflows/context.hpp"
#include "workflows/task.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sluice {

/// How a run came to its end, as `on_failure` is told (P13).
struct run_end {
  ending why = ending::failure;
  failure error;
};

/// Reads a key or a subject out of an input; the text has passed `workflow::check`.
using input_key = std::function<std::string(std::string_view input)>;

/// So many runs at once, of all or per key (P9).
struct concurrency_limit {
  std::uint32_t capacity = 1;
  input_key key; ///< empty: one limit for all
};

/// So many starts per period (P10).
struct throttle_limit {
  std::uint32_t limit = 1;
  duration period{1000};
  input_key key;
};

/// An event that cancels runs of this workflow (P11).
struct cancel_rule {
  std::string kind;
  input_key subject;
};

/// What the engine knows of a workflow.
struct workflow {
  std::string name;
  std::uint32_t version = 1; ///< of the code; a run remembers under which it started (P16)
  std::function<task<std::string>(context&, std::string input)> body;
  std::function<task<void>(context&, std::string input, run_end how)> on_failure; ///< may be empty
  std::function<error(std::string_view input)> check;
  std::function<run_status(std::string_view result)> status; ///< empty: a result is a completion
  std::vector<concurrency_limit> limits;
  std::optional<throttle_limit> throttle;
  /// Does a run with the first input do all that one with the second would (B1)? Empty: never.
  std::function<bool(std::string_view under_way, std::string_view wanted)> covers;
  std::vector<cancel_rule> cancel_on;
  std::optional<duration> start_timeout;  ///< from admission to the first step (P12)
  std::optional<duration> finish_timeout; ///< from the first step, gates not counted (P12)
  std::optional<backoff_config> retry;    ///< none: the node's
  /// A kind of actor of its own for each run, shown by this name; empty: runs share the hosts.
  std::string actor;

  /// One key per limit, then the throttle's: what a run's row keeps of them.
  [[nodiscard]] std::vector<std::string> keys(std::string_view input) const;
};

namespace detail {
template <class F>
struct flow_traits : flow_traits<decltype(&F::operator())> {};
template <class Out, class In>
struct flow_traits<task<Out> (*)(context&, In)> {
  using input = In;
  using output = Out;
};
template <class F, class Out, class In>
struct flow_traits<task<Out> (F::*)(context&, In) const> {
  using input = In;
  using output = Out;
};

template <class In>
In decode_input(std::string_view text) {
  auto in = json::decode<In>(text);
  if (!in) throw non_retriable{"bad_input", detail_of(in.error())};
  return std::move(*in);
}
} // namespace detail

/// Says the rest about a workflow that was just added.
template <class In>
class workflow_options {
public:
  explicit workflow_options(workflow& w) : w_{w} {}

  template <class F>
  workflow_options& limit(std::uint32_t capacity, F key) {
    w_.limits.push_back({capacity, keyed(std::move(key))});
    return *this;
  }
  workflow_options& limit(std::uint32_t capacity) {
    w_.limits.push_back({capacity, {}});
    return *this;
  }
  template <class F>
  workflow_options& throttle(std::uint32_t count, duration period, F key) {
    w_.throttle = throttle_limit{count, period, keyed(std::move(key))};
    return *this;
  }
  workflow_options& throttle(std::uint32_t count, duration period) {
    w_.throttle = throttle_limit{count, period, {}};
    return *this;
  }
  workflow_options& covers(bool (*all_of)(const In& under_way, const In& wanted)) {
    w_.covers = [all_of](std::string_view under_way, std::string_view wanted) {
      auto one = json::decode<In>(under_way);
      auto other = json::decode<In>(wanted);
      return one && other && all_of(*one, *other);
    };
    return *this;
  }
  template <class F>
  workflow_options& cancel_on(std::string kind, F subject) {
    w_.cancel_on.push_back({std::move(kind), keyed(std::move(subject))});
    return *this;
  }
  workflow_options& start_within(duration d) {
    w_.start_timeout = d;
    return *this;
  }
  workflow_options& finish_within(duration d) {
    w_.finish_timeout = d;
    return *this;
  }
  workflow_options& retry(backoff_config config) {
    w_.retry = config;
    return *this;
  }
  workflow_options& version(std::uint32_t v) {
    w_.version = v;
    return *this;
  }
  workflow_options& own_actor(std::string kind) {
    w_.actor = std::move(kind);
    return *this;
  }
  /// Reads from the result how the run ended: `completed`, `partial` or `failed`.
  template <class Out>
  workflow_options& ends_as(run_status (*status)(const Out&)) {
    w_.status = [status](std::string_view text) {
      auto out = json::decode<Out>(text);
      return out ? status(*out) : run_status::completed;
    };
    return *this;
  }
  workflow_options& on_failure(task<void> (*handler)(context&, In, run_end)) {
    w_.on_failure = [handler](context& ctx, std::string input, run_end how) -> task<void> {
      co_await handler(ctx, detail::decode_input<In>(input), std::move(how));
    };
    return *this;
  }

private:
  template <class F>
  static input_key keyed(F key) {
    return [key](std::string_view text) {
      auto in = json::decode<In>(text);
      return in ? std::string{key(*in)} : std::string{};
    };
  }

  workflow& w_;
};

/// Name to workflow. Filled before the first actor starts, read-only after that.
class catalog {
public:
  /// `flow` is a function, or a lambda that calls one, `task<Out> flow(context&, In)`, with `In`
  /// and `Out` known to base/json.
  template <class F>
  auto add(std::string name, F flow) {
    using traits = detail::flow_traits<std::decay_t<F>>;
    using input = typename traits::input;
    workflow w;
    w.name = name;
    w.body = [flow](context& ctx, std::string text) -> task<std::string> {
      if constexpr (std::is_void_v<typename traits::output>) {
        co_await flow(ctx, detail::decode_input<input>(text));
        co_return std::string{"null"};
      } else {
        co_return json::encode(co_await flow(ctx, detail::decode_input<input>(text)));
      }
    };
    w.check = [](std::string_view text) -> error {
      auto in = json::decode<input>(text);
      return in ? error{} : in.error();
    };
    return workflow_options<input>{insert(std::move(w))};
  }

  [[nodiscard]] const workflow* find(std::string_view name) const noexcept;
  [[nodiscard]] std::vector<std::string> names() const;

private:
  workflow& insert(workflow w);

  std::map<std::string, workflow, std::less<>> flows_;
};

} // namespace sluice
