#include "app/node.hpp"
#include "storage/memory_store.hpp"
#include "workflows/examples.hpp"

#include <caf/send.hpp>

#include <catch2/catch.hpp>

#include <future>

using namespace sluice;

TEST_CASE("fail stop: an actor of the core that dies is told once, by name (F22)") {
  catalog flows;
  add_examples(flows, {});
  memory_store store;
  const auto grant = store.open();
  REQUIRE(grant);
  std::promise<std::string> told;
  auto why = told.get_future();
  node n{{{}, start_engine_clock(), &store, *grant, &flows, [&](std::string text) {
            told.set_value(std::move(text));
          }}};
  REQUIRE(n.recover());
  caf::anon_send_exit(n.core().admission, caf::exit_reason::kill);
  REQUIRE(why.wait_for(std::chrono::seconds{10}) == std::future_status::ready);
  CHECK(why.get().starts_with("admission: "));
}
