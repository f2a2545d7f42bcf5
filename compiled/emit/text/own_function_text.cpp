#include "compiled/emit/text/own_function_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "compiled/emit/text/words.hpp"

namespace etalon::compiled::source {

namespace {

using Operands = std::vector<std::string>;

std::string row_text(const Instruction& i, const Operands& of) {
  const Spelling s = spelling_of(i);
  if (s.shape == Shape::call) return fmt::format("{}({})", s.word, fmt::join(of, ", "));
  return s.shape == Shape::prefix ? std::string(s.word) + of[0] : fmt::format("{} {} {}", of[0], s.word, of[1]);
}

std::string step_text(const FunctionStep& step, const Operands& of) {
  switch (step.verb.form) {
    case StepForm::row: return row_text(*step.verb.instruction, of);
    case StepForm::lesser: return fmt::format("{0} < {1} ? {0} : {1}", of[0], of[1]);
    case StepForm::greater: return fmt::format("{0} > {1} ? {0} : {1}", of[0], of[1]);
    case StepForm::choose_below: return fmt::format("{} < {} ? {} : {}", of[0], of[1], of[2], of[3]);
    case StepForm::keep_nan: return fmt::format("isnan({0}) ? {0} : {1}", of[0], of[1]);
    case StepForm::with_sign: return fmt::format("copysign~({}, {})", of[0], of[1]);
    case StepForm::scaled: return fmt::format("#scaled({}, {})", of[0], of[1]);
    case StepForm::scaled_exactly: return fmt::format("#scaled_exactly({}, {})", of[0], of[1]);
    case StepForm::exponent: return fmt::format("#exponent({})", of[0]);
  }
  return {};
}

std::string_view needed_by(StepForm form) {
  switch (form) {
    case StepForm::scaled: return "scaled";
    case StepForm::scaled_exactly: return "scaled_exactly";
    case StepForm::exponent: return "exponent";
    default: return {};
  }
}

Operands operands_of(const FunctionStep& step) {
  Operands all;
  for (std::size_t i = 0; i < step.count(); ++i) {
    const StepOperand& o = step.operands[i];
    all.push_back(o.name.empty() ? literal(static_cast<float>(o.number)) : std::string(o.name));
  }
  return all;
}

}  // namespace

OwnFunctionText own_function_text(const OwnFunction& function) {
  OwnFunctionText own;
  const std::string_view name = spec::info(function.primitive).name;
  own.name = fmt::format("{}_f32", name);
  own.text = fmt::format("// {} by the steps that the processor's code has, for the same bits.\nfloat #{}(float x) {{\n", name, own.name);
  std::set<std::string_view> named, needed;
  for (const FunctionStep& step : function.steps) {
    const auto times = std::ranges::count(function.steps, step.result, &FunctionStep::result);
    const char* declares = !named.insert(step.result).second ? "" : times > 1 ? "float " : "const float ";
    own.text += fmt::format("  {}{} = {};\n", declares, step.result, step_text(step, operands_of(step)));
    if (const std::string_view needs = needed_by(step.verb.form); !needs.empty()) needed.insert(needs);
  }
  own.text += fmt::format("  return {};\n}}", function.steps.back().result);
  own.needs = fmt::format("{}", fmt::join(needed, " "));
  return own;
}

}  // namespace etalon::compiled::source
