#pragma once

#include "base/json.hpp"
#include "messages/event.hpp"
#include "workflows/errors.hpp"
#include "workflows/machine.hpp"
#include "workflows/operation.hpp"
#include "workflows/outside.hpp"
#include "workflows/task.hpp"

#include <array>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

/// What `co_await` does with each thing that a context gives out.
namespace sluice {

/// Thrown when a memo cannot be read; the run is parked already. Not a `std::exception`, so that a
/// workflow's own handlers let it pass.
struct run_parked {};

/// What the work of a step may return instead of a plain `T`: the step's result, and operations
/// that are committed together with it, or not at all.
template <class T>
struct recorded {
  T value{};
  std::vector<op> with{};
};

namespace detail {

template <class T>
struct work_result {
  using type = T;
  static constexpr bool is_task = false;
};
template <class T>
struct work_result<task<T>> {
  using type = T;
  static constexpr bool is_task = true;
};

template <class T>
struct is_recorded {
  static constexpr bool yes = false;
  using value = T;
};
template <class T>
struct is_recorded<recorded<T>> {
  static constexpr bool yes = true;
  using value = T;
};

template <class F>
decltype(auto) call_work(F& work, const attempt& a) {
  if constexpr (std::is_invocable_v<F&, const attempt&>)
    return work(a);
  else
    return work();
}
template <class F>
using raw_result = decltype(call_work(std::declval<F&>(), std::declval<const attempt&>()));

template <class T>
using shown = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

} // namespace detail

/// A step with its work. `co_await` gives the work's result, or throws `step_failed`.
template <class F>
class step_operation final : public operation, private completion {
  using traits = detail::work_result<detail::raw_result<F>>;

public:
  using work_type = typename traits::type;
  using value_type = typename detail::is_recorded<work_type>::value;

  step_operation(std::string name, F work, const step_options& o)
    : operation{step_kind::work, std::move(name)}, work_{std::move(work)}, options_{o} {
    repeatable_ = o.repeatable;
  }
  step_operation(step_operation&&) = default;

private:
  const step_options* options() const noexcept override { return &options_; }

  void start_work(machine& run, const attempt& a) override {
    run_ = &run;
    try {
      if constexpr (traits::is_task) {
        under_way_ = detail::call_work(work_, a);
        under_way_.start(this);
        if (under_way_.done()) completed();
      } else if constexpr (std::is_void_v<work_type>) {
        detail::call_work(work_, a);
        run.work_done(*this, "null");
      } else {
        done(detail::call_work(work_, a));
      }
    } catch (...) {
      run.work_failed(*this, std::current_exception());
    }
  }

  void completed() override {
    if constexpr (traits::is_task) {
      try {
        if constexpr (std::is_void_v<work_type>) {
          under_way_.take();
          run_->work_done(*this, "null");
        } else {
          done(under_way_.take());
        }
      } catch (...) {
        run_->work_failed(*this, std::current_exception());
      }
    }
  }

  template <class T>
  void done(T result) {
    if constexpr (detail::is_recorded<T>::yes)
      run_->work_done(*this, json::encode(result.value), std::move(result.with));
    else
      run_->work_done(*this, json::encode(result));
  }

  struct nothing {};
  using frame = std::conditional_t<traits::is_task, task<work_type>, nothing>;

  F work_;
  step_options options_;
  machine* run_ = nullptr;
  [[no_unique_address]] frame under_way_;
};

/// An invocation whose result is read as `Out`.
template <class Out>
class typed_invoke : public invoke_operation {
public:
  using value_type = Out;
  using invoke_operation::invoke_operation;
};

namespace detail {

template <class Op>
struct value_of {
  using type = typename Op::value_type;
};
template <>
struct value_of<sleep_operation> {
  using type = void;
};
template <>
struct value_of<send_operation> {
  using type = void;
};
template <>
struct value_of<wait_operation> {
  using type = std::optional<event>;
};
template <class Op>
using value_of_t = typename value_of<Op>::type;

/// An event inside a memo: with its position and data.
struct kept_event {
  std::uint64_t seq = 0;
  event what;
  json::raw data;
};
template <class Fields>
void describe(Fields& f, kept_event& x) {
  f("seq", x.seq);
  f("event", x.what);
  f("data", x.data);
}

/// The value of a settled operation.
template <class Op>
shown<value_of_t<Op>> result_of(machine& run, const Op& op) {
  using value = value_of_t<Op>;
  if (const auto& failed = machine::failure_of(op)) throw step_failed{*failed};
  const std::string& text = machine::payload_of(op);
  if constexpr (std::is_void_v<value>) {
    return {};
  } else if constexpr (std::is_same_v<value, std::optional<event>>) {
    auto kept = json::decode<std::optional<kept_event>>(text);
    if (!kept) {
      run.unreadable(op, detail_of(kept.error()));
      throw run_parked{};
    }
    if (!*kept) return std::nullopt;
    event found = std::move((*kept)->what);
    found.seq = (*kept)->seq;
    found.data = std::move((*kept)->data.text);
    return found;
  } else {
    auto decoded = json::decode<value>(text);
    if (!decoded) {
      run.unreadable(op, detail_of(decoded.error()));
      throw run_parked{};
    }
    return std::move(*decoded);
  }
}

} // namespace detail

/// Awaits one operation.
template <class Op>
class [[nodiscard]] awaited {
public:
  awaited(machine& run, Op op) : run_{run}, op_{std::move(op)} {}

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) {
    self_[0] = &op_;
    return run_.ask(self_.data(), 1, waiter);
  }
  detail::value_of_t<Op> await_resume() {
    if constexpr (std::is_void_v<detail::value_of_t<Op>>)
      detail::result_of(run_, op_);
    else
      return detail::result_of(run_, op_);
  }

private:
  template <class...>
  friend class awaited_all;
  template <class>
  friend class awaited_group;

