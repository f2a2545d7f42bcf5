#include "training/certificate/certificate.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/protocol/base64.hpp"
#include "tests/training/certificates.hpp"
#include "training/certificate/challenge.hpp"
#include "training/certificate/envelope.hpp"
#include "training/certificate/merkle.hpp"

using namespace etalon;
using namespace etalon::training;

namespace {

Bytes bytes_of_digits(const std::string& digits) {
  Bytes bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) bytes.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

/// Whether a chance below 1 is the expected one, computed as 1 less a product of that many quotients: each rounds twice and
/// is at most 1, and so does the difference; the expected one rounds as often as three of them.
bool is_product(double chance, double expected, std::int64_t quotients) {
  return std::abs(chance - expected) <= static_cast<double>(2 * quotients + 7) * std::numeric_limits<double>::epsilon() / 2;
}

std::string text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("roots of Merkle trees are those of the logs of certificates") {
  // The vectors that implementations of RFC 6962 and 9162 share.
  const std::vector<std::string> leaves = {"", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"};
  const std::vector<std::string> roots = {
      "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d", "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
      "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77", "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
      "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4", "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
      "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c", "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};
  std::vector<Digest> digests;
  CHECK(hexadecimal(merkle_root(digests)) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    digests.push_back(leaf_digest(text_of(bytes_of_digits(leaves[i]))));
    CHECK(hexadecimal(merkle_root(digests)) == roots[i]);
  }
}

TEST_CASE("a proof shows its own leaf at its own place and no other") {
  for (std::size_t count = 1; count <= 33; ++count) {
    std::vector<Digest> leaves;
    for (std::size_t i = 0; i < count; ++i) leaves.push_back(leaf_digest("leaf " + std::to_string(i)));
    const Digest root = merkle_root(leaves);
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<Digest> proof = inclusion_proof(leaves, i);
      REQUIRE(proves_inclusion(leaves[i], i, count, proof, root));
      for (std::size_t j = 0; j < count; ++j) {
        if (j != i) REQUIRE_FALSE(proves_inclusion(leaves[j], i, count, proof, root));
        if (j != i) REQUIRE_FALSE(proves_inclusion(leaves[i], j, count, proof, root));
      }
      for (std::size_t p = 0; p < proof.size(); ++p) {
        std::vector<Digest> other = proof;
        other[p][7] ^= std::byte{4};
        REQUIRE_FALSE(proves_inclusion(leaves[i], i, count, other, root));
        other = proof;
        other.erase(other.begin() + static_cast<std::ptrdiff_t>(p));
        REQUIRE_FALSE(proves_inclusion(leaves[i], i, count, other, root));
      }
    }
    REQUIRE_FALSE(proves_inclusion(leaves[0], count, count, {}, root));
  }
}

TEST_CASE("signatures are those of RFC 8032") {
  // Test 2 of section 7.1; the seed as a key of PKCS #8.
  const Bytes key = bytes_of_digits("302e020100300506032b6570042204204ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
  const Bytes open = bytes_of_digits("302a300506032b65700321003d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
  const Bytes expected = bytes_of_digits(
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00");
  const Bytes message = bytes_of_digits("72");
  const TemporaryFolder folder;
  write_file(folder / "key.pem", "-----BEGIN PRIVATE KEY-----\n" + spec::to_base64(key) + "\n-----END PRIVATE KEY-----\n");
  write_file(folder / "key.pub", "-----BEGIN PUBLIC KEY-----\n" + spec::to_base64(open) + "\n-----END PUBLIC KEY-----\n");
  const PrivateKey secret = PrivateKey::read(folder / "key.pem");
  const PublicKey known = PublicKey::read(folder / "key.pub");
  CHECK(secret.sign(message) == expected);
  CHECK(known.verifies(message, expected));
  CHECK(known.name() == secret.public_key().name());
  for (std::size_t bit = 0; bit < 8 * expected.size(); ++bit) {
    Bytes wrong = expected;
    wrong[bit / 8] ^= std::byte{1} << bit % 8;
    REQUIRE_FALSE(known.verifies(message, wrong));
  }
  CHECK_FALSE(known.verifies(bytes_of_digits("73"), expected));
  CHECK_FALSE(known.verifies(message, std::span(expected).first(63)));
  CHECK_THAT(error_of([&] { (void)PublicKey::read(folder / "key.pem"); }), Catch::Contains("key.pem: no public key"));
  CHECK_THAT(error_of([&] { (void)PrivateKey::read(folder / "none.pem"); }), Catch::Contains("none.pem"));
}

TEST_CASE("what is signed is DSSE's own example") {
  CHECK(signed_text("http://example.com/HelloWorld", "hello world") == "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
}

TEST_CASE("an envelope comes back, and no byte of it can change") {
  const TemporaryFolder folder;
  const Keys keys(folder), strangers(folder, "stranger");
  const std::string text = to_json(sealed(std::string(statement_type), to_statement(some_certificate()), keys.secret()));
  const Envelope read = read_envelope(text, "c.json");
  REQUIRE(is_signed_by(read, keys.open()));
  REQUIRE_FALSE(is_signed_by(read, strangers.open()));
  CHECK(read_statement(read.payload, "c.json") == some_certificate());

  std::size_t refused = 0, hints = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = static_cast<char>(other[i] ^ 1);
    try {
      const Envelope changed = read_envelope(other, "c.json");
      // The hint at the key is not signed, and nothing is decided by it.
      const bool same = changed.type == read.type && changed.payload == read.payload && changed.signatures[0].bytes == read.signatures[0].bytes;
      REQUIRE(is_signed_by(changed, keys.open()) == same);
      ++(same ? hints : refused);
    } catch (const IoError&) {
      ++refused;
    }
  }
  CHECK(hints <= 64 + 7);  // the hint's digits and its name
  CHECK(refused + hints == text.size());
  for (std::size_t length = 0; length < text.size(); ++length) {
    REQUIRE_THROWS_AS(read_envelope(std::string_view(text).substr(0, length), "c.json"), IoError);
  }
}

TEST_CASE("certificates of other kinds, doubled fields and what is no number are refused with their place") {
  const std::string good = to_statement(some_certificate());
  REQUIRE(read_statement(good, "c.json") == some_certificate());
  const auto with = [&](const std::string& old, const std::string& now) {
    const std::size_t at = good.find(old);
    REQUIRE(at != std::string::npos);
    return error_of([&] { (void)read_statement(std::string(good).replace(at, old.size(), now), "c.json"); });
  };
  const std::map<std::pair<std::string, std::string>, std::string> faults = {
      {{"Statement/v1", "Statement/v9"}, "c.json: _type: 'https://in-toto.io/Statement/v9', expected https://in-toto.io/Statement/v1"},
      {{"urn:etalon:training-run:1", "urn:etalon:training-run:2"},
       "c.json: predicateType: 'urn:etalon:training-run:2', expected urn:etalon:training-run:1"},
      {{"\"level\":\"bitwise\"", "\"level\":\"bytewise\""}, "c.json: predicate: level: 'bytewise', expected bitwise or explained"},
      {{"\"level\":", "\"levels\":"}, "c.json: predicate: unknown field 'levels'; did you mean 'level'?"},
      {{"\"count\":7", "\"count\":-7"}, "c.json: predicate: intervals: count: expected an integer from 0 to 2^63 - 1, found number"},
      {{"\"count\":7", "\"count\":7,\"count\":7"}, "c.json: count stands twice in one object"},
      {{"0x1.8p-1", "0.75"}, "c.json: predicate: metrics: accuracy: '0.75', expected a hexadecimal number such as 0x1.8p+1"},
      {{"\"subject\":[", "\"subject\":[],\"other\":["}, "c.json: subject: none, expected at least one file"},
  };
  for (const auto& [change, message] : faults) CHECK(with(change.first, change.second) == message);
  CHECK_THAT(with("{\\\"seed\\\": 1}", "{\\\"seed\\\": 2}"), Catch::Contains("but the declaration's digest is"));
  Certificate endless = some_certificate();
  endless.metrics["loss"] = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(to_statement(endless), SpecViolation);
}

TEST_CASE("a challenge is as many different intervals, and every set is as likely") {
  std::map<std::vector<std::int64_t>, int> seen;
  const int draws = 6000;
  for (int i = 0; i < draws; ++i) {
    const std::vector<std::int64_t> chosen = Nonce::of(sha256_of(std::to_string(i))).challenge(6, 3);
    REQUIRE(std::set<std::int64_t>(chosen.begin(), chosen.end()).size() == 3);
    ++seen[chosen];
  }
  REQUIRE(seen.size() == 20);
  double chi = 0;
  for (const auto& [set, count] : seen) chi += std::pow(count - draws / 20.0, 2) / (draws / 20.0);
  CHECK(chi < 43.8);  // 0.1 % of 19 degrees of freedom
  CHECK(Nonce::fresh().hexadecimal() != Nonce::fresh().hexadecimal());
  CHECK(Nonce::of(std::string(64, 'a')).challenge(5, 5) == std::vector<std::int64_t>{0, 1, 2, 3, 4});
  CHECK_THROWS_AS(Nonce::fresh().challenge(5, 6), SpecViolation);
  CHECK_THROWS_AS(Nonce::of("12"), SpecViolation);
}

TEST_CASE("a forged interval is found as often as is said") {
  const std::int64_t forged = 41;
  for (const std::int64_t asked : {1, 5, 20, 100}) {
    const int nonces = 1000;
    int found = 0;
    for (int i = 0; i < nonces; ++i) {
      const std::vector<std::int64_t> chosen = Nonce::of(sha256_of("nonce " + std::to_string(i))).challenge(100, asked);
      found += std::find(chosen.begin(), chosen.end(), forged) != chosen.end() ? 1 : 0;
    }
    const double p = chance_of_finding(100, 1, asked);
    CHECK(is_product(p, static_cast<double>(asked) / 100, asked));
    CHECK(std::abs(found - nonces * p) <= 3 * std::sqrt(nonces * p * std::max(0.0, 1 - p)));
  }
  CHECK(is_product(chance_of_finding(10, 2, 3), 1 - (8.0 * 7 * 6) / (10 * 9 * 8), 3));
  CHECK(chance_of_finding(10, 8, 3) == 1);
}
