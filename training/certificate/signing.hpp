/// \file
/// Signatures by Ed25519 (RFC 8032), with keys in PEM as `openssl genpkey -algorithm ed25519` writes them. The only place
/// that knows whose implementation it is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "spec/bytes.hpp"

struct evp_pkey_st;

namespace etalon::training {

/// Who can be checked.
class PublicKey {
 public:
  /// \throws IoError where the file cannot be read or holds no public key in PEM, or one of another kind
  static PublicKey read(const std::filesystem::path& file);

  [[nodiscard]] bool verifies(std::span<const std::byte> message, std::span<const std::byte> signature) const;
  /// SHA-256 of the key's SubjectPublicKeyInfo in DER, in hexadecimal digits: a name, which proves nothing.
  [[nodiscard]] std::string name() const;

 private:
  friend class PrivateKey;
  explicit PublicKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

/// Who can sign.
class PrivateKey {
 public:
  /// \throws IoError as of a public key; a key that a password protects is refused
  static PrivateKey read(const std::filesystem::path& file);

  /// 64 bytes. \throws InternalError where OpenSSL does not sign
  [[nodiscard]] Bytes sign(std::span<const std::byte> message) const;
  [[nodiscard]] PublicKey public_key() const { return PublicKey(key_); }

 private:
  explicit PrivateKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}
  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace etalon::training
