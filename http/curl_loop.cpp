#include "http/curl_loop.hpp"

#include "http/curl_transfer.hpp"
#include "http/outgoing.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::http {

namespace {

constexpr long poll_ms = 60'000;

} // namespace

struct curl_loop::impl {
  struct aborting {
    outlet_ptr to; ///< none: `ids` is one id of `start`
    std::vector<std::uint64_t> ids;
  };

  explicit impl(curl_options o) : options{std::move(o)} {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    multi.reset(curl_multi_init());
    // Below the number of exchanges curl would close and reopen all the time.
    curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(options.open_max) + 32);
    curl_multi_setopt(multi.get(), CURLMOPT_MAX_HOST_CONNECTIONS,
                      static_cast<long>(options.host_connections_max));
    thread = std::thread{[this] { run(); }};
  }

  ~impl() {
    {
      std::lock_guard lock{mutex};
      stopping = true;
    }
    curl_multi_wakeup(multi.get());
    thread.join();
  }

  /// One wake-up per batch: whoever finds the inbox empty rings the bell.
  template <class Change>
  void hand_over(Change change) {
    bool first = false;
    {
      std::lock_guard lock{mutex};
      first = started.empty() && aborted.empty();
      change();
    }
    if (first) curl_multi_wakeup(multi.get());
  }

  // -- the loop's thread ------------------------------------------------------------

  void run() {
    while (take_inbox()) {
      fill();
      int running = 0;
      curl_multi_perform(multi.get(), &running);
      collect();
      // What `collect` made room for begins at once; its own timer wakes `poll`.
      fill();
      deliver();
      curl_multi_poll(multi.get(), nullptr, 0, poll_ms, nullptr);
    }
    // Callbacks may have started more: nobody is left without an answer.
    do {
      for (auto& t : std::exchange(waiting, {})) {
        set_aborted(*t);
        end(*t);
      }
      while (!open.empty())
        abort_now(open.begin()->first);
      deliver();
      take_inbox();
    } while (!waiting.empty());
    deliver();
  }

  bool take_inbox() {
    std::deque<std::unique_ptr<transfer>> starts;
    std::vector<aborting> aborts;
    bool stop = false;
    {
      std::lock_guard lock{mutex};
      starts.swap(started);
      aborts.swap(aborted);
      stop = stopping;
    }
    for (auto& t : starts) {
      if (t->to) t->id = --last_own_id;
      waiting.push_back(std::move(t));
    }
    for (const auto& a : aborts) {
      if (a.to)
        abort_many(a);
      else
        abort_now(a.ids.front());
    }
    return !stop;
  }

  void fill() {
    while (!waiting.empty() && open.size() < options.open_max) {
      auto t = std::move(waiting.front());
      waiting.pop_front();
      begin(std::move(t));
    }
  }

  void begin(std::unique_ptr<transfer> t) {
    t->how = t->to ? prepared_once(t->request) : prepare(t->request);
    std::string_view wrong = t->how->wrong;
    if (wrong.empty() && open.contains(t->id)) wrong = "this id is in use";
    if (!wrong.empty()) {
      fail(*t, wrong);
      return end(*t);
    }
    t->deadline = steady::now() + t->request->timeout.value_or(options.timeout);
    t->body_bytes_max = t->request->body_bytes_max.value_or(options.body_bytes_max);
    if (t->to) return begin_like_before(std::move(t));
    if (spare.empty()) {
      t->easy = new_easy(options, encodings::all);
    } else {
      t->easy = std::move(spare.back());
      spare.pop_back();
    }
    auto& begun = *t;
    open.emplace(begun.id, std::move(t));
    send(begun);
  }

  /// One of many: a handle that carried the same request before needs nothing but the new body.
  void begin_like_before(std::unique_ptr<transfer> t) {
    auto same =
      std::find_if(kept.rbegin(), kept.rend(), [&](const auto& k) { return k->how == t->how; });
    const bool set_already = same != kept.rend();
    if (kept.empty()) {
      t->easy = new_easy(options, encodings::none);
    } else {
      std::swap(kept.back(), set_already ? *same : kept.back());
      auto used = std::move(kept.back());
      kept.pop_back();
      used->take_over(*t);
      t = std::move(used);
    }
    auto& begun = *t;
    open.emplace(begun.id, std::move(t));
    if (!set_already) return send(begun);
    set_body(begun);
    curl_multi_add_handle(multi.get(), begun.easy.get());
  }

  /// Few are ever in use; one that is forgotten is made again.
  std::shared_ptr<const prepared> prepared_once(const std::shared_ptr<const http_request>& like) {
    auto known = made.find(like.get());
    if (known != made.end()) return known->second;
    if (made.size() >= 64) made.clear();
    return made.emplace(like.get(), prepare(like)).first->second;
  }

  void send(transfer& t) {
    set_up(t, options, std::chrono::ceil<duration>(t.deadline - steady::now()));
    curl_multi_add_handle(multi.get(), t.easy.get());
  }

  void collect() {
    int left = 0;
    while (const CURLMsg* m = curl_multi_info_read(multi.get(), &left)) {
      if (m->msg != CURLMSG_DONE) continue;
      const auto code = m->data.result;
      transfer* t = nullptr;
      curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &t);
      curl_multi_remove_handle(multi.get(), t->easy.get());
      if (finish(*t, code)) retire(t->id);
    }
  }

  /// False when the exchange goes on at another URL.
  bool finish(transfer& t, CURLcode code) {
    long status = 0;
    curl_easy_getinfo(t.easy.get(), CURLINFO_RESPONSE_CODE, &status);
    t.response.status = static_cast<int>(status);
    curl_off_t took = 0;
    curl_easy_getinfo(t.easy.get(), CURLINFO_TOTAL_TIME_T, &took);
    t.response.elapsed = std::chrono::microseconds{took};
    if (!t.to) t.response.final_url = t.at().text();
    if (code != CURLE_OK) {
      fail(t, code);
      return true;
    }
    auto next = after_answer(*t.request, t.at(), t.response, t.redirects);
    if (auto* refused = std::get_if<refuse_redirect>(&next)) fail(t, refused->why);
    auto* to = std::get_if<url>(&next);
    if (!to) return true;
    ++t.redirects;
    t.redirected = std::move(*to);
    send(t);
    return false;
  }

  void abort_now(std::uint64_t id) {
    if (auto it = open.find(id); it != open.end()) {
      curl_multi_remove_handle(multi.get(), it->second->easy.get());
      set_aborted(*it->second);
      return retire(id);
    }
    auto same = [id](const auto& t) { return t->id == id; };
    if (auto it = std::ranges::find_if(waiting, same); it != waiting.end()) {
      auto t = std::move(*it);
      waiting.erase(it);
      set_aborted(*t);
      end(*t);
    }
  }

  /// Aborts are rare: it looks at all that is open.
  void abort_many(const aborting& a) {
    auto meant = [&](const transfer& t) {
      return t.to == a.to && std::ranges::find(a.ids, t.tag) != a.ids.end();
    };
    std::vector<std::uint64_t> found;
    for (const auto& [id, t] : open)
      if (meant(*t)) found.push_back(id);
    for (const auto& t : waiting)
      if (meant(*t)) found.push_back(t->id);
    for (auto id : found)
      abort_now(id);
  }

  /// Answers and keeps the handle for the next one.
  void retire(std::uint64_t id) {
    auto node = open.extract(id);
    auto& t = *node.mapped();
    if (!t.to) {
      clear(t.easy.get());
      spare.push_back(std::move(t.easy));
      return end(t);
    }
    end(t);
    kept.push_back(std::move(node.mapped()));
  }

  static void set_aborted(transfer& t) {
    t.response = {};
    t.response.aborted = true;
    fail(t, "aborted");
  }

  void end(transfer& t) {
    if (!t.to) return t.on_done(t.id, std::move(t.response));
    if (t.to->gathered.empty()) filled.push_back(t.to);
    t.to->gathered.push_back({t.tag, std::move(t.response), std::move(t.body)});
  }

  void deliver() {
    for (auto& to : std::exchange(filled, {}))
      to->deliver(std::exchange(to->gathered, {}));
  }

  const curl_options options;
  std::unique_ptr<CURLM, free_multi> multi;

  std::mutex mutex;
  std::deque<std::unique_ptr<transfer>> started; ///< under `mutex`, as the two below
  std::vector<aborting> aborted;
  bool stopping = false;

  std::deque<std::unique_ptr<transfer>> waiting; ///< of the thread, as all below
  std::unordered_map<std::uint64_t, std::unique_ptr<transfer>> open;
  std::vector<easy_handle> spare;
  std::vector<std::unique_ptr<transfer>> kept; ///< of those that have outlets, with their handles
  std::unordered_map<const http_request*, std::shared_ptr<const prepared>> made;
  std::vector<outlet_ptr> filled; ///< those with answers to deliver
  std::uint64_t last_own_id = 0;  ///< counts down from the top, out of the way of callers' ids
  std::thread thread;
};

