#include "training/certificate/signing.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <limits>

#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/sha256.hpp"

namespace etalon::training {
namespace {

const unsigned char* bytes_of(std::span<const std::byte> bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

/// No password is asked for: whoever signs in a script has nobody to ask.
int no_password(char*, int, int, void*) { return -1; }

using Reader = EVP_PKEY* (*)(BIO*, EVP_PKEY**, pem_password_cb*, void*);

std::shared_ptr<EVP_PKEY> read_key(const std::filesystem::path& file, Reader reader, const char* kind) {
  const std::string text = read_file(file);
  constexpr std::size_t largest = 1 << 20;
  const std::size_t size = std::min(text.size(), largest);
  const std::unique_ptr<BIO, decltype(&BIO_free)> in(BIO_new_mem_buf(text.data(), static_cast<int>(size)), &BIO_free);
  if (!in) throw InternalError("OpenSSL gives no memory");
  std::shared_ptr<EVP_PKEY> key(reader(in.get(), nullptr, &no_password, nullptr), &EVP_PKEY_free);
  if (!key) throw IoError(fmt::format("{}: no {} key in PEM without a password, expected an Ed25519 key", file.string(), kind));
  if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519) {
    const char* found = EVP_PKEY_get0_type_name(key.get());
    throw IoError(fmt::format("{}: a key of {}, expected ED25519", file.string(), found != nullptr ? found : "another kind"));
  }
  return key;
}

using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

}  // namespace

PublicKey PublicKey::read(const std::filesystem::path& file) { return PublicKey(read_key(file, &PEM_read_bio_PUBKEY, "public")); }

bool PublicKey::verifies(std::span<const std::byte> message, std::span<const std::byte> signature) const {
  const Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1) {
    throw InternalError("OpenSSL does not verify Ed25519");
  }
  return EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message), message.size()) == 1;
}

std::string PublicKey::name() const {
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key_.get(), &der);
  if (size <= 0) throw InternalError("OpenSSL does not write a public key");
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owned(der, [](unsigned char* p) { OPENSSL_free(p); });
  return Sha256().add(std::as_bytes(std::span(der, static_cast<std::size_t>(size)))).hexadecimal();
}

PrivateKey PrivateKey::read(const std::filesystem::path& file) { return PrivateKey(read_key(file, &PEM_read_bio_PrivateKey, "private")); }

Bytes PrivateKey::sign(std::span<const std::byte> message) const {
  const Context context(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  constexpr std::size_t length = 64;
  Bytes signature(length);
  std::size_t size = signature.size();
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes_of(message), message.size()) != 1 ||
      size != length) {
    throw InternalError("OpenSSL does not sign by Ed25519");
  }
  return signature;
}

}  // namespace etalon::training
