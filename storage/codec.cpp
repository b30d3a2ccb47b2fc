#include "storage/codec.hpp"

#include "base/hash.hpp"
#include "base/json.hpp"
#include "storage/frame.hpp"

#include <limits>
#include <utility>

namespace sluice::codec {

namespace {

constexpr std::size_t run_head_bytes = 8 + 1 + 8 + 3 * 8;

error unreadable(std::string_view what) {
  return make_error(errc::corrupt, std::string{what} + " cannot be read");
}

std::uint64_t checksum(std::string_view value, std::uint64_t seed) noexcept {
  const auto first = static_cast<unsigned char>(value[0]);
  const auto second = static_cast<unsigned char>(value[1]);
  return hash64(value.substr(header_bytes), mix64(seed, (std::uint64_t{first} << 8) | second));
}

std::uint64_t millis(timestamp t) noexcept {
  return frame::zigzag(to_millis(t));
}

std::uint64_t row_seed(table where, std::string_view key) noexcept {
  return mix64(seed_of(key), static_cast<std::uint64_t>(where));
}

} // namespace

std::uint64_t seed_of(keys::log_position at) noexcept {
  return mix64(at.seq, at.run);
}

std::uint64_t seed_of(std::string_view key) noexcept {
  return hash64(key);
}

void seal(char* value, std::size_t value_bytes, value_kind kind, std::uint64_t seed) noexcept {
  value[0] = static_cast<char>(version);
  value[1] = static_cast<char>(kind);
  frame::writer{value + 2}.u64(checksum({value, value_bytes}, seed));
}

result<opened> open(std::string_view value, std::uint64_t seed) {
  if (value.size() < header_bytes) return make_error(errc::corrupt, "a value is too short");
  if (frame::reader{value.substr(2, 8)}.u64() != checksum(value, seed)) {
    return make_error(errc::corrupt, "a value fails its checksum");
  }
  if (static_cast<unsigned char>(value[0]) > version) {
    return make_error(errc::newer_format, "a value was written by a newer build");
  }
  const auto kind = static_cast<unsigned char>(value[1]);
  if (kind < static_cast<unsigned>(value_kind::batch)
      || kind > static_cast<unsigned>(value_kind::seqs)) {
    return make_error(errc::newer_format, "a value is of a kind that this build does not know");
  }
  return opened{static_cast<value_kind>(kind), value.substr(header_bytes)};
}

// -- log records ------------------------------------------------------------------

std::size_t bytes_of(const batch_record& x) noexcept {
  return header_bytes + 16 + frame::varint_bytes(x.epoch) + frame::varint_bytes(millis(x.at))
         + frame::varint_bytes(x.records);
}

void write(char* out, keys::log_position at, const batch_record& x) noexcept {
  frame::writer w{out + header_bytes};
  for (auto b : x.id.value.bytes)
    w.u8(b);
  w.varint(x.epoch);
  w.varint(millis(x.at));
  w.varint(x.records);
  seal(out, static_cast<std::size_t>(w.end() - out), value_kind::batch, seed_of(at));
}

result<batch_record> read_batch(std::string_view frame) {
  frame::reader r{frame};
  batch_record x;
  for (auto& b : x.id.value.bytes)
    b = r.u8();
  x.epoch = r.varint();
  x.at = from_millis(r.signed_varint());
  x.records = r.varint();
  if (!r.ok() || !r.done()) return unreadable("a batch record");
  return x;
}

std::size_t bytes_of(const step_record& x) noexcept {
  return header_bytes + 2 + frame::varint_bytes(x.ordinal) + frame::varint_bytes(x.attempt)
         + frame::varint_bytes(millis(x.at)) + frame::varint_bytes(millis(x.until))
         + frame::varint_bytes(x.gated) + frame::varint_bytes(x.name.size()) + x.name.size()
         + x.payload.size();
}

void write(char* out, keys::log_position at, const step_record& x) noexcept {
  frame::writer w{out + header_bytes};
  w.u8(static_cast<std::uint8_t>(x.kind));
  w.u8(static_cast<std::uint8_t>(x.status));
  w.varint(x.ordinal);
  w.varint(x.attempt);
  w.varint(millis(x.at));
  w.varint(millis(x.until));
  w.varint(x.gated);
  w.varint(x.name.size());
  w.bytes(x.name);
  w.bytes(x.payload);
  seal(out, static_cast<std::size_t>(w.end() - out), value_kind::step, seed_of(at));
}

result<step_record> read_step(std::string_view frame, const run_id& run) {
  frame::reader r{frame};
  step_record x;
  const auto kind = r.u8();
  const auto status = r.u8();
  const auto ordinal = r.varint();
  const auto attempt = r.varint();
  x.run = run;
  x.at = from_millis(r.signed_varint());
  x.until = from_millis(r.signed_varint());
  x.gated = r.varint();
  const auto name = r.bytes(r.varint());
  const auto payload = r.rest();
  if (!r.ok() || kind > static_cast<std::uint8_t>(step_kind::version)
      || status > static_cast<std::uint8_t>(step_status::failed)
      || !std::in_range<std::uint32_t>(ordinal) || !std::in_range<std::uint32_t>(attempt)) {
    return unreadable("a step record");
  }
  x.kind = static_cast<step_kind>(kind);
  x.status = static_cast<step_status>(status);
  x.ordinal = static_cast<std::uint32_t>(ordinal);
  x.attempt = static_cast<std::uint32_t>(attempt);
  x.name = name;
  x.payload = payload;
  return x;
}

result<step_head> peek_step(std::string_view frame) {
  frame::reader r{frame};
  const auto kind = r.u8();
  const auto status = r.u8();
  const auto ordinal = r.varint();
  if (!r.ok() || kind > static_cast<std::uint8_t>(step_kind::version)
      || status > static_cast<std::uint8_t>(step_status::failed)
      || !std::in_range<std::uint32_t>(ordinal)) {
    return unreadable("a step record");
  }
  return step_head{static_cast<step_kind>(kind), static_cast<step_status>(status),
                   static_cast<std::uint32_t>(ordinal)};
}

std::size_t bytes_of(const put_marks& x) noexcept {
  return header_bytes + frame::varint_bytes(x.page) + frame::varint_bytes(x.unit.size())
         + x.unit.size() + x.bitmap.size();
}

void write(char* out, keys::log_position at, const put_marks& x) noexcept {
  frame::writer w{out + header_bytes};
  w.varint(x.page);
  w.varint(x.unit.size());
  w.bytes(x.unit);
  w.bytes(x.bitmap);
  seal(out, static_cast<std::size_t>(w.end() - out), value_kind::marks, seed_of(at));
}

result<put_marks> read_marks(std::string_view frame, const run_id& run) {
  frame::reader r{frame};
  const auto page = r.varint();
  const auto unit = r.bytes(r.varint());
  const auto bitmap = r.rest();
  if (!r.ok() || !std::in_range<std::uint32_t>(page)) return unreadable("a marks record");
  return put_marks{run, std::string{unit}, static_cast<std::uint32_t>(page), std::string{bitmap}};
}

std::string event_head(const event& x) {
  return json::encode(x);
}

std::size_t bytes_of(const event& x, std::string_view head) noexcept {
  return header_bytes + 8 + frame::varint_bytes(head.size()) + head.size() + x.data.size();
}

void write(char* out, keys::log_position at, const event& x, std::string_view head) noexcept {
  frame::writer w{out + header_bytes};
  w.u64(topic_of(x.kind, x.subject));
  w.varint(head.size());
  w.bytes(head);
  w.bytes(x.data);
  seal(out, static_cast<std::size_t>(w.end() - out), value_kind::event, seed_of(at));
}

result<event> read_event(std::string_view frame, std::uint64_t seq) {
  frame::reader r{frame};
  r.u64();
  const auto head = r.bytes(r.varint());
  const auto data = r.rest();
  if (!r.ok()) return unreadable("an event");
  auto x = json::decode<event>(head);
  if (!x) return unreadable("an event");
  x->seq = seq;
  x->data = data;
  return x;
}

std::uint64_t topic_of(std::string_view kind, std::string_view subject) noexcept {
  if (kind == event_kind::run_requested || kind == event_kind::step_failed) return 0;
  const auto topic = hash64(subject, hash64(kind));
  return topic == 0 ? 1 : topic;
}

result<std::uint64_t> peek_topic(std::string_view frame) {
  frame::reader r{frame};
  const auto topic = r.u64();
  if (!r.ok()) return unreadable("an event");
  return topic;
}

// -- run rows ---------------------------------------------------------------------

std::uint64_t word_hash(std::string_view word) noexcept {
  return hash64(word);
}

std::string write_run(const run_row& row, std::uint64_t number) {
  const auto text = json::encode(row);
  std::string value(header_bytes + run_head_bytes + text.size(), '\0');
  frame::writer w{value.data() + header_bytes};
  w.u64(number);
  w.u8(static_cast<std::uint8_t>(row.status));
  w.u64(static_cast<std::uint64_t>(to_millis(row.ended_at)));
  w.u64(word_hash(row.tenant));
  w.u64(word_hash(row.workflow));
  w.u64(word_hash(row.installation));
  w.bytes(text);
  seal(value.data(), value.size(), value_kind::run, seed_of(keys::run(row.id)));
  return value;
}

result<run_head> peek_run(std::string_view frame) {
  frame::reader r{frame};
  run_head h;
  h.number = r.u64();
  const auto status = r.u8();
  h.ended_at = from_millis(static_cast<std::int64_t>(r.u64()));
  h.tenant = r.u64();
  h.workflow = r.u64();
  h.installation = r.u64();
  if (!r.ok() || status > static_cast<std::uint8_t>(run_status::parked)) {
    return unreadable("the row of a run");
  }
  h.status = static_cast<run_status>(status);
  return h;
}

result<run_row> read_run(std::string_view frame) {
  if (frame.size() < run_head_bytes) return unreadable("the row of a run");
  auto row = json::decode<run_row>(frame.substr(run_head_bytes));
  if (!row) return unreadable("the row of a run");
  return row;
}

// -- rows of the small tables -----------------------------------------------------

std::string write_row(table where, std::string_view key, std::string_view value) {
  std::string sealed(header_bytes, '\0');
  sealed += value;
  seal(sealed.data(), sealed.size(), value_kind::row, row_seed(where, key));
  return sealed;
}

result<std::string> read_row(table where, std::string_view key, std::string_view value) {
  auto x = open(value, row_seed(where, key));
  if (!x) return x.error();
  if (x->kind != value_kind::row) return unreadable("a row");
  return std::string{x->frame};
}

} // namespace sluice::codec
