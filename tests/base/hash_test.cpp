#include "base/hash.hpp"

#include <catch2/catch.hpp>

using namespace sluice;

TEST_CASE("hash: XXH3 of the empty text is the published value") {
  // xxhsum -H3 </dev/null
  CHECK(to_hex(hash64("")) == "2d06800538d394c2");
  CHECK(hash64("a") != hash64("b"));
  CHECK(hash64("a", 1) != hash64("a", 2));
}

TEST_CASE("hash: mixing two numbers is hashing their bytes, and order counts") {
  const std::string sixteen{"\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16};
  CHECK(mix64(1, 2) == hash64(sixteen));
  CHECK(mix64(1, 2) != mix64(2, 1));
}

TEST_CASE("hash: SHA-256 matches FIPS 180-2") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST_CASE("hash: hex has sixteen lower-case digits") {
  CHECK(to_hex(0) == "0000000000000000");
  CHECK(to_hex(0xDEADBEEF) == "00000000deadbeef");
}
