// SHA-256 against the examples that FIPS 180-4 gives, and against itself when
// the bytes come in parts.
#include <support/Sha256.hpp>

#include <gtest/gtest.h>

namespace {

using support::Sha256;
using support::toHex;

std::string hashOf(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return toHex(hash.digest());
}

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(hashOf("abc"), "ba7816bf8f01cfea414140de5dae2223"
                           "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hashOf(""), "e3b0c44298fc1c149afbf4c8996fb924"
                        "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hashOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039"
            "a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hashOf(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67"
            "f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesAreCut) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += static_cast<char>(i * 7);
  }
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 hash;
    hash.add(std::string_view(text).substr(0, cut));
    hash.add(std::string_view(text).substr(cut));
    EXPECT_EQ(toHex(hash.digest()), hashOf(text)) << cut;
  }
}

} // namespace
