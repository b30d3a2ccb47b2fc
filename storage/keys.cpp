#include "storage/keys.hpp"

#include "base/hash.hpp"
#include "messages/journal.hpp"

#include <algorithm>

namespace sluice::keys {

namespace {

constexpr std::uint64_t sign_bit = 1ULL << 63;

template <class T>
void put_big_endian(char* out, T n) noexcept {
  for (std::size_t i = sizeof(T); i-- > 0; n = static_cast<T>(n >> 8)) {
    out[i] = static_cast<char>(n & 0xFF);
  }
}

template <class T>
T get_big_endian(const char* in) noexcept {
  T n = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    n = static_cast<T>((n << 8) | static_cast<unsigned char>(in[i]));
  }
  return n;
}

run_id run_at(const char* in) noexcept {
  run_id id;
  std::copy_n(in, 16, id.value.bytes.begin());
  return id;
}

} // namespace

fixed<8> number(std::uint64_t n) noexcept {
  fixed<8> key;
  put_big_endian(key.bytes.data(), n);
  return key;
}

fixed<16> position(log_position p) noexcept {
  fixed<16> key;
  put_big_endian(key.bytes.data(), p.seq);
  put_big_endian(key.bytes.data() + 8, p.run);
  return key;
}

fixed<16> run(const run_id& id) noexcept {
  fixed<16> key;
  std::copy_n(id.value.bytes.begin(), 16, key.bytes.begin());
  return key;
}

fixed<8> instant(timestamp t) noexcept {
  return number(static_cast<std::uint64_t>(to_millis(t)) ^ sign_bit);
}

std::optional<std::uint64_t> number_from(std::string_view key) noexcept {
  if (key.size() != 8) return std::nullopt;
  return get_big_endian<std::uint64_t>(key.data());
}

std::optional<log_position> position_from(std::string_view key) noexcept {
  if (key.size() != 16) return std::nullopt;
  return log_position{get_big_endian<std::uint64_t>(key.data()),
                      get_big_endian<std::uint64_t>(key.data() + 8)};
}

std::optional<run_id> run_from(std::string_view key) noexcept {
  if (key.size() != 16) return std::nullopt;
  return run_at(key.data());
}

std::optional<timestamp> instant_from(std::string_view key) noexcept {
  auto n = number_from(key);
  if (!n) return std::nullopt;
  return from_millis(static_cast<std::int64_t>(*n ^ sign_bit));
}

fixed<21> chunk(const run_id& id, seq_list list, std::uint32_t first) noexcept {
  fixed<21> key;
  std::copy_n(id.value.bytes.begin(), 16, key.bytes.begin());
  key.bytes[16] = static_cast<char>(list);
  put_big_endian(key.bytes.data() + 17, first);
  return key;
}

std::optional<chunk_name> chunk_from(std::string_view key) noexcept {
  if (key.size() != 21) return std::nullopt;
  const auto list = static_cast<unsigned char>(key[16]);
  if (list > static_cast<unsigned char>(seq_list::steps)) return std::nullopt;
  return chunk_name{run_at(key.data()), static_cast<seq_list>(list),
                    get_big_endian<std::uint32_t>(key.data() + 17)};
}

std::string idempotency(std::string_view key) {
  // The first byte tells text from hash, so that no text can pretend to be the hash of another.
  if (key.size() <= row_key_bytes_max) return "t" + std::string{key};
  return "h" + sha256_hex(key);
}

std::string cert_prefix(const run_id& id) {
  return to_string(id);
}

} // namespace sluice::keys
