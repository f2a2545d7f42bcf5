/// \file
/// DSSE, version 1.0 (github.com/secure-systems-lab/dsse): a payload with its type and signatures of both. It knows
/// nothing of what a payload says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/bytes.hpp"
#include "training/certificate/signing.hpp"

namespace etalon::training {

struct Envelope {
  struct Signature {
    std::string key;  ///< a hint at the key: nothing is decided by it
    Bytes bytes;
  };

  std::string type;     ///< of the payload, a media type
  std::string payload;  ///< bytes
  std::vector<Signature> signatures;
};

/// What is signed: DSSE's pre-authentication encoding of type and payload.
[[nodiscard]] std::string signed_text(std::string_view type, std::string_view payload);

/// With one signature. \throws as PrivateKey::sign
[[nodiscard]] Envelope sealed(std::string type, std::string payload, const PrivateKey& key);

/// One line of JSON.
[[nodiscard]] std::string to_json(const Envelope& envelope);

/// \param source what the text is called in errors
/// \throws IoError: no JSON, nested too deeply, a field that is missing, doubled or of another kind, no signature, or what
/// is no base64 (both alphabets are read)
[[nodiscard]] Envelope read_envelope(std::string_view json, const std::string& source);

/// Whether one of the signatures is this key's. Nothing of a payload is read before it is asked.
[[nodiscard]] bool is_signed_by(const Envelope& envelope, const PublicKey& key);

}  // namespace etalon::training