curl_loop::curl_loop(curl_options options) : impl_{std::make_unique<impl>(std::move(options))} {}

curl_loop::~curl_loop() = default;

void curl_loop::start(std::uint64_t id, http_request request, done on_done) {
  start(id, std::move(request), std::move(on_done), {});
}

void curl_loop::start(std::uint64_t id, http_request request, done on_done, piece on_piece) {
  auto t = std::make_unique<transfer>();
  t->id = id;
  t->body = std::move(request.body);
  t->request = std::make_shared<const http_request>(std::move(request));
  t->on_done = std::move(on_done);
  t->on_piece = std::move(on_piece);
  impl_->hand_over([&] { impl_->started.push_back(std::move(t)); });
}

void curl_loop::start_many(std::shared_ptr<const http_request> like, std::vector<http_body> bodies,
                           const outlet_ptr& to) {
  std::vector<std::unique_ptr<transfer>> all;
  all.reserve(bodies.size());
  for (auto& b : bodies) {
    auto t = std::make_unique<transfer>();
    t->request = like;
    t->body = std::move(b.body);
    t->to = to;
    t->tag = b.id;
    all.push_back(std::move(t));
  }
  if (all.empty()) return;
  impl_->hand_over([&] { std::ranges::move(all, std::back_inserter(impl_->started)); });
}

void curl_loop::abort_many(const outlet_ptr& to, std::vector<token> ids) {
  if (ids.empty()) return;
  impl_->hand_over([&] { impl_->aborted.push_back({to, std::move(ids)}); });
}

void curl_loop::abort(std::uint64_t id) {
  impl_->hand_over([&] { impl_->aborted.push_back({nullptr, {id}}); });
}

} // namespace sluice::http
