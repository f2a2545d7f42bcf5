/// \file
/// SHA-256 of bytes that arrive in pieces. The only place that knows whose implementation it is.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace etalon {

class Sha256 {
 public:
  static constexpr std::size_t size = 32;
  using Digest = std::array<std::byte, size>;

  /// \throws InternalError where OpenSSL offers no SHA-256, here as in every member
  Sha256();

  Sha256& add(std::span<const std::byte> bytes);
  Sha256& add(std::string_view text) { return add(std::as_bytes(std::span(text))); }
  /// A name and a text, each with a line's end.
  Sha256& add(std::string_view name, std::string_view text) { return add(name).add("\n").add(text).add("\n"); }

  /// Of all that was added so far; more may be added afterwards.
  [[nodiscard]] Digest digest() const;
  /// The digest in 64 lower-case digits, as `sha256sum` prints it.
  [[nodiscard]] std::string hexadecimal() const;

 private:
  std::shared_ptr<evp_md_ctx_st> context_;
};

[[nodiscard]] inline std::string sha256_of(std::string_view text) { return Sha256().add(text).hexadecimal(); }
/// Bytes in lower-case hexadecimal digits.
[[nodiscard]] std::string hexadecimal(std::span<const std::byte> bytes);

}  // namespace etalon
