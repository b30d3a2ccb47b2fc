#include "http/curl_loop.hpp"

#include "base/redact.hpp"
#include "http/exchange.hpp"
#include "http/outgoing.hpp"
#include "http/url.hpp"

#include <curl/curl.h>

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

using steady = std::chrono::steady_clock;

constexpr std::size_t response_header_bytes_max = 256ULL * 1024;
/// Larger than the default of 16 KB: pages arrive a third cheaper (guides/limits.md 5.1).
constexpr long buffer_bytes = 64L * 1024;
constexpr long poll_ms = 60'000;

struct free_easy {
  void operator()(CURL* e) const noexcept { curl_easy_cleanup(e); }
};
struct free_list {
  void operator()(curl_slist* l) const noexcept { curl_slist_free_all(l); }
};
struct free_multi {
  void operator()(CURLM* m) const noexcept { curl_multi_cleanup(m); }
};
using easy_handle = std::unique_ptr<CURL, free_easy>;

/// One exchange, from `start` to its answer; redirects included.
struct transfer {
  std::uint64_t id = 0;
  std::uint64_t body_bytes_max = 0;
  http_request request;
  curl_loop::done on_done;
  curl_loop::piece on_piece; ///< may be empty
  std::optional<url> at;
  steady::time_point deadline;
  std::uint32_t redirects = 0;
  easy_handle easy;
  std::unique_ptr<curl_slist, free_list> headers;
  std::array<char, CURL_ERROR_SIZE> detail{};
  http_response response;
  std::size_t header_bytes = 0;
  bool headers_too_large = false;
};

std::size_t on_body(char* data, std::size_t, std::size_t n, void* user) {
  auto& t = *static_cast<transfer*>(user);
  if (t.on_piece) {
    long status = 0;
    curl_easy_getinfo(t.easy.get(), CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status < 300) {
      t.on_piece({data, n});
      return n;
    }
  }
  if (n > t.body_bytes_max - t.response.body.size()) {
    t.response.too_large = true;
    return 0; // ends the transfer
  }
  t.response.body.append(data, n);
  return n;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::size_t on_header(char* data, std::size_t, std::size_t n, void* user) {
  auto& t = *static_cast<transfer*>(user);
  t.header_bytes += n;
  if (t.header_bytes > response_header_bytes_max) {
    t.headers_too_large = true;
    return 0;
  }
  const std::string_view line{data, n};
  if (line.starts_with("HTTP/")) { // the final answer after a 100
    t.response.headers.clear();
  } else if (auto colon = line.find(':'); colon != line.npos && t.response.body.empty()) {
    t.response.headers.push_back(
      {std::string{trimmed(line.substr(0, colon))}, std::string{trimmed(line.substr(colon + 1))}});
  }
  return n;
}

template <class T>
void set(CURL* easy, CURLoption option, T value) {
  curl_easy_setopt(easy, option, value);
}

/// What is the same for every request that a handle will ever carry.
easy_handle new_easy(const curl_options& o) {
  easy_handle made{curl_easy_init()};
  auto* easy = made.get();
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_FOLLOWLOCATION, 0L);
  set(easy, CURLOPT_PROXY, "");
  set(easy, CURLOPT_ACCEPT_ENCODING, "");
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  set(easy, CURLOPT_BUFFERSIZE, buffer_bytes);
  set(easy, CURLOPT_USERAGENT, o.user_agent.c_str());
  set(easy, CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(o.low_speed_bytes_per_s));
  set(easy, CURLOPT_LOW_SPEED_TIME,
      static_cast<long>(std::chrono::ceil<std::chrono::seconds>(o.low_speed_time).count()));
  set(easy, CURLOPT_WRITEFUNCTION, on_body);
  set(easy, CURLOPT_HEADERFUNCTION, on_header);
  return made;
}

void set_method(CURL* easy, const http_request& r) {
  set(easy, CURLOPT_CUSTOMREQUEST, nullptr);
  set(easy, CURLOPT_HTTPGET, 1L); // also takes HEAD and POST of the last request back
  if (r.method == "HEAD") {
    set(easy, CURLOPT_NOBODY, 1L);
  } else if (r.method == "POST" || !r.body.empty()) {
    set(easy, CURLOPT_POST, 1L);
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(r.body.size()));
    set(easy, CURLOPT_POSTFIELDS, r.body.c_str());
    if (r.method != "POST") set(easy, CURLOPT_CUSTOMREQUEST, r.method.c_str());
  } else if (r.method != "GET") {
    set(easy, CURLOPT_CUSTOMREQUEST, r.method.c_str());
  }
}

std::unique_ptr<curl_slist, free_list> header_list(const http_request& r) {
  curl_slist* list = curl_slist_append(nullptr, "Expect:");
  bool typed = false;
  for (const auto& h : r.headers) {
    typed = typed || same_name(h.name, "Content-Type");
    // `Name:` would tell curl to leave the header out, `Name;` sends it empty.
    const auto line = h.value.empty() ? h.name + ";" : h.name + ": " + h.value;
    list = curl_slist_append(list, line.c_str());
  }
  if (!typed) list = curl_slist_append(list, "Content-Type:"); // else curl calls a body a form
  return std::unique_ptr<curl_slist, free_list>{list};
}

