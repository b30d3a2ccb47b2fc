#include "tests/simulation/flows.hpp"

#include "base/hash.hpp"
#include "workflows/context.hpp"
#include "workflows/errors.hpp"

#include <coroutine>
#include <stdexcept>

namespace sluice::simulation {

namespace {

/// One act of one run: what its work needs to know.
struct part {
  context& ctx;
  outside& o;
  const program& p;
  const act& a;
};

void pass_gate(const part& x, std::uint32_t tries) {
  if (tries >= x.a.fails) return;
  if (x.a.how == trouble::gate) throw wait_until{x.o.now() + x.a.time, "gate", slot_use::keep};
  if (x.a.how == trouble::gate_away)
    throw wait_until{x.o.now() + x.a.time, "gate", slot_use::give_back};
}

std::string compute(const part& x, const attempt& t) {
  const auto tries = x.o.tries(x.ctx.run().id, x.a.name, t.idempotency_key());
  pass_gate(x, tries);
  switch (x.a.how) {
  case trouble::error:
  case trouble::vanish:
    if (t.number() < x.a.fails) throw std::runtime_error{"trouble"};
    break;
  case trouble::later:
    if (t.number() < x.a.fails) throw retry_after{x.a.time, "later"};
    break;
  case trouble::final:
    throw non_retriable{"refused", "never"};
  case trouble::none:
  case trouble::gate:
  case trouble::gate_away:
    break;
  }
  return std::to_string(x.a.value);
}

/// The provider's script is in the URL: it fails so many requests, in this way.
task<std::string> call(part x, attempt t) {
  pass_gate(x, x.o.tries(x.ctx.run().id, x.a.name, t.idempotency_key()));
  http_request request;
  request.method = "POST";
  request.url = "http://provider/" + x.p.id + "/" + x.a.name
                + "?how=" + std::to_string(static_cast<unsigned>(x.a.how))
                + "&fails=" + std::to_string(x.a.fails);
  request.headers = {{"Idempotency-Key", t.idempotency_key()}};
  request.body = x.p.id + " " + x.a.name;
  outside::busy inside{x.o, x.p};
  http_response answer = co_await x.ctx.http(std::move(request));
  if (!answer.error.empty()) throw std::runtime_error{answer.error};
  if (answer.status == 400) throw non_retriable{"refused", "the provider refused"};
  if (answer.status == 429) throw retry_after{x.a.time, "the provider asks to wait"};
  if (answer.status != 200) throw std::runtime_error{"the provider failed"};
  co_return answer.body;
}

task<std::string> work(part x, attempt t) {
  if (x.a.kind == act_kind::call) co_return co_await call(x, t);
  if (x.a.kind == act_kind::poison) {
    x.o.dies(x.ctx.run().id);
    co_await std::suspend_always{};
  }
  co_return compute(x, t);
}

struct slow_work {
  part x;
  task<std::string> operator()(const attempt& t) const { return work(x, t); }
};

struct quick_work {
  part x;
  std::string operator()(const attempt& t) const { return compute(x, t); }
};

auto ask_step(const part& x) {
  return x.ctx.step(x.a.name, slow_work{x},
                    step_options{.retry = {}, .repeatable = x.a.kind != act_kind::once});
}

auto ask_wait(const part& x) {
  std::optional<duration> timeout;
  if (x.a.time != duration{}) timeout = x.a.time;
  return x.ctx.wait(x.a.name, go_kind, x.a.subject, timeout);
}

auto ask_send(const part& x) {
  return x.ctx.send(x.a.name, {{go_kind, x.a.subject, json::quoted(x.p.id + "/" + x.a.name)}});
}

auto ask_child(const part& x) {
  const auto& child = x.a.child.front();
  return x.ctx.invoke<program_result>(x.a.name, child.flow, child);
}

std::string event_value(const std::optional<event>& e) {
  return e ? e->data : "none";
}

/// One run of one program.
class interpreter {
public:
  interpreter(context& ctx, outside& o, const program& p) : ctx_{ctx}, o_{o}, p_{p} {}

  task<program_result> run() {
    program_result r{p_.id, {}};
    o_.begins(ctx_.run(), p_);
    for (const auto& a : p_.acts) {
      try {
        co_await perform(a, r);
      } catch (const step_failed& failed) {
        o_.gave_up(ctx_.run(), failed.why().step, failed.why().code, ctx_.now());
        if (!a.tolerate) throw;
        r.said.push_back(a.name + "!" + failed.why().code);
      }
      o_.drew(ctx_.run(), a.name, ctx_.random());
    }
    co_return r;
  }

private:
  part on(const act& a) { return {ctx_, o_, p_, a}; }

