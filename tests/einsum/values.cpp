// What specifications give on the reference, against numpy.einsum and loops written out by hand (values.py).
#include <catch2/catch.hpp>

#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "reference/defined.hpp"
#include "spec/einsum/einsum.hpp"

namespace etalon {
namespace {

using nlohmann::json;

template <class T>
HostTensor tensor_of(const Dims& dims, const json& data) {
  std::vector<T> values;
  for (const json& v : data) {
    if (v.is_string()) values.push_back(static_cast<T>((v == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity()));
    else values.push_back(static_cast<T>(v.get<double>()));
  }
  return HostTensor::of<T>(dims, values);
}

HostTensor tensor(const json& from) {
  Dims dims;
  for (const json& extent : from["shape"]) dims.push_back(extent.get<std::int64_t>());
  if (from["dtype"] == "i64") return tensor_of<std::int64_t>(dims, from["data"]);
  if (from["dtype"] == "bool") return tensor_of<bool>(dims, from["data"]);
  return tensor_of<double>(dims, from["data"]);
}

/// -0 and 0 are one number here: numpy's loops start from 0.
bool equal(const HostTensor& a, const HostTensor& b) {
  if (a.dtype != DType::f64 || b.dtype != DType::f64) return a == b;
  const auto x = a.view<double>();
  const auto y = b.view<double>();
  return a.dims == b.dims && std::equal(x.begin(), x.end(), y.begin(), y.end());
}

TEST_CASE("specifications give what numpy and loops give") {
  std::ifstream in(std::string(ETALON_SOURCE_DIR) + "/tests/einsum/values.json");
  REQUIRE(in);
  const json cases = json::parse(in);
  std::size_t compared = 0;
  for (const json& c : cases) {
    const auto spec = c["spec"].get<std::string>();
    const auto semiring = c["semiring"].get<std::string>();
    const auto captures = c["captures"].get<std::string>();
    const std::string text = spec::einsum_definition(spec, {semiring, captures});
    INFO(text);
    auto operation = einsum<spec::any_number>(spec, {semiring, captures});
    for (const auto& [name, value] : c["attributes"].items()) operation = operation.set(name, value.get<std::int64_t>());
    std::vector<std::optional<HostTensor>> operands;
    for (const json& operand : c["operands"]) operands.emplace_back(tensor(operand));
    std::vector<HostTensor> results;
    REQUIRE_NOTHROW(results = reference::call_defined(operation.library(), operation.name(), operands, {}, operation.attributes()));
    REQUIRE(results.size() == c["results"].size());
    for (std::size_t r = 0; r < results.size(); ++r) {
      INFO(c["results"][r].dump());
      INFO(to_string(results[r].dims));
      HostTensor want = tensor(c["results"][r]);
      if (r > 0) CHECK(results[r].view<std::int64_t>()[0] == c["results"][r]["data"][0].get<std::int64_t>());
      else CHECK(equal(results[r], want));
      ++compared;
    }
  }
  CHECK(compared > 100);
}

}  // namespace
}  // namespace etalon
