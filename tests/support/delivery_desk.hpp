#pragma once

#include "tests/support/story.hpp"
#include "workflows/examples.hpp"

#include <caf/typed_event_based_actor.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sluice::test {

/// A world whose network is a gateway that keeps a book, and somebody who sends it pages.
struct delivery_desk {
  struct arrival {
    std::string id;
    timestamp at{};
    http_request request;
  };
  /// What the gateway's sink was told.
  struct told {
    std::map<token, page_delivered> delivered;
    std::vector<delivery_stalled> stalls;
  };

  catalog flows;
  std::unique_ptr<world> w;
  std::shared_ptr<told> heard = std::make_shared<told>();
  delivery_sink sink;
  run_id run; ///< one that lives: pages are of runs

  std::vector<arrival> arrivals; ///< when they were sent
  std::map<std::string, int> answered;
  std::size_t open = 0;
  std::size_t open_most = 0;
  duration delay{20};
  /// The status for the n-th answer to an event, from 1; 0: the answer is lost.
  std::function<int(const std::string& id, int n)> status = [](const auto&, int) { return 202; };
  std::string retry_after;

  static world_options with_gateway(world_options o = {}) {
    o.gateway.access.url = "http://gateway.test/hooks";
    o.gateway.access.api_key = secret{"k-123"};
    o.gates.gateway = o.gateway.access;
    return o;
  }

  explicit delivery_desk(world_options o = with_gateway()) {
    add_examples(flows, {});
    w = std::make_unique<world>(flows, std::move(o));
    w->latency = [this](const http_request& r) {
      arrivals.push_back({id_in(r.body), w->now(), r});
      open_most = std::max(open_most, ++open);
      return delay;
    };
    w->network = [this](const http_request& r) {
      --open;
      return answer(r);
    };
    boot();
  }
  ~delivery_desk() {
    caf::anon_send_exit(sink, caf::exit_reason::kill);
    w.reset(); // before what its network refers to
  }
  delivery_desk(const delivery_desk&) = delete;
  delivery_desk& operator=(const delivery_desk&) = delete;

  void boot() {
    REQUIRE(w->boot());
    auto started = w->start("example.order", R"({"order":"o","approvalTimeoutMs":360000000})", "k");
    REQUIRE(started);
    run = started->run;
    if (sink) return;
    sink =
      w->system().spawn([into = heard](delivery_sink::pointer) -> delivery_sink::behavior_type {
        return {[into](page_delivered& m) { into->delivered[m.id] = std::move(m); },
                [into](delivery_stalled& m) { into->stalls.push_back(std::move(m)); }};
      });
  }

  static std::string id_in(const std::string& body) {
    const auto from = body.find("\"deliveryId\":\"") + 14;
    return body.substr(from, body.find('"', from) - from);
  }

  http_response answer(const http_request& r) {
    const auto id = id_in(r.body);
    http_response response;
    response.status = status(id, ++answered[id]);
    if (response.status == 0) response.error = "the connection was reset";
    if (!retry_after.empty()) response.headers.push_back({"Retry-After", retry_after});
    return response;
  }

  /// Page `number` with `events` events, named after tenant, page and place: `a/1/0` …
  [[nodiscard]] std::shared_ptr<page_parcels> page(std::uint32_t number, std::size_t events,
                                                   const std::string& tenant = "a") const {
    auto p = std::make_shared<page_parcels>();
    p->run = run;
    p->tenant = tenant;
    p->provider = "github";
    p->unit = tenant + "~issue";
    p->page = number;
    for (std::size_t i = 0; i < events; ++i) {
      auto id = tenant + "/" + std::to_string(number) + "/" + std::to_string(i);
      p->items.push_back({id, R"({"deliveryId":")" + id + R"(","payload":{},"receivedAt":)"});
    }
    return p;
  }

  void send(token id, std::shared_ptr<page_parcels> p) {
    w->tell(w->core().gateway, deliver_page{sink, id, std::move(p)});
  }
  void call_off(token id) { w->tell(w->core().gateway, abort_delivery{sink, id}); }

  bool pass_until_delivered(token id, duration at_most = std::chrono::minutes{30}) {
    return w->pass_until([&] { return heard->delivered.contains(id); }, at_most);
  }
  [[nodiscard]] std::size_t calls() const { return arrivals.size(); }
  [[nodiscard]] std::size_t calls_of(const std::string& id) const {
    return static_cast<std::size_t>(std::ranges::count(arrivals, id, &arrival::id));
  }
  [[nodiscard]] std::string card() const {
    for (auto& c : w->cards())
      if (c.kind == "gateway") return c.state + "; " + c.waits_for;
    return {};
  }
  /// The bitmaps that are durable, by page.
  [[nodiscard]] std::map<std::uint32_t, std::string> marks() const {
    std::map<std::uint32_t, std::string> all;
    for (const auto& [seq, record] : w->disk->log)
      if (const auto* m = std::get_if<put_marks>(&record.what)) all[m->page] = m->bitmap;
    return all;
  }
  [[nodiscard]] std::size_t commits_with_marks() const {
    std::size_t commits = 0;
    bool counted = false;
    for (const auto& [seq, record] : w->disk->log) {
      if (std::holds_alternative<codec::batch_record>(record.what)) counted = false;
      if (!std::holds_alternative<put_marks>(record.what) || std::exchange(counted, true)) continue;
      ++commits;
    }
    return commits;
  }
};

inline std::size_t bits_in(const std::string& bitmap) {
  std::size_t n = 0;
  for (std::uint32_t i = 0; i < bitmap.size() * 8; ++i)
    n += has_bit(bitmap, i) ? 1 : 0;
  return n;
}

} // namespace sluice::test
