#include "tests/storage/committer.hpp"

#include "base/uuid.hpp"
#include "storage/lmdb_store.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

/// Commits numbered batches for ever and says the number of each that was acknowledged. Killed by
/// the test that started it. Arguments: the folder.
int main(int argc, char** argv) {
  using namespace sluice;
  using namespace sluice::testing;
  if (argc != 2) return 2;
  lmdb_store s{{argv[1], std::size_t{1} << 30, 0, false}};
  auto grant = s.open();
  if (!grant) {
    std::fprintf(stderr, "%s\n", to_text(grant.error()).c_str());
    return 1;
  }
  auto rows = s.load(table::limit, 0, marker, "", 1);
  std::uint64_t n = rows && !rows->empty() ? std::stoull(rows->at(0).value) : 0;
  uuid_source ids;
  for (;;) {
    std::vector<batch> batches(1 + n % 3);
    auto head = grant->head;
    for (auto& b : batches) {
      b.epoch = grant->epoch;
      b.expected_head = head;
      b.id = batch_id{ids.next(from_millis(1))};
      b.ops = numbered_ops(++n);
      head += 1 + logged_per_batch(n);
    }
    s.submit(batches);
    for (const auto& done : s.finished(duration{0})) {
      if (done.status != commit_status::committed) {
        std::fprintf(stderr, "%s\n", done.detail.c_str());
        return 1;
      }
      grant->head = done.head;
    }
    const auto line = std::to_string(n) + "\n";
    if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) return 1;
  }
}
