#include "messages/journal.hpp"

#include <catch2/catch.hpp>

#include <set>

using namespace sluice;

namespace {

template <class Enum>
std::set<std::string_view> names_up_to(Enum last) {
  std::set<std::string_view> names;
  for (unsigned n = 0; n <= static_cast<unsigned>(last); ++n)
    names.insert(to_string(static_cast<Enum>(n)));
  CHECK(names.count("unknown") == 0);
  return names;
}

} // namespace

TEST_CASE("journal: kinds, statuses and tables each have a name of their own") {
  CHECK(names_up_to(step_kind::version).size() == 6);
  CHECK(names_up_to(step_status::failed).size() == 4);
  CHECK(names_up_to(table::node).size() == table_count);
}

TEST_CASE("journal: steps, events and marks take a position, rows do not") {
  CHECK(is_logged(put_step{}));
  CHECK(is_logged(put_event{}));
  CHECK(is_logged(put_marks{}));
  CHECK_FALSE(is_logged(put_run{}));
  CHECK_FALSE(is_logged(set_wake{}));
  CHECK_FALSE(is_logged(put_row{}));
  CHECK_FALSE(is_logged(trim_run{}));
}
