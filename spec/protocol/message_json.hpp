/// \file
/// The JSON of requests and answers before it becomes a line, for those who add fields of their own.
#pragma once

#include <optional>

#include "spec/backend.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::spec {

[[nodiscard]] Request request_from_json(const Json& json);
/// The element that a request of a script is about, if it names one. \throws SpecViolation
[[nodiscard]] std::optional<Shown> shown_from_json(const Json& json);
[[nodiscard]] Json answer_to_json(const std::string& id, const Answer& answer);

}  // namespace etalon::spec
