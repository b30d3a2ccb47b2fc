#include "storage/lmdb.hpp"
#include "storage/lmdb_tables.hpp"
#include "tests/app/live_node.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

using namespace sluice;
using namespace sluice::test;
using namespace std::chrono_literals;

namespace {

/// One line, from us, with this in it.
void check_line(const finished& f, const std::string& part) {
  INFO(f.err);
  CHECK(std::ranges::count(f.err, '\n') == 1);
  CHECK(f.err.starts_with("sluice: "));
  CHECK(f.err.find(part) != std::string::npos);
}

finished try_node(const std::string& data, const std::string& listen = "127.0.0.1:0") {
  return run(sluice_binary, {"node", "--data", data, "--listen", listen});
}

} // namespace

TEST_CASE("refusals: a second node on the same folder ends with 3") {
  temp_folder dir;
  live_node first{dir.at("data")};
  const auto f = try_node(dir.at("data"));
  CHECK(f.code == 3);
  check_line(f, "in use by process " + std::to_string(first.process().pid()));
  CHECK(text_of(first.get("health/ready").root(), "status") == "healthy");
}

TEST_CASE("refusals: a port in use ends with 3 and makes no folder") {
  temp_folder dir;
  live_node first{dir.at("data")};
  const auto f = try_node(dir.at("other"), "127.0.0.1:" + first.port());
  CHECK(f.code == 3);
  check_line(f, "port " + first.port());
  CHECK_FALSE(std::filesystem::exists(dir.at("other")));
}

TEST_CASE("refusals: a typo in the config ends with 2 and names file, line and key (J11)") {
  temp_folder dir;
  std::ofstream{dir.at("node.toml")} << "[node]\nnmae = \"x\"\n";
  const auto f = run(sluice_binary, {"node", "--config", dir.at("node.toml")});
  CHECK(f.code == 2);
  check_line(f, "node.toml:2:1: unknown key 'node.nmae'");
  const auto none = run(sluice_binary, {"node", "--config", dir.at("none.toml")});
  CHECK(none.code == 2);
  check_line(none, "none.toml");
}

TEST_CASE("refusals: a public address ends with 2 (S1)") {
  const auto f = run(sluice_binary, {"node", "--listen", "0.0.0.0:0"});
  CHECK(f.code == 2);
  check_line(f, "loopback");
}

TEST_CASE("refusals: a foreign folder ends with 3 and is unchanged") {
  temp_folder dir;
  std::filesystem::create_directory(dir.at("data"));
  std::ofstream{dir.at("data/notes.txt")} << "not a journal";
  const auto before = snapshot(dir.at("data"));
  const auto f = try_node(dir.at("data"));
  CHECK(f.code == 3);
  check_line(f, "no journal");
  CHECK(snapshot(dir.at("data")) == before);
}

TEST_CASE("refusals: a data folder that is a file ends with 3 and is unchanged") {
  temp_folder dir;
  std::ofstream{dir.at("data")} << "a file";
  const auto f = try_node(dir.at("data"));
  CHECK(f.code == 3);
  check_line(f, "not a folder");
  CHECK(read_file(dir.at("data")) == "a file");
}

TEST_CASE("refusals: what is no journal although it is called so ends with 3") {
  temp_folder dir;
  std::filesystem::create_directory(dir.at("data"));
  std::ofstream{dir.at("data/data.mdb")} << std::string(8192, 'x');
  const auto before = snapshot(dir.at("data"));
  const auto f = try_node(dir.at("data"));
  CHECK(f.code == 3);
  check_line(f, "data");
  CHECK(snapshot(dir.at("data")) == before);
}

TEST_CASE("refusals: a journal of a newer build ends with 3 and is unchanged (F31)") {
  temp_folder dir;
  {
    live_node node{dir.at("data")};
    node.process().signal(SIGTERM);
    REQUIRE(node.process().wait(20s));
  }
  {
    auto env = lmdb::env::open(
      {dir.at("data"), std::size_t{1} << 30, lmdb_table_count, lmdb::access::write});
    REQUIRE(env);
    lmdb::txn t{*env, lmdb::txn::mode::write};
    auto tables = lmdb_tables::open(t);
    set_meta_number(t, *tables, meta::format, journal_format + 1);
    REQUIRE_FALSE(t.commit());
  }
  const auto before = read_file(dir.at("data/data.mdb"));
  const auto f = try_node(dir.at("data"));
  CHECK(f.code == 3);
  check_line(f, "format");
  CHECK(read_file(dir.at("data/data.mdb")) == before);
}
