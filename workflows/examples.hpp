#pragma once

#include "base/time.hpp"
#include "workflows/catalog.hpp"

#include <cstdint>
#include <string>

/// Small workflows that newcomers read, the demo shows and the benchmarks load.
namespace sluice {

/// Input of `example.counter`: so many steps, each adds its number to the sum.
struct counter_input {
  std::uint32_t steps = 5;
  std::uint32_t pause_ms = 0;   ///< durable sleep after each step
  std::uint32_t note_bytes = 0; ///< each result carries a note of this size
};

template <class Fields>
void describe(Fields& f, counter_input& x) {
  f("steps", x.steps);
  f("pauseMs", x.pause_ms);
  f("noteBytes", x.note_bytes);
}

struct counter_result {
  std::uint64_t sum = 0;
  std::uint32_t steps = 0;
};

template <class Fields>
void describe(Fields& f, counter_result& x) {
  f("sum", x.sum);
  f("steps", x.steps);
}

/// Input of `example.order`: reserves, asks for approval by an event, ships, tells.
struct order_input {
  std::string order;
  std::uint32_t items = 1;
  duration approval_timeout{60'000};
};

template <class Fields>
void describe(Fields& f, order_input& x) {
  f("order", x.order);
  f("items", x.items);
  f("approvalTimeoutMs", x.approval_timeout);
}

struct order_result {
  bool approved = false;
  std::string parcel;
};

template <class Fields>
void describe(Fields& f, order_result& x) {
  f("approved", x.approved);
  f("parcel", x.parcel);
}

/// Input of `example.calls`: one POST per step, one after the other, to the configured URL.
struct calls_input {
  std::uint32_t calls = 3;
  std::string label;
};

template <class Fields>
void describe(Fields& f, calls_input& x) {
  f("calls", x.calls);
  f("label", x.label);
}

struct calls_result {
  std::uint32_t calls = 0;
};

template <class Fields>
void describe(Fields& f, calls_result& x) {
  f("calls", x.calls);
}

task<counter_result> example_counter(context& ctx, counter_input in);
task<order_result> example_order(context& ctx, order_input in);
/// `url` is the operator's (config: `example.url`): the body names run, step and key.
task<calls_result> example_calls(context& ctx, calls_input in, std::string url);

void add_examples(catalog& flows, std::string calls_url);

} // namespace sluice
