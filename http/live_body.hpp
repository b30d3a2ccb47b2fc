#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace sluice::http {

/// The body of a response that is written while it is sent, such as a stream of events. Whoever
/// answers keeps one end and the connection the other; both may be used from every thread.
///
/// Nobody waits for a peer that does not read: when more than `waiting_max` bytes lie here, the
/// body is closed and the connection cut.
class live_body {
public:
  explicit live_body(std::size_t waiting_max = 1024ULL * 1024) : waiting_max_{waiting_max} {}

  // -- who answers ------------------------------------------------------------------

  /// False: the peer is gone or too slow, and nothing more will be sent.
  bool write(std::string_view piece);
  /// What was written is sent, then the response is over.
  void end();
  [[nodiscard]] bool closed() const;

  // -- the connection ---------------------------------------------------------------

  struct piece {
    std::string bytes;
    bool last = false;
  };

  /// `ready` is called when there is something to take or the body was closed; once, until `take`
  /// is called again. At once, if that is so already.
  void attach(std::function<void()> ready);
  /// All that was written since; it waits no longer, so it does not count against the limit.
  [[nodiscard]] piece take();
  /// The peer is gone.
  void close();

private:
  void tell();

  const std::size_t waiting_max_;
  mutable std::mutex mutex_;
  std::string waiting_; ///< under `mutex_`, as all below
  bool ended_ = false;
  bool closed_ = false;
  bool told_ = false;
  std::function<void()> ready_;
};

} // namespace sluice::http
