#include "workflows/examples.hpp"

#include "workflows/context.hpp"
#include "workflows/errors.hpp"

namespace sluice {

namespace {

struct counted_note {
  std::uint64_t sum = 0;
  std::string note;
};

template <class Fields>
void describe(Fields& f, counted_note& x) {
  f("sum", x.sum);
  f("note", x.note);
}

struct call_body {
  uuid run;
  std::string step;
  std::string label;
  std::string key;
};

template <class Fields>
void describe(Fields& f, call_body& x) {
  f("run", x.run);
  f("step", x.step);
  f("label", x.label);
  f("key", x.key);
}

task<std::uint32_t> call_once(context& ctx, std::string url, std::string label, attempt a) {
  http_request request;
  request.method = "POST";
  request.url = std::move(url);
  request.headers = {{"Content-Type", "application/json"},
                     {"Idempotency-Key", a.idempotency_key()}};
  request.body = json::encode(
    call_body{ctx.run().id.value, std::string{a.step()}, std::move(label), a.idempotency_key()});
  http_response answer = co_await ctx.http(std::move(request));
  if (!answer.error.empty()) throw std::runtime_error{answer.error};
  if (answer.status == 400 || answer.status == 404)
    throw non_retriable{"refused", "the receiver answered " + std::to_string(answer.status)};
  if (answer.status >= 300)
    throw std::runtime_error{"the receiver answered " + std::to_string(answer.status)};
  co_return static_cast<std::uint32_t>(answer.status);
}

task<void> order_failed(context& ctx, order_input in, run_end how) {
  auto release = [&] { return "released " + in.order; };
  co_await ctx.step("release-stock", release);
  co_await ctx.send("tell-failed", {{"order.failed", in.order, json::encode(how.error)}});
}

} // namespace

task<counter_result> example_counter(context& ctx, counter_input in) {
  counter_result total;
  for (std::uint32_t n = 1; n <= in.steps; ++n) {
    auto add = [&] { return counted_note{total.sum + n, std::string(in.note_bytes, '.')}; };
    counted_note added = co_await ctx.step("add-" + std::to_string(n), add);
    total.sum = added.sum;
    total.steps = n;
    if (in.pause_ms != 0) co_await ctx.sleep("pause-" + std::to_string(n), duration{in.pause_ms});
  }
  co_return total;
}

task<order_result> example_order(context& ctx, order_input in) {
  auto check = [&] {
    if (in.order.empty()) throw non_retriable{"bad_input", "an order needs a name"};
    return in.items;
  };
  co_await ctx.step("check-order", check);

  auto stock = [&] { return "stock for " + in.order; };
  auto credit = [&] { return in.items * 10; };
  auto [reserved, price] =
    co_await ctx.all(ctx.step("reserve-stock", stock), ctx.step("reserve-credit", credit));

  order_result result;
  auto approval =
    co_await ctx.wait("await-approval", "order.approved", in.order, in.approval_timeout);
  if (!approval) co_return result;

  auto packed =
    co_await ctx.invoke<counter_result>("pack", "example.counter", counter_input{in.items, 0, 0});
  result.approved = true;
  result.parcel = reserved + ", " + std::to_string(price) + " credits, "
                  + std::to_string(packed.steps) + " items";
  co_await ctx.send("tell-shipped", {{"order.shipped", in.order, json::encode(result)}});
  co_return result;
}

task<calls_result> example_calls(context& ctx, calls_input in, std::string url) {
  calls_result total;
  for (std::uint32_t n = 1; n <= in.calls; ++n) {
    auto call = [&](const attempt& a) {
      if (url.empty())
        throw non_retriable{"bad_input", "example.url is not set in the node's config"};
      return call_once(ctx, url, in.label, a);
    };
    co_await ctx.step("call-" + std::to_string(n), call);
    total.calls = n;
  }
  co_return total;
}

void add_examples(catalog& flows, std::string calls_url) {
  flows.add("example.counter", example_counter);
  flows.add("example.order", example_order)
    .limit(100)
    .cancel_on("order.withdrawn", [](const order_input& in) { return in.order; })
    .finish_within(std::chrono::hours{24})
    .on_failure(order_failed);
  flows.add("example.calls", [calls_url](context& ctx, calls_input in) -> task<calls_result> {
    return example_calls(ctx, std::move(in), calls_url);
  });
}

} // namespace sluice
