#include "storage/lmdb.hpp"
#include "tests/storage/stores.hpp"

using namespace sluice;
using namespace sluice::testing;

namespace {

struct small_env {
  temp_folder folder;
  lmdb::env env = std::move(*lmdb::env::open({folder.path(), 1U << 20, 4, lmdb::access::write}));
  lmdb::dbi db = 0;

  small_env() {
    lmdb::txn t{env, lmdb::txn::mode::write};
    db = *t.open("db", lmdb::db_kind::plain);
    REQUIRE_FALSE(t.commit());
  }
  void put(std::string_view key, std::string_view value) {
    lmdb::txn t{env, lmdb::txn::mode::write};
    t.put(db, key, value);
    REQUIRE_FALSE(t.commit());
  }
};

} // namespace

TEST_CASE("lmdb: a reader that stays is seen by its age (F26)") {
  small_env e;
  e.put("a", "1");
  CHECK(e.env.info().oldest_reader == 0);
  {
    lmdb::txn reader{e.env, lmdb::txn::mode::read};
    CHECK(reader.get(e.db, "a") == "1");
    for (int i = 0; i < 3; ++i)
      e.put("a", "2");
    const auto info = e.env.info();
    CHECK(info.last_txn - info.oldest_reader == 3);
    CHECK(reader.get(e.db, "a") == "1");
  }
  CHECK(e.env.info().oldest_reader == 0);
}

TEST_CASE("lmdb: after the first failure a transaction does nothing more") {
  small_env e;
  {
    lmdb::txn t{e.env, lmdb::txn::mode::write};
    t.put(e.db, "a", "1");
    t.put(e.db, "b", std::string(2U << 20, 'x'));
    CHECK_FALSE(t.ok());
    CHECK_FALSE(t.get(e.db, "a").has_value());
    t.put(e.db, "c", "1");
    CHECK(code_of(t.failure()) == errc::disk_full);
    CHECK(code_of(t.commit()) == errc::disk_full);
  }
  lmdb::txn t{e.env, lmdb::txn::mode::read};
  CHECK_FALSE(t.get(e.db, "a").has_value());
  CHECK(t.stat(e.db).entries == 0);
}

TEST_CASE("lmdb: a cursor finds from, until and exactly") {
  small_env e;
  for (auto key : {"b", "d", "f"})
    e.put(key, key);
  lmdb::txn t{e.env, lmdb::txn::mode::read};
  lmdb::cursor c{t, e.db};
  CHECK(c.from("c")->key == "d");
  CHECK(c.until("c")->key == "b");
  CHECK(c.until("d")->key == "d");
  CHECK(c.until("z")->key == "f");
  CHECK_FALSE(c.until("a"));
  CHECK_FALSE(c.from("g"));
  CHECK_FALSE(c.find("c"));
  CHECK(c.find("d")->value == "d");
  CHECK(c.next()->key == "f");
  CHECK(c.previous()->key == "d");
  CHECK(t.ok());
}
