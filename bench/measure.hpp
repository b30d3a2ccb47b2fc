#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What every `sluice bench …` needs: medians, a folder of its own, the price of a sync.
namespace sluice::bench {

/// The middle of the sorted values; 0 when there are none.
[[nodiscard]] double median(std::vector<double> values);

/// Runs from its creation on.
class stopwatch {
public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A new folder inside `parent` that is removed with this object. When `parent` is empty it is
/// $TMPDIR or, without that, `build` in the working folder, or the working folder: what is measured
/// is a disk, and the usual place for temporary files often is none.
class bench_folder {
public:
  explicit bench_folder(const std::string& parent);
  bench_folder(const bench_folder&) = delete;
  bench_folder& operator=(const bench_folder&) = delete;
  ~bench_folder();

  /// Empty when it could not be made.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
  std::string path_;
};

/// A file that only grows: the least that a durable append can cost.
class bare_log {
public:
  explicit bare_log(const std::string& path);
  bare_log(const bare_log&) = delete;
  bare_log& operator=(const bare_log&) = delete;
  ~bare_log();

  /// Appends and syncs. False when the disk said no.
  bool append(std::string_view bytes);

private:
  int fd_ = -1;
};

/// Median microseconds of one append of 200 bytes and its fdatasync in `folder`; 0 when that
/// failed. Figures that depend on the disk are only comparable beside it.
[[nodiscard]] double sync_us(const std::string& folder, std::size_t rounds = 200);

/// One figure of a result line.
struct figure {
  std::string name;
  double value = 0;
};

/// What a benchmark found.
struct report {
  std::string bench;
  std::string what; ///< the case, in a few words
  std::vector<figure> figures;
};

/// `{"bench":"journal","case":"…","figure":1.5,…}` without a line end.
[[nodiscard]] std::string to_json(const report& r);

/// A heading and a line per figure, for people; without a last line end.
[[nodiscard]] std::string to_table(const report& r);

} // namespace sluice::bench
