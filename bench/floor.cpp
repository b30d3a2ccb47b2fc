#include "bench/floor.hpp"

#include "base/json.hpp"
#include "connectors/github.hpp"

#include <curl/curl.h>

#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <sys/resource.h>

namespace sluice::bench {

namespace {

struct free_easy {
  void operator()(CURL* e) const noexcept { curl_easy_cleanup(e); }
};
struct free_multi {
  void operator()(CURLM* m) const noexcept { curl_multi_cleanup(m); }
};
struct free_list {
  void operator()(curl_slist* l) const noexcept { curl_slist_free_all(l); }
};
using header_list = std::unique_ptr<curl_slist, free_list>;

/// As large as that of the engine's own client.
constexpr long buffer_bytes = 64L * 1024;
constexpr long timeout_ms = 30'000;
constexpr int poll_ms = 1000;

double thread_cpu_us() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  auto us = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return us(used.ru_utime) + us(used.ru_stime);
}

/// A unit under way: its page, and what of it is not acknowledged yet.
struct lane {
  const floor_unit* unit = nullptr;
  std::string cursor;
  header_list headers;
  http_response page;
  list_page items;
  std::size_t left = 0;
};

/// One exchange: a page of `of` when `body` is empty, else one of its items.
struct exchange {
  std::unique_ptr<CURL, free_easy> easy;
  lane* of = nullptr;
  std::string body;
  http_response response;
};

struct waiting_item {
  lane* of;
  std::size_t index;
};

std::size_t on_body(char* data, std::size_t, std::size_t n, void* user) {
  static_cast<exchange*>(user)->response.body.append(data, n);
  return n;
}

/// Keeps what the connector reads of a page's headers.
std::size_t on_header(char* data, std::size_t, std::size_t n, void* user) {
  auto& x = *static_cast<exchange*>(user);
  if (!x.body.empty()) return n;
  const std::string_view line{data, n};
  const auto colon = line.find(':');
  if (colon == line.npos) return n;
  const auto first = line.find_first_not_of(" \t", colon + 1);
  const auto last = line.find_last_not_of("\r\n");
  if (first == line.npos || last < first) return n;
  x.response.headers.push_back(
    {std::string{line.substr(0, colon)}, std::string{line.substr(first, last - first + 1)}});
  return n;
}

class loop {
public:
  loop(const floor_options& o, const std::vector<floor_unit>& units) : options_{o}, units_{units} {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    multi_.reset(curl_multi_init());
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS,
                      static_cast<long>(o.posts_max + o.units_max) + 32);
    curl_slist* list = curl_slist_append(nullptr, "Expect:");
    list = curl_slist_append(list, "Content-Type: application/json");
    post_headers_.reset(curl_slist_append(list, ("X-API-Key: " + o.api_key).c_str()));
    post_url_ = o.gateway_url + "/webhooks/github";
  }

  result<floor_result> run() {
    const auto before = thread_cpu_us();
    for (std::uint32_t i = 0; i < options_.units_max && !failed_; ++i)
      begin_unit();
    while (under_way_ > 0 && !failed_) {
      int running = 0;
      curl_multi_perform(multi_.get(), &running);
      collect();
      fill();
      if (under_way_ > 0 && !failed_) curl_multi_poll(multi_.get(), nullptr, 0, poll_ms, nullptr);
    }
    for (auto& x : exchanges_)
      curl_multi_remove_handle(multi_.get(), x->easy.get());
    if (failed_) return failed_;
    done_.cpu_us = thread_cpu_us() - before;
    return done_;
  }

private:
  void begin_unit() {
    if (next_unit_ == units_.size()) return;
    auto made = std::make_unique<lane>();
    made->unit = &units_[next_unit_++];
    auto first = github_.first_cursor(made->unit->scope);
    if (!first) {
      failed_ = std::move(first.error());
      return;
    }
    made->cursor = std::move(*first);
    lanes_.push_back(std::move(made));
    fetch(*lanes_.back());
  }

  void fetch(lane& l) {
    auto request = github_.request(l.unit->scope, l.cursor);
    if (!request) {
      failed_ = std::move(request.error());
      return;
    }
    if (!l.headers) {
      curl_slist* list = nullptr;
      for (const auto& h : request->headers)
        list = curl_slist_append(list, (h.name + ": " + h.value).c_str());
      l.headers.reset(curl_slist_append(list, ("Authorization: Bearer " + l.unit->token).c_str()));
    }
    auto& x = idle();
    x.of = &l;
    x.body.clear();
    curl_easy_setopt(x.easy.get(), CURLOPT_HTTPGET, 1L);
    start(x, request->url, l.headers.get());
  }