void fail(transfer& t, std::string_view what) {
  t.response.error = about(t.request, t.at, what);
}

} // namespace

struct curl_loop::impl {
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
      take_inbox();
    } while (!waiting.empty());
  }

  bool take_inbox() {
    std::deque<std::unique_ptr<transfer>> starts;
    std::vector<std::uint64_t> aborts;
    bool stop = false;
    {
      std::lock_guard lock{mutex};
      starts.swap(started);
      aborts.swap(aborted);
      stop = stopping;
    }
    for (auto& t : starts)
      waiting.push_back(std::move(t));
    for (auto id : aborts)
      abort_now(id);
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
    auto at = url::parse(t->request.url);
    if (at) t->at = *at;
    auto wrong = unsendable(t->request, at);
    if (wrong.empty() && open.contains(t->id)) wrong = "this id is in use";
    if (!wrong.empty()) {
      fail(*t, wrong);
      return end(*t);
    }
    t->deadline = steady::now() + t->request.timeout.value_or(options.timeout);
    t->body_bytes_max = t->request.body_bytes_max.value_or(options.body_bytes_max);
    if (spare.empty()) {
      t->easy = new_easy(options);
    } else {
      t->easy = std::move(spare.back());
      spare.pop_back();
    }
    t->headers = header_list(t->request);
    auto& begun = *t;
    open.emplace(begun.id, std::move(t));
    send(begun);
  }

  void send(transfer& t) {
    auto* easy = t.easy.get();
    const auto left = std::chrono::ceil<duration>(t.deadline - steady::now());
    t.response = {};
    t.header_bytes = 0;
    t.detail[0] = 0;
    set_method(easy, t.request);
    set(easy, CURLOPT_URL, t.at->text().c_str());
    set(easy, CURLOPT_HTTPHEADER, t.headers.get());
    set(easy, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(left.count())));
    set(easy, CURLOPT_CONNECTTIMEOUT_MS,
        static_cast<long>(t.request.connect_timeout.value_or(options.connect_timeout).count()));
    set(easy, CURLOPT_PIPEWAIT, t.at->where().scheme == "https" ? 1L : 0L);
    set(easy, CURLOPT_WRITEDATA, &t);
    set(easy, CURLOPT_HEADERDATA, &t);
    set(easy, CURLOPT_PRIVATE, &t);
    set(easy, CURLOPT_ERRORBUFFER, t.detail.data());
    curl_multi_add_handle(multi.get(), easy);
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
    t.response.final_url = t.at->text();
    if (code != CURLE_OK) {
      describe(t, code);
      return true;
    }
    auto next = after_answer(t.request, *t.at, t.response, t.redirects);
    if (auto* refused = std::get_if<refuse_redirect>(&next)) fail(t, refused->why);
    auto* to = std::get_if<url>(&next);
    if (!to) return true;
    ++t.redirects;
    t.at = std::move(*to);
    send(t);
    return false;
  }

  void describe(transfer& t, CURLcode code) {
    const bool silent = t.detail[0] == 0;
    const auto detail = silent ? std::string{curl_easy_strerror(code)} : redact(t.detail.data());
    if (t.response.too_large) {
      fail(t, "the body exceeds " + std::to_string(t.body_bytes_max) + " bytes");
    } else if (t.headers_too_large) {
      fail(t, "the headers of the answer are too large");
    } else if (code == CURLE_OPERATION_TIMEDOUT) {
      t.response.timed_out = true;
      fail(t, "timed out: " + detail);
    } else {
      fail(t, detail);
    }
    t.response.body.clear();
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

  /// Answers and keeps the handle for the next one.
  void retire(std::uint64_t id) {
    auto node = open.extract(id);
    auto& t = *node.mapped();
    // The handle must not remember what dies with this exchange.
    set(t.easy.get(), CURLOPT_POSTFIELDS, nullptr);
    set(t.easy.get(), CURLOPT_HTTPHEADER, nullptr);
    set(t.easy.get(), CURLOPT_ERRORBUFFER, nullptr);
    spare.push_back(std::move(t.easy));
    end(t);
  }

  static void set_aborted(transfer& t) {
    t.response = {};
    t.response.aborted = true;
    fail(t, "aborted");
  }

  static void end(transfer& t) { t.on_done(t.id, std::move(t.response)); }

  const curl_options options;
  std::unique_ptr<CURLM, free_multi> multi;

  std::mutex mutex;
  std::deque<std::unique_ptr<transfer>> started; ///< under `mutex`, as the two below
  std::vector<std::uint64_t> aborted;
  bool stopping = false;

  std::deque<std::unique_ptr<transfer>> waiting; ///< of the thread, as all below
  std::unordered_map<std::uint64_t, std::unique_ptr<transfer>> open;
  std::vector<easy_handle> spare;
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
  t->request = std::move(request);
  t->on_done = std::move(on_done);
  t->on_piece = std::move(on_piece);
  impl_->hand_over([&] { impl_->started.push_back(std::move(t)); });
}

void curl_loop::abort(std::uint64_t id) {
  impl_->hand_over([&] { impl_->aborted.push_back(id); });
}

} // namespace sluice::http
