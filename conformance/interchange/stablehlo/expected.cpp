#include "conformance/interchange/stablehlo/expected.hpp"

#include <fmt/format.h>

#include "spec/error.hpp"

namespace etalon::conformance::stablehlo {

Question question_of(const Imported& imported, const std::string& id) {
  Question question;
  question.request.id = id;
  question.request.program = imported.program;
  for (const spec::Input& input : imported.program.inputs) {
    if (!input.value) throw Unsupported(fmt::format("{}: the argument \"{}\" has no numbers", id, input.name));
    question.request.inputs.push_back(*input.value);
  }
  question.request.program.outputs.clear();
  for (const Expectation& expectation : imported.expectations) {
    if (!expectation.numbers)
      throw Unsupported(fmt::format("{}:{}: what is expected is computed", id, expectation.line));
    question.request.program.outputs.push_back(expectation.output);
    question.expected.outputs.push_back(*expectation.numbers);
  }
  if (imported.expectations.empty()) throw Unsupported(id + ": the module expects nothing of its values");
  return question;
}

}  // namespace etalon::conformance::stablehlo
