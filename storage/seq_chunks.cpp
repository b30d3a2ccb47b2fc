#include "storage/seq_chunks.hpp"

#include "storage/codec.hpp"
#include "storage/frame.hpp"

#include <utility>

namespace sluice::codec {

namespace {

/// Two varints of at most ten bytes each.
constexpr std::size_t chunk_entry_bytes_max = 20;

std::string seal_chunk(std::string value, const char* end, std::string_view key) {
  value.resize(static_cast<std::size_t>(end - value.data()));
  seal(value.data(), value.size(), value_kind::seqs, seed_of(key));
  return value;
}

result<std::string_view> open_chunk(std::string_view key, std::string_view value) {
  auto x = open(value, seed_of(key));
  if (!x) return x.error();
  if (x->kind != value_kind::seqs) return make_error(errc::corrupt, "not a list of positions");
  return x->frame;
}

} // namespace

std::string write_steps(const keys::fixed<21>& key, std::span<const step_place> steps) {
  std::string value(header_bytes + steps.size() * chunk_entry_bytes_max, '\0');
  frame::writer w{value.data() + header_bytes};
  step_place before;
  for (const auto& s : steps) {
    w.varint(s.ordinal - before.ordinal);
    w.varint(frame::zigzag(static_cast<std::int64_t>(s.seq() - before.seq())));
    before = s;
  }
  return seal_chunk(std::move(value), w.end(), key);
}

std::string write_others(const keys::fixed<21>& key, std::span<const other_place> others) {
  std::string value(header_bytes + others.size() * chunk_entry_bytes_max, '\0');
  frame::writer w{value.data() + header_bytes};
  std::uint64_t before = 0;
  for (const auto& o : others) {
    w.u8(static_cast<std::uint8_t>(o.role()));
    w.varint(o.seq() - before);
    before = o.seq();
  }
  return seal_chunk(std::move(value), w.end(), key);
}

result<std::vector<step_place>> read_steps(std::string_view key, std::string_view value) {
  auto frame = open_chunk(key, value);
  if (!frame) return frame.error();
  frame::reader r{*frame};
  std::vector<step_place> steps;
  std::uint32_t ordinal = 0;
  std::uint64_t seq = 0;
  while (!r.done() && r.ok()) {
    ordinal += static_cast<std::uint32_t>(r.varint());
    seq += static_cast<std::uint64_t>(r.signed_varint());
    steps.push_back(step_place::at(ordinal, seq));
  }
  if (!r.ok()) return make_error(errc::corrupt, "a list of positions cannot be read");
  return steps;
}

result<std::vector<other_place>> read_others(std::string_view key, std::string_view value) {
  auto frame = open_chunk(key, value);
  if (!frame) return frame.error();
  frame::reader r{*frame};
  std::vector<other_place> others;
  std::uint64_t seq = 0;
  while (!r.done() && r.ok()) {
    const auto role = r.u8();
    seq += r.varint();
    if (role > static_cast<std::uint8_t>(record_role::unreadable)) {
      return make_error(errc::corrupt, "a list of positions cannot be read");
    }
    others.push_back(other_place::at(static_cast<record_role>(role), seq));
  }
  if (!r.ok()) return make_error(errc::corrupt, "a list of positions cannot be read");
  return others;
}

} // namespace sluice::codec
