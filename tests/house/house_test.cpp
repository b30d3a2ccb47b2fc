#include "house.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace house;

namespace {

findings includes(const std::string& path, const std::string& line) {
  return check_includes({path, line + "\n"});
}

findings calls(const std::string& path, const std::string& line) {
  return check_calls({path, line + "\n"});
}

} // namespace

TEST_CASE("house: a folder includes only what its row says") {
  CHECK(includes("rules/retry.cpp", "#include \"base/time.hpp\"").empty());
  CHECK(includes("rules/retry.cpp", "#include \"rules/retry.hpp\"").empty());
  CHECK(includes("rules/retry.cpp", "#include \"storage/store.hpp\"")
        == findings{"rules/retry.cpp:1: rules may not include storage"});
  CHECK(includes("base/json.cpp", "  #  include \"messages/run.hpp\"").size() == 1);
  CHECK(includes("http/server.cpp", "#include \"messages/http.hpp\"").empty());
  CHECK(includes("http/server.cpp", "#include \"rules/bucket.hpp\"").size() == 1);
  CHECK(includes("workflows/task.hpp", "#include \"storage/store.hpp\"").size() == 1);
  CHECK(includes("api/routes.cpp", "#include \"actors/journal.hpp\"").size() == 1);
  CHECK(includes("actors/journal.cpp", "#include \"storage/store.hpp\"").empty());
  CHECK(includes("actors/journal.cpp", "#include \"config/settings.hpp\"").size() == 1);
  CHECK(includes("app/main.cpp", "#include \"bench/commit.hpp\"").empty());
  CHECK(includes("tests/app/node_test.cpp", "#include \"app/node.hpp\"").empty());
}

TEST_CASE("house: nothing includes tests, and app and bench are the end of the line") {
  for (const char* path : {"base/x.cpp", "actors/x.cpp", "app/x.cpp", "bench/x.cpp"})
    CHECK(includes(path, "#include \"tests/support/world.hpp\"").size() == 1);
  CHECK(includes("actors/x.cpp", "#include \"app/node.hpp\"").size() == 1);
  CHECK(includes("storage/x.cpp", "#include \"bench/commit.hpp\"").size() == 1);
}

TEST_CASE("house: a new folder has no row until somebody writes one") {
  CHECK(includes("plugins/x.cpp", "#include \"base/time.hpp\"").size() == 1);
}

TEST_CASE("house: every library has one home") {
  struct sample {
    const char* header;
    const char* home;
    const char* elsewhere;
  };
  for (const auto& s :
       {sample{"curl/curl.h", "http/curl_loop.cpp", "http/server.cpp"},
        sample{"curl/curl.h", "bench/loop.cpp", "actors/http_client.cpp"},
        sample{"simdjson.h", "base/json.cpp", "base/log.cpp"},
        sample{"simdjson.h", "connectors/items.cpp", "connectors/github.cpp"},
        sample{"lmdb.h", "storage/lmdb_store.cpp", "storage/keys.cpp"},
        sample{"toml++/toml.h", "config/load.cpp", "config/settings.hpp"},
        sample{"spdlog/async.h", "base/log.cpp", "base/log.hpp"},
        sample{"CLI/CLI.hpp", "app/main.cpp", "bench/commit.cpp"},
        sample{"boost/asio/post.hpp", "http/server.cpp", "api/routes.cpp"},
        sample{"caf/actor_system.hpp", "actors/supervisor.cpp", "messages/run.hpp"},
        sample{"caf/error.hpp", "base/error.hpp", "rules/retry.hpp"},
        sample{"catch2/catch.hpp", "tests/rules/wake_test.cpp", "rules/wake.cpp"}}) {
    INFO(s.header);
    const auto line = "#include <" + std::string{s.header} + ">";
    CHECK(includes(s.home, line).empty());
    CHECK(includes(s.elsewhere, line).size() == 1);
  }
  CHECK(includes("actors/journal.cpp", "#include <caf/all.hpp>").size() == 1);
  CHECK(includes("rules/wake.cpp", "#include <chrono>").empty());
}

