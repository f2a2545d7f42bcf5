#include "conformance/offer.hpp"

#include <algorithm>
#include <array>
#include <variant>

#include "spec/program/analysis.hpp"

namespace etalon::conformance {
namespace {

template <class List, class What>
bool holds(const List& list, const What& what) {
  return std::find(list.begin(), list.end(), what) != list.end();
}

// Then no case need be typed to know.
bool offers_all_types(const spec::Description& description) {
  constexpr std::array all{DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32, DType::i64, DType::boolean};
  return std::all_of(all.begin(), all.end(), [&](DType dtype) { return offers(description, dtype); });
}

}  // namespace

bool offers(const spec::Description& description, std::string_view operation) {
  return !description.operations || holds(*description.operations, operation);
}

bool offers(const spec::Description& description, spec::Mode mode) { return holds(description.modes, mode); }

bool offers(const spec::Description& description, DType dtype) { return holds(description.dtypes, dtype); }

bool offers_attributes(const spec::Description& description, const spec::Program& program) {
  if (description.running_attributes) return true;
  return std::none_of(program.steps.begin(), program.steps.end(), [](const auto& step) {
    const auto* call = std::get_if<spec::Call>(&step);
    return call != nullptr && !spec::runtime_attributes(*call).empty();
  });
}

std::optional<DType> missing_type(const spec::Description& description, const Case& c) {
  if (offers_all_types(description)) return std::nullopt;
  for (const auto& operand : c.operands) {
    if (operand && !offers(description, operand->dtype)) return operand->dtype;
  }
  if (c.program) {
    for (const auto& [name, type] : spec::types_of(*c.program)) {
      if (!offers(description, type.dtype)) return type.dtype;
    }
    return std::nullopt;
  }
  if (c.key.check == Check::rejection) return std::nullopt;
  for (const spec::ValueType& type : instance_of(c).results) {
    if (!offers(description, type.dtype)) return type.dtype;
  }
  return std::nullopt;
}

}  // namespace etalon::conformance
