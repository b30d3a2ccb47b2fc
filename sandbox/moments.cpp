#include "sandbox/moments.hpp"

#include <charconv>
#include <chrono>

namespace sluice::sandbox {

namespace moments {

void two_digits(char* at, unsigned value) {
  at[0] = static_cast<char>('0' + value / 10);
  at[1] = static_cast<char>('0' + value % 10);
}

std::optional<std::int64_t> digits(std::string_view text) {
  std::int64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (text.empty() || failed != std::errc{} || stop != end || value < 0) return std::nullopt;
  return value;
}

} // namespace moments

std::string iso_seconds(std::int64_t ms) {
  using namespace std::chrono;
  const auto at = floor<seconds>(sys_time<milliseconds>{milliseconds{ms}});
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const hh_mm_ss time{at - day};
  std::string text = "0000-00-00T00:00:00Z";
  const auto year = static_cast<unsigned>(static_cast<int>(date.year()));
  moments::two_digits(text.data(), year / 100);
  moments::two_digits(text.data() + 2, year % 100);
  moments::two_digits(text.data() + 5, static_cast<unsigned>(date.month()));
  moments::two_digits(text.data() + 8, static_cast<unsigned>(date.day()));
  moments::two_digits(text.data() + 11, static_cast<unsigned>(time.hours().count()));
  moments::two_digits(text.data() + 14, static_cast<unsigned>(time.minutes().count()));
  moments::two_digits(text.data() + 17, static_cast<unsigned>(time.seconds().count()));
  return text;
}

std::optional<std::int64_t> millis_of(std::string_view text) {
  using namespace std::chrono;
  if (auto plain = moments::digits(text)) return plain;
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':'
      || text[16] != ':')
    return std::nullopt;
  const auto y = moments::digits(text.substr(0, 4));
  const auto mo = moments::digits(text.substr(5, 2));
  const auto d = moments::digits(text.substr(8, 2));
  const auto h = moments::digits(text.substr(11, 2));
  const auto mi = moments::digits(text.substr(14, 2));
  const auto s = moments::digits(text.substr(17, 2));
  if (!y || !mo || !d || !h || !mi || !s || *h > 23 || *mi > 59 || *s > 60) return std::nullopt;
  const year_month_day date{year{static_cast<int>(*y)}, month{static_cast<unsigned>(*mo)},
                            day{static_cast<unsigned>(*d)}};
  if (!date.ok()) return std::nullopt;
  auto rest = text.substr(19);
  std::int64_t fraction = 0;
  if (rest.starts_with('.')) {
    const auto end = rest.find_first_not_of("0123456789", 1);
    if (end == std::string_view::npos || end == 1) return std::nullopt;
    const auto padded = (std::string{rest.substr(1, end - 1)} + "00").substr(0, 3);
    fraction = *moments::digits(padded);
    rest.remove_prefix(end);
  }
  if (rest != "Z" && rest != "+00:00") return std::nullopt;
  const auto at = sys_days{date} + hours{*h} + minutes{*mi} + seconds{*s};
  return duration_cast<milliseconds>(at.time_since_epoch()).count() + fraction;
}

} // namespace sluice::sandbox