TEST_CASE("house: clock, chance, environment and sleep are passed in (I20)") {
  for (const char* line :
       {"auto t = std::chrono::system_clock::now();", "auto t = steady_clock :: now ();",
        "auto t = clock_type::now();", "srand(1);", "return std::rand();", "std::random_device d;",
        "auto p = std::getenv(\"HOME\");", "std::this_thread::sleep_for(1s);",
        "auto t = time(nullptr);"}) {
    INFO(line);
    CHECK(calls("actors/journal.cpp", line).size() == 1);
    CHECK(calls("tests/live/node_test.cpp", line).empty());
    CHECK(calls("bench/commit.cpp", line).empty());
  }
  CHECK(calls("base/clock.cpp", "std::chrono::system_clock::now();").empty());
  CHECK(calls("base/clock.cpp", "std::getenv(\"TZ\");").size() == 1);
  for (const char* line :
       {"auto t = engine.now(steady);", "bool operand(int);", "// system_clock::now()",
        "log::info(\"rand(3)\");", "ctx.random();", "at(now)", "co_await ctx.sleep(\"a\", 1h);",
        "auto brand_new = 1'000'000;"}) {
    INFO(line);
    CHECK(calls("actors/journal.cpp", line).empty());
  }
}

TEST_CASE("house: comments and quotes are not code") {
  CHECK(code_only("a // b\nc /* d\ne */ f \"g \\\" h\" i 'j' k") == "a \nc \n f  i  k");
  CHECK(code_only("R\"(x \" y)\" z") == " z");
  CHECK(code_only("1'000'000 + x") == "1'000'000 + x");
  CHECK(code_only("R\"sql(a)\" b)sql\" c") == " c");
  CHECK(code_only("'\\'' + '\"' + x") == " +  + x");
  CHECK(code_only("/*" + std::string(1'000'000, 'x')).empty());
}

TEST_CASE("house: a source has at most 450 lines") {
  CHECK(check_length({"base/a.cpp", std::string(450, '\n')}).empty());
  CHECK(check_length({"base/a.cpp", std::string(451, '\n')}).size() == 1);
  CHECK(check_length({"docs/a.md", std::string(451, '\n')}).empty());
}

TEST_CASE("house: no file knows the machine it was written on") {
  const std::string work = std::string{"/"} + "work";
  const std::string root = std::string{"/"} + "root";
  for (const auto& line : {"cd " + work + "/main", "\"" + work + "\"", root + "/.cache",
                           "see " + root + ".", "PATH=" + root, std::string{"/"} + "home/me/x"}) {
    INFO(line);
    CHECK(check_places({"scripts/x.sh", line}).size() == 1);
  }
  for (const auto& line : {work + "flows", "a" + work + "/b", "GET " + work + "-items",
                           "//" + std::string{"x"}, "github.com" + root + "/x"}) {
    INFO(line);
    CHECK(check_places({"scripts/x.sh", line}).empty());
  }
  CHECK(check_places({"scripts/x.sh", "curl http://deb.debian" + std::string{".org/debian"}}).size()
        == 1);
}

TEST_CASE("house: each folder with code has a README") {
  CHECK(check_readmes({{"base/a.cpp", ""}, {"base/README.md", ""}, {"docs/a.md", ""}}).empty());
  CHECK(check_readmes({{"base/a.cpp", ""}}) == findings{"base has code and no README.md"});
  CHECK(check_readmes({{"console/web/main.tsx", ""}, {"console/web/README.md", ""}}).size() == 1);
}

TEST_CASE("house: each decision is in the list") {
  const source_file page{"docs/decisions/0001-a.md", ""};
  CHECK(
    check_decisions({page, {"docs/decisions/README.md", "| [0001](0001-a.md) | why |"}}).empty());
  CHECK(check_decisions({page, {"docs/decisions/README.md", "| 0001 |"}}).size() == 1);
  CHECK(check_decisions({page}).size() == 1);
}

TEST_CASE("house: the binary defines none of CAF's option states") {
  CHECK(check_symbols("0000 T main\n0000 V _ZTI3foo\n").empty());
  CHECK(check_symbols("0 T main\n0 u _ZN3caf26option_meta_state_instanceIbE\n").size() == 1);
}
