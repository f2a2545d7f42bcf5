#include "conformance/adapter/questions.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "spec/library/library.hpp"
#include "spec/protocol/json.hpp"
#include "spec/protocol/message.hpp"

namespace etalon::conformance {
namespace {

using spec::Json;

// Cases of one operation that are drawn until one is small enough.
constexpr std::uint64_t draws = 160;  // of 40 calls
constexpr std::size_t small = 256;

/// The first small case of those that are wanted.
template <class Wanted>
[[nodiscard]] std::optional<spec::Request> drawn(const std::string& operation, Check check, DType dtype, const Wanted& wanted) {
  CaseKey key{operation, check, dtype, 0, 1};
  for (; key.index < draws; ++key.index) {
    const std::optional<Case> c = make_case(key);
    if (!c || elements_of(*c) > small || !wanted(*c)) continue;
    return request_of(*c);
  }
  return std::nullopt;
}

/// The buffer: one element of ones, then the elements with the first axis fastest.
[[nodiscard]] Bytes by_columns(const HostTensor& t, std::vector<std::int64_t>& strides) {
  const std::size_t size = size_of(t.dtype);
  Bytes buffer(size + t.bytes.size(), std::byte{1});
  strides.assign(t.dims.rank, 1);
  for (std::size_t axis = 1; axis < t.dims.rank; ++axis) strides[axis] = strides[axis - 1] * t.dims[axis - 1];
  std::vector<std::int64_t> index(t.dims.rank, 0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.dims.count()); ++i) {
    std::int64_t position = 1;
    for (std::size_t axis = 0; axis < t.dims.rank; ++axis) position += index[axis] * strides[axis];
    std::memcpy(buffer.data() + static_cast<std::size_t>(position) * size, t.bytes.data() + i * size, size);
    for (std::size_t axis = t.dims.rank; axis-- > 0;) {
      if (++index[axis] < t.dims[axis]) break;
      index[axis] = 0;
    }
  }
  return buffer;
}

/// Reals along several axes that read otherwise where strides are overlooked.
[[nodiscard]] bool is_matrix(const HostTensor& t) {
  if (kind_of(t.dtype) != Kind::real || std::count_if(t.dims.begin(), t.dims.end(), [](std::int64_t n) { return n > 1; }) < 2) return false;
  std::vector<std::int64_t> strides;
  const Bytes buffer = by_columns(t, strides);
  return !std::equal(t.bytes.begin(), t.bytes.end(), buffer.begin());
}

}  // namespace

std::vector<std::string> operations_of(const spec::Description& description, std::size_t most) {
  std::vector<std::string> all;
  for (const spec::Definition* d : spec::library()) {
    const auto& offered = description.operations;
    if (!offered || std::find(offered->begin(), offered->end(), d->name) != offered->end()) all.emplace_back(d->name);
  }
  if (all.size() <= most) return all;
  std::vector<std::string> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

std::optional<DType> asked_dtype(const spec::Description& description) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    if (std::find(description.dtypes.begin(), description.dtypes.end(), dtype) != description.dtypes.end()) return dtype;
  }
  return std::nullopt;
}

std::optional<spec::Request> small_request(const std::string& operation, Check check, DType dtype) {
  return drawn(operation, check, dtype, [](const Case& c) { return !holds_nothing(c); });
}

std::optional<spec::Request> empty_request(const std::string& operation, DType dtype) {
  return drawn(operation, Check::value, dtype, holds_nothing);
}

std::optional<spec::Request> matrix_request(const std::string& operation, DType dtype) {
  return drawn(operation, Check::value, dtype, [](const Case& c) {
    return !holds_nothing(c) && std::any_of(c.operands.begin(), c.operands.end(), [](const auto& t) { return t && is_matrix(*t); });
  });
}

spec::Request second_of(spec::Request vjp) {
  vjp.mode = spec::Mode::jvp_of_vjp;
  vjp.tangents.assign(vjp.inputs.size(), std::nullopt);
  for (std::size_t i = 0; i < vjp.inputs.size(); ++i) {
    if (i < vjp.wrt.size() && vjp.wrt[i]) vjp.tangents[i] = vjp.inputs[i];
  }
  return vjp;
}

std::optional<Strided> strided(const spec::Request& request, const std::string& id, const std::string& misread_id) {
  const auto found = std::find_if(request.inputs.begin(), request.inputs.end(), is_matrix);
  if (found == request.inputs.end()) return std::nullopt;
  const auto at = static_cast<std::size_t>(found - request.inputs.begin());
  std::vector<std::int64_t> strides;
  HostTensor wrong = *found;
  HostTensor buffer(found->dtype, Dims{found->dims.count() + 1});
  buffer.bytes = by_columns(*found, strides);
  std::copy_n(buffer.bytes.begin(), wrong.bytes.size(), wrong.bytes.begin());
  Json right = spec::parse_json(spec::encode(request), "request");
  Json misread = right;
  right["id"] = id;
  misread["id"] = misread_id;
  right["inputs"][at]["data"] = spec::tensor_to_json(buffer)["data"];
  right["inputs"][at]["strides"] = strides;
  right["inputs"][at]["offset"] = 1;
  misread["inputs"][at] = spec::tensor_to_json(wrong);
  return Strided{spec::to_line(right), spec::to_line(misread)};
}

std::string with_unknown_fields(const spec::Request& request) {
  Json json = spec::parse_json(spec::encode(request), "request");
  const Json nobody = {{"knows", "this"}};
  json["annotation"] = nobody;
  json["program"]["annotation"] = nobody;
  for (Json& call : json["program"]["calls"]) call["annotation"] = nobody;
  for (Json& tensor : json["inputs"]) tensor["annotation"] = nobody;
  return spec::to_line(json);
}

}  // namespace etalon::conformance
