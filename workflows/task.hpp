#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace sluice {

/// Told when a task that nobody awaits has ended. Must not destroy the task inside the call.
class completion {
public:
  virtual void completed() = 0;

protected:
  ~completion() = default;
};

namespace detail {

struct promise_base {
  std::coroutine_handle<> waiter;
  completion* observer = nullptr;
  std::exception_ptr failed;
  bool inside_start = false; ///< the starter is still on the stack and will look by itself

  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      auto& promise = self.promise();
      if (promise.inside_start) return;
      if (promise.waiter)
        promise.waiter.resume();
      else if (promise.observer != nullptr)
        promise.observer->completed();
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { failed = std::current_exception(); }
};

template <class T>
struct promise_of : promise_base {
  std::optional<T> value;

  template <class U>
  void return_value(U&& x) {
    value.emplace(std::forward<U>(x));
  }
  T take() {
    if (failed) std::rethrow_exception(failed);
    return std::move(*value);
  }
};

template <>
struct promise_of<void> : promise_base {
  void return_void() const noexcept {}
  void take() const {
    if (failed) std::rethrow_exception(failed);
  }
};

} // namespace detail

/// A lazy coroutine: begins when it is awaited or started, and owns its frame. Depth of the stack
/// is depth of nesting, never number of steps: an awaited task that ends at once lets its parent go
/// on without a call from within.
template <class T = void>
class [[nodiscard]] task {
public:
  struct promise_type : detail::promise_of<T> {
    task get_return_object() noexcept {
      return task{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
  };

  task() = default;
  task(task&& other) noexcept : frame_{std::exchange(other.frame_, {})} {}
  task& operator=(task&& other) noexcept {
    if (this != &other) {
      destroy();
      frame_ = std::exchange(other.frame_, {});
    }
    return *this;
  }
  ~task() { destroy(); }

  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(frame_); }
  [[nodiscard]] bool done() const noexcept { return frame_ && frame_.done(); }

  /// Runs until the first suspension. `observer` is told when it ends later than that.
  void start(completion* observer = nullptr) {
    auto& promise = frame_.promise();
    promise.observer = observer;
    promise.inside_start = true;
    frame_.resume();
    promise.inside_start = false;
  }

  /// The result of a task that is done; throws what it threw.
  T take() { return frame_.promise().take(); }

  auto operator co_await() && noexcept {
    struct awaiter {
      std::coroutine_handle<promise_type> child;
      bool await_ready() const noexcept { return false; }
      bool await_suspend(std::coroutine_handle<> parent) const {
        auto& promise = child.promise();
        promise.waiter = parent;
        promise.inside_start = true;
        child.resume();
        promise.inside_start = false;
        return !child.done();
      }
      T await_resume() const { return child.promise().take(); }
    };
    return awaiter{frame_};
  }

private:
  explicit task(std::coroutine_handle<promise_type> frame) noexcept : frame_{frame} {}
  void destroy() noexcept {
    if (frame_) std::exchange(frame_, {}).destroy();
  }

  std::coroutine_handle<promise_type> frame_;
};

} // namespace sluice
