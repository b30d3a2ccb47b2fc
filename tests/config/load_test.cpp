#include "config/load.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>

using namespace sluice;
using namespace std::chrono_literals;

namespace {

using variables = std::map<std::string, std::string>;

environment to_environment(variables set) {
  return [set = std::move(set)](const std::string& name) -> std::optional<std::string> {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional{found->second};
  };
}

/// Runs inside a folder of its own, so that errors name a short file.
struct config_file {
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::path folder =
    std::filesystem::temp_directory_path() / ("sluice-config-" + std::to_string(::getpid()));

  explicit config_file(const std::string& text) {
    std::filesystem::create_directory(folder);
    std::filesystem::current_path(folder);
    std::ofstream{"node.toml"} << text;
  }
  config_file(const config_file&) = delete;
  config_file& operator=(const config_file&) = delete;
  ~config_file() {
    std::filesystem::current_path(before);
    std::filesystem::remove_all(folder);
  }
};

result<settings> load(const std::string& toml, variables set = {}, overrides flags = {}) {
  const config_file file{toml};
  return load_settings(
    {.file = "node.toml", .env = to_environment(std::move(set)), .flags = std::move(flags)});
}

settings loaded(const std::string& toml, variables set = {}, overrides flags = {}) {
  auto s = load(toml, std::move(set), std::move(flags));
  if (!s) FAIL(to_text(s.error()));
  return *s;
}

std::string problems(const std::string& toml, variables set = {}, overrides flags = {}) {
  auto s = load(toml, std::move(set), std::move(flags));
  REQUIRE_FALSE(s);
  CHECK(code_of(s.error()) == errc::bad_input);
  return detail_of(s.error());
}

} // namespace

TEST_CASE("load: without a file there are the defaults") {
  auto s = load_settings({});
  REQUIRE(s);
  CHECK(*s == settings{});
  CHECK(s->listen == "127.0.0.1:8090");
  CHECK(s->storage.map_size == 1'099'511'627'776);
  CHECK(s->storage.retention == 720h);
}

TEST_CASE("load: a file that is named must be there") {
  for (const auto* name : {"no-such-file.toml", "/"}) {
    auto s = load_settings({.file = name, .env = to_environment({}), .flags = {}});
    REQUIRE_FALSE(s);
    CHECK(code_of(s.error()) == errc::not_found);
    CHECK(detail_of(s.error()).find(name) != std::string::npos);
  }
  CHECK(loaded("") == settings{});
}

TEST_CASE("load: every kind of value is read") {
  const auto s = loaded("listen = '[::1]:0'\n"
                        "[node]\nname = 'n2'\nhosts = 4\n"
                        "[storage]\nreserve = '1GiB'\nretention = '2h'\n"
                        "[steps]\nfactor = 1.5\n"
                        "[log]\nlevel = 'debug'\nformat = 'json'\n"
                        "[example]\nurl = 'http://127.0.0.1:9/x'\n");
  settings expected;
  expected.listen = "[::1]:0";
  expected.node.name = "n2";
  expected.node.hosts = 4;
  expected.storage.reserve = 1'073'741'824;
  expected.storage.retention = 2h;
  expected.steps.factor = 1.5;
  expected.log.level = log::level::debug;
  expected.log.format = log::format::json;
  expected.example.url = "http://127.0.0.1:9/x";
  CHECK(s == expected);
  CHECK(loaded("steps.factor = 3").steps.factor == 3.0);
}