  void post(const waiting_item& what) {
    const auto& scope = what.of->unit->scope;
    const auto& item = what.of->items.items[what.index];
    auto& x = idle();
    x.of = what.of;
    x.body.clear();
    x.body.reserve(item.raw.size() + 600);
    x.body.append(R"({"connectionId":)").append(json::quoted(scope.installation));
    x.body.append(R"(,"orgId":)").append(json::quoted(what.of->unit->org));
    x.body.append(R"(,"deliveryId":)").append(json::quoted(item.id));
    x.body.append(R"(,"eventType":)").append(json::quoted(item.event_type));
    x.body.append(R"(,"payload":)");
    github_.write_payload(x.body, scope, item);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    x.body.append(R"(,"receivedAt":)").append(std::to_string(ms)).append("}");
    auto* easy = x.easy.get();
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(x.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, x.body.c_str());
    ++posts_;
    start(x, post_url_, post_headers_.get());
  }

  exchange& idle() {
    if (!idle_.empty()) {
      auto* x = idle_.back();
      idle_.pop_back();
      return *x;
    }
    auto made = std::make_unique<exchange>();
    made->easy.reset(curl_easy_init());
    auto* easy = made->easy.get();
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, buffer_bytes);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, made.get());
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, made.get());
    curl_easy_setopt(easy, CURLOPT_PRIVATE, made.get());
    exchanges_.push_back(std::move(made));
    return *exchanges_.back();
  }

  void start(exchange& x, const std::string& url, curl_slist* headers) {
    x.response = {};
    curl_easy_setopt(x.easy.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(x.easy.get(), CURLOPT_HTTPHEADER, headers);
    curl_multi_add_handle(multi_.get(), x.easy.get());
    ++under_way_;
  }

  void collect() {
    int left = 0;
    while (auto* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const auto code = message->data.result;
      auto* easy = message->easy_handle;
      exchange* x = nullptr;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &x);
      long status = 0;
      curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
      x->response.status = static_cast<int>(status);
      const char* url = nullptr;
      if (x->body.empty()) curl_easy_getinfo(easy, CURLINFO_EFFECTIVE_URL, &url);
      if (url != nullptr) x->response.final_url = url;
      curl_multi_remove_handle(multi_.get(), easy);
      --under_way_;
      if (code != CURLE_OK || status < 200 || status > 299) {
        failed_ = make_error(errc::network, std::string{"the bare loop: "}
                                              + (code != CURLE_OK ? curl_easy_strerror(code)
                                                                  : std::to_string(status)));
        return;
      }
      if (x->body.empty())
        take_page(*x);
      else
        take_answer(*x);
      idle_.push_back(x);
    }
  }

  void take_page(exchange& x) {
    auto& l = *x.of;
    l.page = std::move(x.response);
    auto read = github_.parse(l.unit->scope, l.cursor, l.page);
    if (!read) {
      failed_ = std::move(read.error());
      return;
    }
    l.items = std::move(*read);
    ++done_.pages;
    for (std::size_t i = 0; i < l.items.items.size(); ++i) {
      if (!l.items.items[i].wanted) continue;
      queue_.push_back({&l, i});
      ++l.left;
    }
    if (l.left == 0) go_on(l);
  }

  void take_answer(const exchange& x) {
    --posts_;
    ++done_.events;
    if (--x.of->left == 0) go_on(*x.of);
  }

  /// All of the page is acknowledged.
  void go_on(lane& l) {
    if (l.items.next) {
      l.cursor = std::move(*l.items.next);
      fetch(l);
    } else {
      std::erase_if(lanes_, [&](const auto& one) { return one.get() == &l; });
      begin_unit();
    }
  }

  void fill() {
    while (posts_ < options_.posts_max && !queue_.empty()) {
      const auto next = queue_.front();
      queue_.pop_front();
      post(next);
    }
  }

  const floor_options& options_;
  const std::vector<floor_unit>& units_;
  github_connector github_;
  header_list post_headers_;
  std::string post_url_;
  std::vector<std::unique_ptr<lane>> lanes_;
  std::deque<waiting_item> queue_;
  std::unique_ptr<CURLM, free_multi> multi_;
  std::vector<std::unique_ptr<exchange>> exchanges_;
  std::vector<exchange*> idle_;
  std::size_t next_unit_ = 0;
  std::uint32_t posts_ = 0;
  std::uint32_t under_way_ = 0;
  floor_result done_;
  error failed_;
};

} // namespace

result<std::string> ask_gateway(const floor_options& o, const std::string& path) {
  exchange x;
  x.easy.reset(curl_easy_init());
  auto* easy = x.easy.get();
  const header_list headers{curl_slist_append(nullptr, ("X-API-Key: " + o.api_key).c_str())};
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_URL, (o.gateway_url + path).c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &x);
  long status = 0;
  const auto code = curl_easy_perform(easy);
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  if (code == CURLE_OK && status == 200) return std::move(x.response.body);
  return make_error(errc::network, "the gateway answers " + std::to_string(status) + " to " + path);
}

result<floor_result> run_floor(const floor_options& o, const std::vector<floor_unit>& units) {
  return loop{o, units}.run();
}

} // namespace sluice::bench