  machine& run_;
  Op op_;
  std::array<operation*, 1> self_{};
};

/// Awaits several at once (P8): all of them settle, then the first failure in argument order is
/// thrown, or all results are given. `void` becomes `std::monostate`.
template <class... Ops>
class [[nodiscard]] awaited_all {
public:
  awaited_all(machine& run, awaited<Ops>... ops) : run_{run}, ops_{std::move(ops.op_)...} {}

  bool await_ready() const noexcept { return sizeof...(Ops) == 0; }
  bool await_suspend(std::coroutine_handle<> waiter) {
    std::apply([this](auto&... op) { all_ = {&op...}; }, ops_);
    return run_.ask(all_.data(), all_.size(), waiter);
  }
  auto await_resume() {
    return std::apply(
      [this](auto&... op) {
        return std::tuple<detail::shown<detail::value_of_t<Ops>>...>{
          detail::result_of(run_, op)...};
      },
      ops_);
  }

private:
  machine& run_;
  std::tuple<Ops...> ops_;
  std::array<operation*, sizeof...(Ops)> all_{};
};

/// Any number of one kind.
template <class Op>
class awaited_group {
public:
  awaited_group(machine& run, std::vector<awaited<Op>> ops) : run_{run} {
    ops_.reserve(ops.size());
    for (auto& op : ops)
      ops_.push_back(std::move(op.op_));
  }

  bool await_ready() const noexcept { return ops_.empty(); }
  bool await_suspend(std::coroutine_handle<> waiter) {
    all_.reserve(ops_.size());
    for (auto& op : ops_)
      all_.push_back(&op);
    return run_.ask(all_.data(), all_.size(), waiter);
  }

protected:
  machine& run_;
  std::vector<Op> ops_;

private:
  std::vector<operation*> all_;
};

/// As `awaited_all`, for any number of one kind.
template <class Op>
class [[nodiscard]] awaited_list : public awaited_group<Op> {
public:
  using awaited_group<Op>::awaited_group;

  auto await_resume() {
    std::vector<detail::shown<detail::value_of_t<Op>>> results;
    results.reserve(this->ops_.size());
    for (auto& op : this->ops_)
      results.push_back(detail::result_of(this->run_, op));
    return results;
  }
};

/// What one of several came to.
template <class T>
struct outcome {
  std::optional<T> value;
  std::optional<failure> error;
};

/// The same, and a failure is a value.
template <class Op>
class [[nodiscard]] awaited_outcomes : public awaited_group<Op> {
public:
  using awaited_group<Op>::awaited_group;

  auto await_resume() {
    using value = detail::shown<detail::value_of_t<Op>>;
    std::vector<outcome<value>> results;
    results.reserve(this->ops_.size());
    for (auto& op : this->ops_) {
      if (const auto& failed = machine::failure_of(op))
        results.push_back({std::nullopt, *failed});
      else
        results.push_back({detail::result_of(this->run_, op), std::nullopt});
    }
    return results;
  }
};

/// Awaits the answer to one question to the world; an unreadable store fails the attempt.
template <class Answer>
class [[nodiscard]] awaited_outside {
public:
  awaited_outside(machine& run, outside_question what) : run_{run}, what_{std::move(what)} {}
  awaited_outside(const awaited_outside&) = delete;
  awaited_outside& operator=(const awaited_outside&) = delete;
  /// A frame that goes away with its question open takes the question along (P11).
  ~awaited_outside() { run_.forget_outside(wait_); }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    wait_.waiter = waiter;
    run_.ask_outside(wait_, std::move(what_));
  }
  Answer await_resume() {
    if (const auto* failed = std::get_if<error>(&*wait_.answer))
      throw std::runtime_error{to_text(*failed)};
    return std::get<Answer>(std::move(*wait_.answer));
  }

private:
  machine& run_;
  outside_question what_;
  outside_wait wait_;
};

class [[nodiscard]] awaited_recall {
public:
  awaited_recall(machine& run, std::optional<std::uint32_t> after) : run_{run}, after_{after} {}
  awaited_recall(const awaited_recall&) = delete;
  awaited_recall& operator=(const awaited_recall&) = delete;
  ~awaited_recall() { run_.recall_forget(); }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiter) {
    wait_.waiter = waiter;
    run_.recall_start(wait_, after_);
  }
  recalled_memo await_resume() { return std::move(*wait_.memo); }

private:
  machine& run_;
  std::optional<std::uint32_t> after_;
  recall_wait wait_;
};

class [[nodiscard]] awaited_version {
public:
  awaited_version(machine& run, std::string change, std::uint32_t newest)
    : run_{run}, change_{std::move(change)}, newest_{newest} {}

  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> waiter) {
    known_ = run_.version(change_, newest_, waiter);
    return !known_;
  }
  std::uint32_t await_resume() const { return known_ ? *known_ : run_.recorded_version(); }

private:
  machine& run_;
  std::string change_;
  std::uint32_t newest_;
  std::optional<std::uint32_t> known_;
};

} // namespace sluice