  void saw(const act& a, const std::string& value, program_result& r) {
    o_.went_on(ctx_.run(), a.name, json::quoted(value), ctx_.now());
    r.said.push_back(said_of(a, value));
  }
  void saw_child(const act& a, const program_result& value, program_result& r) {
    const auto text = json::encode(value);
    o_.went_on(ctx_.run(), a.name, text, ctx_.now());
    r.said.push_back(said_of(a, text));
  }
  void passed(const act& a) { o_.went_on(ctx_.run(), a.name, "null", ctx_.now()); }
  void saw_event(const act& a, const std::optional<event>& e, program_result& r) {
    o_.waited(ctx_.run(), a.name, e, ctx_.now());
    r.said.push_back(said_of(a, event_value(e)));
  }

  task<void> perform(const act& a, program_result& r) {
    switch (a.kind) {
    case act_kind::add: {
      const auto value = co_await ctx_.step(a.name, quick_work{on(a)});
      saw(a, value, r);
      break;
    }
    case act_kind::call:
    case act_kind::once: {
      const auto value = co_await ask_step(on(a));
      saw(a, value, r);
      break;
    }
    case act_kind::poison:
      co_await ask_step(on(a));
      break;
    case act_kind::sleep:
      co_await ctx_.sleep(a.name, a.time);
      passed(a);
      break;
    case act_kind::send:
      co_await ask_send(on(a));
      passed(a);
      break;
    case act_kind::wait: {
      const auto e = co_await ask_wait(on(a));
      saw_event(a, e, r);
      break;
    }
    case act_kind::invoke: {
      const auto value = co_await ask_child(on(a));
      saw_child(a, value, r);
      break;
    }
    case act_kind::all:
      co_await perform_all(a.parts, r);
      break;
    case act_kind::version: {
      const auto side = co_await ctx_.version(a.name, 2);
      r.said.push_back(said_of(a, std::to_string(side)));
      break;
    }
    }
  }

  task<void> perform_all(const std::vector<act>& parts, program_result& r) {
    const bool waits = parts.back().kind == act_kind::wait;
    const bool children = parts.back().kind == act_kind::invoke;
    if (parts.back().kind == act_kind::send) {
      auto [value, slept, e, sent] =
        co_await ctx_.all(ask_step(on(parts[0])), ctx_.sleep(parts[1].name, parts[1].time),
                          ask_wait(on(parts[2])), ask_send(on(parts[3])));
      saw(parts[0], value, r);
      passed(parts[1]);
      saw_event(parts[2], e, r);
      passed(parts[3]);
    } else if (waits) {
      std::vector<decltype(ask_wait(on(parts[0])))> asked;
      for (const auto& a : parts)
        asked.push_back(ask_wait(on(a)));
      const auto events = co_await ctx_.all(std::move(asked));
      for (std::size_t i = 0; i < parts.size(); ++i)
        saw_event(parts[i], events[i], r);
    } else if (children) {
      std::vector<decltype(ask_child(on(parts[0])))> asked;
      for (const auto& a : parts)
        asked.push_back(ask_child(on(a)));
      const auto values = co_await ctx_.all(std::move(asked));
      for (std::size_t i = 0; i < parts.size(); ++i)
        saw_child(parts[i], values[i], r);
    } else {
      std::vector<decltype(ask_step(on(parts[0])))> asked;
      for (const auto& a : parts)
        asked.push_back(ask_step(on(a)));
      const auto values = co_await ctx_.all(std::move(asked));
      for (std::size_t i = 0; i < parts.size(); ++i)
        saw(parts[i], values[i], r);
    }
  }

  context& ctx_;
  outside& o_;
  const program& p_;
};

task<program_result> interpret(context& ctx, program p, outside& o) {
  interpreter i{ctx, o, p};
  co_return co_await i.run();
}

task<void> after_failure(context& ctx, program p, run_end how) {
  auto memo = co_await ctx.recall();
  auto clean = [&](const attempt& t) {
    if (t.number() == 0 && hash64(p.id) % 2 == 0) throw std::runtime_error{"not yet"};
    return memo.steps.size();
  };
  co_await ctx.step("clean-up", clean);
  co_await ctx.send("tell", {{failed_kind, p.id, json::quoted(how.error.code)}});
}

} // namespace

void add_flows(catalog& flows, outside& o) {
  auto body = [&o](context& ctx, program p) -> task<program_result> {
    return interpret(ctx, std::move(p), o);
  };
  auto key = [](const program& p) { return p.key; };
  flows.add(flow::plain, body);
  flows.add(flow::limited, body).limit(limited_per_key, key).limit(limited_in_all);
  flows.add(flow::throttled, body).throttle(throttled_starts, throttled_period);
  flows.add(flow::guarded, body)
    .cancel_on(stop_kind, [](const program& p) { return p.id; })
    .finish_within(guarded_time)
    .on_failure(after_failure);
  flows.add(flow::apart, body).own_actor("sim-worker").limit(2);
}

} // namespace sluice::simulation
