#include "training/certificate/envelope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "spec/error.hpp"
#include "spec/protocol/base64.hpp"
#include "training/files/strict_json.hpp"

namespace etalon::training {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

Bytes decoded(std::string text, const std::string& field, const std::string& source) {
  // A reader of DSSE takes the standard and the URL-safe alphabet.
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  std::optional<Bytes> bytes = spec::from_base64(text);
  if (!bytes) throw IoError(fmt::format("{}: {}: no base64", source, field));
  return std::move(*bytes);
}

}  // namespace

std::string signed_text(std::string_view type, std::string_view payload) {
  return fmt::format("DSSEv1 {} {} {} {}", type.size(), type, payload.size(), payload);
}

Envelope sealed(std::string type, std::string payload, const PrivateKey& key) {
  Bytes signature = key.sign(bytes_of(signed_text(type, payload)));
  return {std::move(type), std::move(payload), {{key.public_key().name(), std::move(signature)}}};
}

std::string to_json(const Envelope& envelope) {
  nlohmann::ordered_json json;
  json["payloadType"] = envelope.type;
  json["payload"] = spec::to_base64(bytes_of(envelope.payload));
  json["signatures"] = nlohmann::ordered_json::array();
  for (const Envelope::Signature& s : envelope.signatures) json["signatures"].push_back({{"keyid", s.key}, {"sig", spec::to_base64(s.bytes)}});
  return json.dump();
}

Envelope read_envelope(std::string_view json, const std::string& source) {
  const StrictJson all = StrictJson::parse(json, source);
  Envelope envelope;
  envelope.type = all.at("payloadType").text();
  const Bytes payload = decoded(all.at("payload").text(), "payload", source);
  envelope.payload.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
  for (const StrictJson& s : all.at("signatures").items()) {
    envelope.signatures.push_back({s.has("keyid") ? s.at("keyid").text() : "", decoded(s.at("sig").text(), "signatures: sig", source)});
  }
  if (envelope.signatures.empty()) throw IoError(fmt::format("{}: signatures: none, expected at least one", source));
  return envelope;
}

bool is_signed_by(const Envelope& envelope, const PublicKey& key) {
  const std::string text = signed_text(envelope.type, envelope.payload);
  return std::any_of(envelope.signatures.begin(), envelope.signatures.end(),
                     [&](const Envelope::Signature& s) { return key.verifies(bytes_of(text), s.bytes); });
}

}  // namespace etalon::training
