#include "base/time_text.hpp"

#include "base/clock.hpp"

#include <array>

namespace sluice {

namespace time_reading {

/// Reads a text from left to right; false for ever after the first mismatch.
class reader {
public:
  explicit reader(std::string_view text) noexcept : rest_{text} {}

  /// A number of exactly so many digits.
  int digits(std::size_t count) noexcept {
    int value = 0;
    if (rest_.size() < count) good_ = false;
    for (std::size_t i = 0; good_ && i < count; ++i) {
      good_ = is_digit(rest_[i]);
      value = value * 10 + (rest_[i] - '0');
    }
    if (good_) rest_.remove_prefix(count);
    return good_ ? value : 0;
  }

  bool accept(char c) noexcept {
    if (!good_ || !rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(std::string_view text) noexcept {
    good_ = good_ && rest_.starts_with(text);
    if (good_) rest_.remove_prefix(text.size());
  }

  void skip(std::size_t count) noexcept {
    good_ = good_ && rest_.size() >= count;
    if (good_) rest_.remove_prefix(count);
  }

  [[nodiscard]] bool at_digit() const noexcept { return !rest_.empty() && is_digit(rest_.front()); }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }
  [[nodiscard]] bool done() const noexcept { return good_ && rest_.empty(); }
  void fail() noexcept { good_ = false; }

private:
  static constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

  std::string_view rest_;
  bool good_ = true;
};

/// Milliseconds; further digits are passed over.
int fraction(reader& r) noexcept {
  if (!r.at_digit()) r.fail();
  int value = 0;
  for (int weight = 100; r.at_digit(); weight /= 10)
    value += weight * r.digits(1);
  return value;
}

duration offset(reader& r) noexcept {
  if (r.accept('Z') || r.accept('z')) return {};
  const bool west = r.accept('-');
  if (!west) r.expect("+");
  const auto hours = std::chrono::hours{r.digits(2)};
  r.expect(":");
  const auto minutes = std::chrono::minutes{r.digits(2)};
  if (hours > std::chrono::hours{23} || minutes > std::chrono::minutes{59}) r.fail();
  const duration east = hours + minutes;
  return west ? -east : east;
}

struct parts {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

std::optional<timestamp> combine(const parts& p) noexcept {
  const std::chrono::year_month_day date{std::chrono::year{p.year}, std::chrono::month{p.month},
                                         std::chrono::day{p.day}};
  // A leap second counts as the first one of the next minute.
  if (!date.ok() || p.hour > 23 || p.minute > 59 || p.second > 60) return std::nullopt;
  return timestamp{std::chrono::sys_days{date}} + std::chrono::hours{p.hour}
         + std::chrono::minutes{p.minute} + std::chrono::seconds{p.second};
}

void clock_time(reader& r, parts& p) noexcept {
  p.hour = r.digits(2);
  r.expect(":");
  p.minute = r.digits(2);
  r.expect(":");
  p.second = r.digits(2);
}

constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

unsigned month_name(reader& r) noexcept {
  for (unsigned i = 0; i < months.size(); ++i) {
    if (!r.rest().starts_with(months[i])) continue;
    r.skip(3);
    return i + 1;
  }
  r.fail();
  return 0;
}

} // namespace time_reading

std::optional<timestamp> parse_rfc3339(std::string_view text) noexcept {
  time_reading::reader r{text};
  time_reading::parts p;
  p.year = r.digits(4);
  r.expect("-");
  p.month = static_cast<unsigned>(r.digits(2));
  r.expect("-");
  p.day = static_cast<unsigned>(r.digits(2));
  if (!r.accept('t') && !r.accept(' ')) r.expect("T");
  time_reading::clock_time(r, p);
  const int millis = r.accept('.') ? time_reading::fraction(r) : 0;
  const auto east = time_reading::offset(r);
  const auto whole = time_reading::combine(p);
  if (!r.done() || !whole) return std::nullopt;
  return *whole + duration{millis} - east;
}

std::optional<timestamp> parse_http_date(std::string_view text) noexcept {
  time_reading::reader r{text};
  time_reading::parts p;
  r.skip(3);
  r.expect(", ");
  p.day = static_cast<unsigned>(r.digits(2));
  r.expect(" ");
  p.month = time_reading::month_name(r);
  r.expect(" ");
  p.year = r.digits(4);
  r.expect(" ");
  time_reading::clock_time(r, p);
  r.expect(" GMT");
  return r.done() ? time_reading::combine(p) : std::nullopt;
}

std::string to_query_time(timestamp t) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(t);
  if (whole == never) return "1970-01-01T00:00:00Z";
  return to_rfc3339(whole).substr(0, 19) + "Z";
}

} // namespace sluice
