/// \file
/// The lines of Protocol 1: requests, answers and descriptions as text. It knows no transport and no backend.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "spec/backend.hpp"

namespace etalon::spec {

inline constexpr std::int64_t protocol_version = 1;

/// Each is one line without its end.
[[nodiscard]] std::string encode_describe();
[[nodiscard]] std::string encode(const Request& request);
[[nodiscard]] std::string encode_script(const Request& request, const std::optional<Shown>& shown);
[[nodiscard]] std::string encode(const Description& description);
[[nodiscard]] std::string encode(const std::string& id, const Answer& answer);

/// \throws SpecViolation naming the field that is wrong, Unsupported for an unknown value of a known field.
[[nodiscard]] Request decode_request(std::string_view line);
[[nodiscard]] Description decode_description(std::string_view line);

/// An answer and the request it answers.
struct Reply {
  std::string id;
  Answer answer;
};
[[nodiscard]] Reply decode_reply(std::string_view line);

/// The script in the answer to `encode_script`, or nothing when the answer says that there is none.
[[nodiscard]] std::optional<std::string> decode_script(std::string_view line, const std::string& id);

}  // namespace etalon::spec
