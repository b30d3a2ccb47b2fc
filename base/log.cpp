#include "base/log.hpp"

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/redact.hpp"

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unistd.h>

namespace sluice::log {

namespace writing {

constexpr std::size_t lines_queued_max = 8192;

struct backend {
  std::shared_mutex mutex;
  std::shared_ptr<spdlog::details::thread_pool> pool;
  std::shared_ptr<spdlog::async_logger> logger;
  format shape = format::text;
  std::atomic<level> least{level::info};
  std::atomic<std::uint64_t> dropped_before{0};
};

/// Never destroyed: the last line may come after `main`.
backend& the_backend() {
  static auto* const one = new backend;
  return *one;
}

std::string_view name_of(level l) noexcept {
  switch (l) {
  case level::debug:
    return "debug";
  case level::info:
    return "info";
  case level::warning:
    return "warning";
  case level::error:
    return "error";
  case level::off:
    return "off";
  }
  return "off";
}

std::string safe_value(const field& f) {
  if (is_secret_name(f.key)) return "[redacted]";
  return f.bare ? f.value : redact(f.value);
}

bool needs_quotes(std::string_view text) noexcept {
  if (text.empty()) return true;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= 0x20 || c == '"' || c == '=' || c == '\\') return true;
  }
  return false;
}

/// For people: a message must stay on its line, so a control character becomes a space.
std::string on_one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text;
}

/// The file may be impossible to open; the node works without its log.
spdlog::sink_ptr open_sink(const options& o, std::string& problem) {
  if (!o.file.empty()) {
    try {
      return std::make_shared<spdlog::sinks::basic_file_sink_mt>(o.file);
    } catch (const spdlog::spdlog_ex& e) {
      problem = e.what();
    }
  }
  return std::make_shared<spdlog::sinks::stderr_sink_mt>();
}

format resolve(const options& o) {
  if (o.shape != format::automatic) return o.shape;
  return o.file.empty() && ::isatty(STDERR_FILENO) == 1 ? format::text : format::json;
}

} // namespace writing

void start(const options& o) {
  auto& b = writing::the_backend();
  std::string problem;
  {
    const std::unique_lock lock{b.mutex};
    auto sink = writing::open_sink(o, problem);
    b.pool = std::make_shared<spdlog::details::thread_pool>(writing::lines_queued_max, 1);
    b.logger = std::make_shared<spdlog::async_logger>(
      "sluice", std::move(sink), b.pool, spdlog::async_overflow_policy::overrun_oldest);
    b.logger->set_pattern("%v");
    b.logger->set_level(spdlog::level::trace);
    b.logger->flush_on(spdlog::level::trace);
    // A line that cannot be written does not disturb the work (X9).
    b.logger->set_error_handler([](const std::string&) {});
    b.shape = writing::resolve(o);
    b.least = o.least;
  }
  if (!problem.empty()) warning("cannot open the log file", {{"error", problem}});
}

void stop() {
  auto& b = writing::the_backend();
  const std::unique_lock lock{b.mutex};
  if (!b.pool) return;
  b.dropped_before += b.pool->overrun_counter();
  b.logger.reset();
  b.pool.reset(); // joins its thread, which writes what is queued first
}

void set_level(level least) noexcept {
  writing::the_backend().least.store(least, std::memory_order_relaxed);
}

bool enabled(level l) noexcept {
  return l != level::off && l >= writing::the_backend().least.load(std::memory_order_relaxed);
}

std::uint64_t dropped() noexcept {
  auto& b = writing::the_backend();
  const std::shared_lock lock{b.mutex};
  return b.dropped_before + (b.pool ? b.pool->overrun_counter() : 0);
}

void write(level l, std::string_view message, fields fs) {
  if (!enabled(l)) return;
  const auto now = std::chrono::floor<duration>(std::chrono::system_clock::now());
  auto& b = writing::the_backend();
  const std::shared_lock lock{b.mutex};
  if (b.logger) {
    b.logger->log(spdlog::level::info, render(b.shape, now, l, message, fs));
  } else {
    const auto line = render(format::text, now, l, message, fs) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
}

std::string render(format f, timestamp at, level l, std::string_view message, fields fs) {
  if (f == format::json) {
    json::writer w;
    w.obj().key("at").str(to_rfc3339(at)).key("level").str(writing::name_of(l));
    w.key("message").str(redact(message));
    for (const auto& each : fs) {
      const auto value = writing::safe_value(each);
      w.key(each.key);
      if (each.bare && !is_secret_name(each.key))
        w.raw(value);
      else
        w.str(value);
    }
    return w.end().take();
  }
  std::string line = to_rfc3339(at);
  line.append(" ").append(writing::name_of(l));
  line.append(1 + std::string_view{"warning"}.size() - writing::name_of(l).size(), ' ');
  line += writing::on_one_line(redact(message));
  for (const auto& each : fs) {
    const auto value = writing::safe_value(each);
    line.append(" ").append(each.key).append("=");
    line += writing::needs_quotes(value) ? json::quoted(value) : value;
  }
  return line;
}

} // namespace sluice::log