TEST_CASE("load: flag before environment before file before default") {
  const std::string toml = "data = 'from-file'\nlisten = '127.0.0.1:1'\n[node]\nhosts = 3\n";
  CHECK(loaded(toml).data == "from-file");
  CHECK(loaded(toml, {{"SLUICE_DATA", "from-env"}}).data == "from-env");
  CHECK(loaded(toml, {{"SLUICE_DATA", "from-env"}}, {.listen = {}, .data = "from-flag"}).data
        == "from-flag");
  CHECK(loaded(toml, {{"SLUICE_DATA", ""}}).data == "from-file");
  CHECK(loaded(toml, {{"SLUICE_NODE_HOSTS", "7"}}).node.hosts == 7);
  CHECK(loaded(toml, {{"SLUICE_NODE", "x"}, {"SLUICE_CLUSTER_URL", "y"}}).node.hosts == 3);
  CHECK(
    loaded(toml, {{"SLUICE_LISTEN", "127.0.0.1:2"}}, {.listen = "127.0.0.1:3", .data = {}}).listen
    == "127.0.0.1:3");
  CHECK(loaded("", {{"SLUICE_STEPS_FACTOR", "1.25"}}).steps.factor == 1.25);
  CHECK(loaded("", {{"SLUICE_STORAGE_RETENTION", "1d"}}).storage.retention == 24h);
}

TEST_CASE("load: a wrong type names file, line, column and key") {
  CHECK(problems("[node]\nhosts = 'two'\n")
        == "node.toml:2:9: 'node.hosts' must be a whole number, got string \"two\"");
  CHECK(problems("[node]\nhosts = 2.0\n")
        == "node.toml:2:9: 'node.hosts' must be a whole number, got floating-point");
  CHECK(problems("[node]\nhosts = true\n")
        == "node.toml:2:9: 'node.hosts' must be a whole number, got boolean");
  CHECK(problems("listen = 8090\n") == "node.toml:1:10: 'listen' must be a string, got integer");
  CHECK(problems("[client]\ntimeout = 30\n")
        == "node.toml:2:11: 'client.timeout' must be a duration such as \"250ms\", \"30s\", "
           "\"5m\", \"2h\""
           " or \"30d\", got integer");
  CHECK(
    problems("[storage]\nreserve = '64 MB'\n")
    == "node.toml:2:11: 'storage.reserve' must be a size such as \"64KiB\", \"16MiB\" or \"1GiB\","
       " got string \"64 MB\"");
  CHECK(
    problems("[log]\nlevel = 'loud'\n")
    == "node.toml:2:9: 'log.level' must be one of \"debug\" \"info\" \"warning\" \"error\" \"off\","
       " got string \"loud\"");
  CHECK(problems("node = 5\n") == "node.toml:1:8: 'node' must be a section, got integer");
}

TEST_CASE("load: a value outside its limits is refused") {
  CHECK(problems("[node]\nhosts = 0\n")
        == "node.toml:2:9: 'node.hosts' must be between 1 and 256, got 0");
  CHECK(problems("[node]\nhosts = -1\n").find("must be a whole number") != std::string::npos);
  CHECK(problems("[node]\nhosts = 4294967298\n").find("between 1 and 256") != std::string::npos);
  CHECK(problems("[steps]\nfactor = nan\n").find("must be between 1 and 100") != std::string::npos);
  CHECK(problems("[client]\ntimeout = '0s'\n")
        == "node.toml:2:11: 'client.timeout' must be between 10ms and 1d, got 0ms");
  CHECK(problems("[server]\nheader_bytes_max = '2MiB'\n").find("between 1KiB and 1MiB, got 2MiB")
        != std::string::npos);
  CHECK(problems("data = ''\n") == "node.toml:1:8: 'data' must not be empty");
  CHECK(problems("[example]\nurl = 'ftp://x'\n").find("http://") != std::string::npos);
  CHECK(problems("[node]\nname = 'two words'\n").find("two words") != std::string::npos);
  CHECK(problems("[client]\nuser_agent = \"a\\r\\nX: y\"\n").find("printable")
        != std::string::npos);
}

TEST_CASE("load: settings that contradict each other are refused") {
  CHECK(problems("[steps]\ninitial = '1m'\n")
        == "'steps.initial' must not be more than 'steps.max'");
  CHECK(problems("[client]\nconnections_max = 5\n").find("'client.per_host_max'")
        != std::string::npos);
}

