#include "app/event_reader.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

TEST_CASE("event reader: events come in whatever pieces") {
  const std::string text = ": hello\n\nevent: progress\ndata: {\"a\":1}\n\n"
                           "event: log\r\ndata: one\r\ndata: two\r\nid: 7\r\n\r\n"
                           "data:plain\n\nevent: nothing\n\n";
  const std::vector<told_event> all{{"progress", R"({"a":1})"}, {"log", "one\ntwo"}, {"", "plain"}};
  for (std::size_t size = 1; size <= text.size(); ++size) {
    event_reader reader;
    std::vector<told_event> heard;
    for (std::size_t at = 0; at < text.size(); at += size) {
      for (auto& e : reader.take(std::string_view{text}.substr(at, size)))
        heard.push_back(std::move(e));
    }
    CAPTURE(size);
    CHECK(heard == all);
  }
}

TEST_CASE("event reader: an event that was cut off is none") {
  event_reader reader;
  CHECK(reader.take("event: progress\ndata: {\"a\"").empty());
  CHECK(reader.take(":1}\n").empty());
  CHECK(reader.take("\n") == std::vector<told_event>{{"progress", R"({"a":1})"}});
}
