/// \file
/// The JSON of requests and answers before it becomes a line, for those who add fields of their own.
#pragma once

#include "spec/backend.hpp"
#include "spec/protocol/json.hpp"

namespace etalon::spec {

[[nodiscard]] Request request_from_json(const Json& json);
[[nodiscard]] Json answer_to_json(const std::string& id, const Answer& answer);

}  // namespace etalon::spec