TEST_CASE("load: only loopback is listened on, whoever asks for more (S1)") {
  CHECK(
    problems("listen = '0.0.0.0:80'\n").find("node.toml:1:10: 'listen' must be a loopback address")
    == 0);
  CHECK(problems("", {{"SLUICE_LISTEN", "0.0.0.0:80"}}).find("SLUICE_LISTEN: must be a loopback")
        == 0);
  CHECK(problems("", {}, {.listen = "0.0.0.0:80", .data = {}}).find("--listen: must be a loopback")
        == 0);
}

TEST_CASE("load: unknown keys are errors and say what was meant") {
  CHECK(problems("[client]\ntiemout = '1s'\n")
        == "node.toml:2:1: unknown key 'client.tiemout'; did you mean 'client.timeout'?");
  CHECK(problems("[clinet]\ntimeout = '1s'\n")
        == "node.toml:1:2: unknown section 'clinet'; did you mean 'client'?");
  CHECK(problems("colour = 1\n") == "node.toml:1:1: unknown key 'colour'");
  CHECK(problems("map_size = '1GiB'\n")
        == "node.toml:1:1: unknown key 'map_size'; did you mean 'storage.map_size'?");
  CHECK(problems("\"node.name\" = 'x'\n").find("unknown key '\"node.name\"'") != std::string::npos);
  CHECK(problems("[node.name]\nx = 1\n").find("'node.name' must be a string, got table")
        != std::string::npos);
}

TEST_CASE("load: what is no TOML names its place") {
  CHECK(problems("listen = \n").find("node.toml:1:") == 0);
  CHECK(problems("a = 1\na = 2\n").find("node.toml:2:") == 0);
}

TEST_CASE("load: all problems are told at once") {
  CHECK(problems("listen = 1\n[node]\nhosts = 0\nnmae = 'x'\n", {{"SLUICE_NODE_THREADS", "-1"}},
                 {.listen = {}, .data = ""})
        == "node.toml:1:10: 'listen' must be a string, got integer\n"
           "node.toml:3:9: 'node.hosts' must be between 1 and 256, got 0\n"
           "SLUICE_NODE_THREADS: must be a whole number, got \"-1\"\n"
           "node.toml:4:1: unknown key 'node.nmae'; did you mean 'node.name'?\n"
           "--data: must not be empty");
}

TEST_CASE("load: a service may have its own circuit and rate, the rest as for all (H5)") {
  const auto s = loaded("[circuit]\nfailure_threshold = 3\n"
                        "[circuit.github]\nreset_timeout = \"1m\"\n"
                        "[rate.vercel]\nrequests = 100\nwindow = \"1m\"\n",
                        {{"SLUICE_CIRCUIT_GITHUB_SUCCESS_THRESHOLD", "2"}});
  CHECK(s.circuit == circuit_settings{3, 30s, 1});
  REQUIRE(s.circuits.size() == 1);
  CHECK(s.circuits.at("github") == circuit_settings{3, 1min, 2});
  CHECK(s.rate == rate_settings{});
  CHECK(s.rates.at("vercel") == rate_settings{100, 1min, 75min});
  CHECK(problems("[circuit.github]\nreset_timeuot = \"1m\"\n")
        == "node.toml:2:1: unknown key 'circuit.github.reset_timeuot'; did you mean "
           "'circuit.github.reset_timeout'?");
  CHECK(problems("[circuit]\ngithub = 5\n") == "node.toml:2:1: unknown key 'circuit.github'");
  // A section where none can be is told once.
  CHECK(problems("[node.deeper]\na = 1\n") == "node.toml:1:7: unknown section 'node.deeper'");
}

TEST_CASE("load: the key of the gateway is read and never repeated (S7)") {
  CHECK(loaded("", {{"SLUICE_GATEWAY_API_KEY", "k3y"}}).gateway.api_key.reveal() == "k3y");
  CHECK(loaded("[gateway]\nurl = \"https://gw\"\napi_key = \"k3y\"\n").gateway.api_key.reveal()
        == "k3y");
  CHECK(problems("[gateway]\napi_key = \"k3y\\n\"\n")
        == "node.toml:2:11: 'gateway.api_key' must be printable ASCII");
}
