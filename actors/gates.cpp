#include "actors/gates.hpp"

#include "base/hash.hpp"

namespace sluice {

std::string gate_row_key(std::string_view kind, std::initializer_list<std::string_view> names) {
  std::string key{kind};
  char separator = '/';
  for (const auto name : names) {
    key += separator;
    key += name;
    separator = '\0';
  }
  // Names come from outside and may be of any length, keys of the store may not.
  if (key.size() > row_key_bytes_max)
    key = key.substr(0, row_key_bytes_max - 32) + to_hex(hash64(key, 1)) + to_hex(hash64(key, 2));
  return key;
}

} // namespace sluice
