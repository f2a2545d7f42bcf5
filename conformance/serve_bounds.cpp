#include "conformance/serve_bounds.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "conformance/admissible.hpp"
#include "conformance/values.hpp"

namespace etalon::conformance {
namespace {

using spec::Json;
using spec::Request;

[[nodiscard]] Json flags_of(const Hull& hull) {
  constexpr std::pair<std::uint8_t, const char*> names[] = {{reference::admits_positive_infinity, "inf"},
                                                            {reference::admits_negative_infinity, "-inf"},
                                                            {reference::admits_nan, "nan"},
                                                            {reference::undecided, "any"}};
  Json list = Json::array();
  for (std::size_t i = 0; i < hull.flags.size(); ++i) {
    Json admits = Json::array();
    for (const auto& [flag, name] : names) {
      if ((hull.flags[i] & flag) != 0) admits.push_back(name);
    }
    if (admits.empty()) continue;
    if ((hull.flags[i] & reference::admits_finite) == 0) admits.push_back("no number");
    list.push_back({{"element", i}, {"admits", std::move(admits)}});
  }
  return list;
}

/// An end as a tensor: of reals f64, of integers and truth values their own type.
[[nodiscard]] HostTensor end_of(const Hull& hull, const std::vector<double>& reals, const std::vector<std::int64_t>& integers) {
  if (kind_of(hull.dtype) == Kind::real) return HostTensor::of<double>(hull.dims, reals);
  HostTensor end(hull.dtype, hull.dims);
  for (std::size_t i = 0; i < integers.size(); ++i) {
    if (hull.dtype == DType::i64) end.view<std::int64_t>()[i] = integers[i];
    else set_element(end, i, static_cast<double>(integers[i]));
  }
  return end;
}

void write(Json& answer, const AnswerList& list, const std::vector<Hull>& found) {
  Json lower = Json::array(), upper = Json::array(), flags = Json::array();
  std::size_t next = list.first;
  for (const bool is_there : list.present) {
    const Hull* hull = is_there ? &found[next++] : nullptr;
    lower.push_back(hull == nullptr ? Json(nullptr) : spec::tensor_to_json(end_of(*hull, hull->lower, hull->least)));
    upper.push_back(hull == nullptr ? Json(nullptr) : spec::tensor_to_json(end_of(*hull, hull->upper, hull->greatest)));
    flags.push_back(hull == nullptr ? Json(nullptr) : flags_of(*hull));
  }
  const std::string prefix = list.name == "outputs" ? "" : list.name + "_";
  answer[prefix + "lower"] = std::move(lower);
  answer[prefix + "upper"] = std::move(upper);
  answer[prefix + "flags"] = std::move(flags);
}

}  // namespace

void add_bounds(Json& answer, const Request& request, const spec::Contract& contract) {
  const Admissible admissible(request, contract);
  const std::vector<Hull> found = admissible.hulls();
  for (const AnswerList& list : admissible.question().lists) write(answer, list, found);
}

}  // namespace etalon::conformance
