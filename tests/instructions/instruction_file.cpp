#include "tests/instructions/instruction_file.hpp"

#include <fmt/format.h>

#include "compiled/emit/text/text.hpp"
#include "compiled/emit/text/words.hpp"

namespace etalon::test {

using namespace compiled;
using namespace compiled::source;

namespace {

void write(const InstructionFunction& f, Functions& functions, Text& text) {
  const Instruction& i = *f.instruction;
  const InstructionSignature signature = signature_of(i, f.type, f.lanes);
  const std::string expression = functions.text_of(i.c, f.type);
  text.line(fmt::format("void {}(void *const *memory);", f.name));
  if (!i.feature.empty()) text.line(fmt::format("__attribute__((target(\"{}\")))", i.feature));
  text.open(fmt::format("void {}(void *const *memory)", f.name));
  const bool whole = !is_of_any_lanes(i);  // its C is about all lanes, where they lie
  std::size_t place = 0;
  for (const InstructionValue& o : signature.operands) {
    text.line(fmt::format("const {} *const {}{} = memory[{}];", element_type(o.dtype), whole ? "" : "all_", o.name, place++));
  }
  text.line(fmt::format("{} *const {} = memory[{}];", element_type(signature.result.dtype), signature.result.name, place));
  if (whole) {
    text.line(expression + ";");
  } else {
    text.open(fmt::format("for (int l = 0; l < {}; ++l)", f.lanes));
    for (const InstructionValue& o : signature.operands) text.line(fmt::format("const {0} {1} = all_{1}[l];", element_type(o.dtype), o.name));
    text.line(fmt::format("{}[l] = {};", signature.result.name, expression));
    text.close();
  }
  text.close();
}

}  // namespace

std::string instruction_file(std::span<const InstructionFunction> functions) {
  Functions used(Dialect::c);
  Text text;
  bool has_features = false;
  for (const InstructionFunction& f : functions) {
    write(f, used, text);
    has_features = has_features || !f.instruction->feature.empty();
  }
  const std::string headers = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n";
  return headers + (has_features ? "#include <immintrin.h>\n" : "") + used.definitions() + text.str();
}

}  // namespace etalon::test
