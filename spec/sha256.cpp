#include "spec/sha256.hpp"

#include <openssl/evp.h>

#include "spec/error.hpp"

namespace etalon {
namespace {

std::shared_ptr<EVP_MD_CTX> new_context() { return {EVP_MD_CTX_new(), &EVP_MD_CTX_free}; }

void require(int done) {
  if (done != 1) throw InternalError("SHA-256 is not available");
}

}  // namespace

Sha256::Sha256() : context_(new_context()) { require(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr)); }

Sha256& Sha256::add(std::span<const std::byte> bytes) {
  require(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()));
  return *this;
}

Sha256::Digest Sha256::digest() const {
  const auto finished = new_context();
  require(EVP_MD_CTX_copy_ex(finished.get(), context_.get()));
  Digest digest{};
  require(EVP_DigestFinal_ex(finished.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr));
  return digest;
}

std::string Sha256::hexadecimal() const { return etalon::hexadecimal(digest()); }

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<std::size_t>(byte >> 4)];
    text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return text;
}

}  // namespace etalon
