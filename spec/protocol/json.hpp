/// \file
/// The JSON forms of what Protocol 1 carries: tensors and programs. Decoding is total: whatever is wrong is a
/// SpecViolation that names the field, and a known field with an unknown value is Unsupported.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "spec/host_tensor.hpp"
#include "spec/placement.hpp"
#include "spec/program/program.hpp"

namespace etalon::spec {

/// Keys stay in the order in which they are written.
using Json = nlohmann::ordered_json;

/// Longest data of one decoded tensor and of one list of tensors, so that a few bytes of extents and zero strides cannot
/// ask for all memory.
inline constexpr std::int64_t largest_tensor_bytes = std::int64_t{1} << 28;

/// `{"dtype","shape","data"}`, dense.
[[nodiscard]] Json tensor_to_json(const HostTensor& tensor);
/// The same with `strides`, `offset` and the whole buffer as data.
[[nodiscard]] Json tensor_to_json(const HostTensor& tensor, const Placement& placement);
/// Reads a tensor, with `strides` and `offset` in elements where they are given.
/// \param field what to call it in messages
[[nodiscard]] HostTensor tensor_from_json(const Json& json, const std::string& field);
/// Where the elements of a tensor that `tensor_from_json` takes lie in its buffer; nothing for one without strides and
/// offset, which is dense.
[[nodiscard]] std::optional<Placement> placement_from_json(const Json& json, const std::string& field);

/// Inputs, calls, outputs; and, where the program has them: derivative steps among the calls (`"derivative":"vjp"`,
/// `"of"`, `"wrt"`, `"seeds"`), assignments among the calls (`"assign"`, `"places"`, `"accumulation"`, `"value"`) and
/// `"buffers"`, `"updates"`, `"value"` of constants, `"range"` of indices, `"source"`.
[[nodiscard]] Json program_to_json(const Program& program);
[[nodiscard]] Program program_from_json(const Json& json, const std::string& field);

/// Numbers as numbers, non-finite ones as "nan", "inf", "-inf"; a run-time scalar is `{"value": name}`.
[[nodiscard]] Json attribute_to_json(const AttributeValue& value);
[[nodiscard]] AttributeValue attribute_from_json(const Json& json, const std::string& field);

/// Parses one document. \throws SpecViolation with the position
[[nodiscard]] Json parse_json(std::string_view text, const std::string& what);
/// One line; invalid UTF-8 is replaced.
[[nodiscard]] std::string to_line(const Json& json);

}  // namespace etalon::spec
