#include "storage/inspect.hpp"
#include "storage/lmdb.hpp"
#include "storage/lmdb_tables.hpp"
#include "tests/storage/stores.hpp"

#include <fstream>
#include <map>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sluice;
using namespace sluice::testing;

namespace {

namespace fs = std::filesystem;

result<shard_grant> try_open(const std::string& path, bool read_only = false) {
  lmdb_store s{{path, std::size_t{1} << 30, 0, read_only}};
  return s.open();
}

/// Names, sizes and bytes of what lies in a folder.
std::map<std::string, std::string> snapshot(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator{folder}) {
    std::ifstream in{entry.path(), std::ios::binary};
    files[entry.path().filename()] = {std::istreambuf_iterator<char>{in}, {}};
  }
  return files;
}

mode_t mode_of(const std::string& path) {
  struct stat s{};
  REQUIRE(::stat(path.c_str(), &s) == 0);
  return s.st_mode & 0777;
}

} // namespace

TEST_CASE("folder: it is created private, whatever the umask (S20)") {
  temp_folder temp;
  for (mode_t mask : {mode_t{0}, mode_t{0777}}) {
    const auto path = temp.path() + "/data-" + std::to_string(mask);
    const auto old = ::umask(mask);
    auto grant = try_open(path);
    ::umask(old);
    REQUIRE(grant.engaged());
    CHECK(mode_of(path) == 0700);
    if (mask == 0) {
      CHECK(mode_of(path + "/data.mdb") == 0600);
      CHECK(mode_of(path + "/sluice.lock") == 0600);
    }
  }
}

TEST_CASE("folder: parents are created as well, an empty folder is taken") {
  temp_folder temp;
  CHECK(try_open(temp.path() + "/a/b/c").engaged());
  fs::create_directory(temp.path() + "/empty");
  CHECK(try_open(temp.path() + "/empty").engaged());
}

TEST_CASE("folder: a second process is refused and told who has it") {
  temp_folder temp;
  lmdb_store first{{temp.journal(), std::size_t{1} << 30, 0, false}};
  REQUIRE(first.open().engaged());
  auto second = try_open(temp.journal());
  REQUIRE_FALSE(second.engaged());
  CHECK(code_of(second.error()) == errc::locked);
  const auto text = to_text(second.error());
  CHECK(text.find(temp.journal()) != std::string::npos);
  CHECK(text.find(std::to_string(::getpid())) != std::string::npos);
  CHECK(text.find('\n') == std::string::npos);
}

TEST_CASE("folder: one with other things in it is refused and left as it is") {
  temp_folder temp;
  std::ofstream{temp.path() + "/thesis.txt"} << "years of work";
  const auto before = snapshot(temp.path());
  auto refused = try_open(temp.path());
  CHECK(code_of(refused.error()) == errc::foreign_folder);
  CHECK(snapshot(temp.path()) == before);
  std::ofstream{temp.path() + "/data.mdb"} << "no database at all";
  const auto with_data = snapshot(temp.path());
  CHECK(code_of(try_open(temp.path()).error()) == errc::foreign_folder);
  CHECK(snapshot(temp.path()) == with_data);
  CHECK(code_of(try_open(temp.path() + "/thesis.txt").error()) == errc::foreign_folder);
}

TEST_CASE("folder: another program's LMDB file is refused and left as it is") {
  temp_folder temp;
  {
    auto env = lmdb::env::open({temp.path(), std::size_t{1} << 20, 4, lmdb::access::write});
    lmdb::txn t{*env, lmdb::txn::mode::write};
    auto db = t.open("theirs", lmdb::db_kind::plain);
    t.put(*db, "k", "v");
    REQUIRE_FALSE(t.commit());
  }
  const auto before = snapshot(temp.path());
  CHECK(code_of(try_open(temp.path()).error()) == errc::foreign_folder);
  CHECK(code_of(try_open(temp.path(), true).error()) == errc::foreign_folder);
  CHECK(snapshot(temp.path()) == before);
}

TEST_CASE("folder: a journal of a newer format is refused and left as it is (F31)") {
  temp_folder temp;
  REQUIRE(try_open(temp.journal()).engaged());
  {
    auto env = lmdb::env::open(
      {temp.journal(), std::size_t{1} << 30, lmdb_table_count, lmdb::access::write});
    lmdb::txn t{*env, lmdb::txn::mode::write};
    auto db = lmdb_tables::open(t);
    set_meta_number(t, *db, meta::format, journal_format + 1);
    REQUIRE_FALSE(t.commit());
  }
  auto before = snapshot(temp.journal());
  auto refused = try_open(temp.journal());
  CHECK(code_of(refused.error()) == errc::newer_format);
  auto after = snapshot(temp.journal());
  CHECK(before["data.mdb"] == after["data.mdb"]);
  CHECK(code_of(try_open(temp.journal(), true).error()) == errc::newer_format);
}

TEST_CASE("folder: a journal that cannot be read gives one clear line") {
  temp_folder temp;
  REQUIRE(try_open(temp.journal()).engaged());
  {
    std::fstream file{temp.journal() + "/data.mdb",
                      std::ios::binary | std::ios::in | std::ios::out};
    file.seekp(0);
    file << std::string(8192, '\xFF');
  }
  auto refused = try_open(temp.journal());
  CHECK(code_of(refused.error()) == errc::corrupt);
  CHECK(to_text(refused.error()).find('\n') == std::string::npos);
}

TEST_CASE("folder: a start that was cut short begins again") {
  temp_folder temp;
  fs::create_directory(temp.journal());
  std::ofstream{temp.journal() + "/sluice.lock"} << "123\n";
  CHECK(try_open(temp.journal()).engaged());
  const auto second = temp.path() + "/second";
  fs::create_directory(second);
  std::ofstream{second + "/sluice.lock"} << "123\n";
  {
    // LMDB has written its first pages, we have written nothing.
    auto env = lmdb::env::open({second, std::size_t{1} << 20, 4, lmdb::access::write});
    REQUIRE(env.engaged());
  }
  CHECK(try_open(second).engaged());
}

TEST_CASE("folder: reading beside a live node takes no lock and writes nothing") {
  hand<lmdb_under_test> s;
  s.must(begin_run(make_run(1)));
  const auto path = s.fixture.options.path;
  // LMDB wants one environment per process and file, so that the reader is another process.
  const auto child = ::fork();
  if (child == 0) {
    lmdb_store beside{{path, std::size_t{1} << 30, 0, true}};
    auto grant = beside.open();
    bool good = grant.engaged() && grant->head == 2;
    good = good && beside.load_runs(0, std::nullopt, 10)->runs.size() == 1;
    batch b;
    b.epoch = grant ? grant->epoch : 0;
    b.expected_head = 2;
    beside.submit({b});
    good = good && beside.finished(duration{0}).at(0).status == commit_status::failed;
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  s.must({put_step{step_of(make_run(1), 0)}});
  s.close();
  const auto before = snapshot(path);
  CHECK(try_open(path, true)->head == s.grant.head);
  CHECK(try_open(path, true)->epoch == s.grant.epoch);
  CHECK(snapshot(path)["data.mdb"] == before.at("data.mdb"));
  fs::remove(path + "/lock.mdb");
  CHECK(try_open(path, true).engaged());
  CHECK_FALSE(fs::exists(path + "/lock.mdb"));
  CHECK(code_of(try_open(path + "/nothing", true).error()) == errc::not_found);
}
