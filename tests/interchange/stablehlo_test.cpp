#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "conformance/interchange/stablehlo/expected.hpp"
#include "conformance/interchange/stablehlo/judged_tests.hpp"
#include "conformance/interchange/stablehlo/text.hpp"
#include "conformance/judge.hpp"
#include "conformance/pack/choice.hpp"
#include "reference/backend.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"

using namespace etalon;
using namespace etalon::conformance::stablehlo;

namespace {

const std::filesystem::path golden = ETALON_SOURCE_DIR "/tests/interchange/stablehlo";

[[nodiscard]] Imported imported(const std::string& text) {
  return import_module(read_module(text, "m.mlir"), {"m.mlir", ""});
}

[[nodiscard]] std::vector<HostTensor> outputs_of(const spec::Request& request) {
  const spec::Answer answer = reference::make_reference_backend()->run(request);
  const auto* numbers = std::get_if<spec::Numbers>(&answer);
  REQUIRE(numbers != nullptr);
  return numbers->outputs;
}

/// `error: …`, what reading the text throws.
[[nodiscard]] std::string fault_of(const std::string& text) {
  try {
    (void)read_module(text, "m.mlir");
  } catch (const IoError& error) {
    return error.what();
  }
  return "";
}

/// A function f on x of two numbers.
[[nodiscard]] std::string function_of(const std::string& lines) {
  return "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n" + lines + "\n  return %y : tensor<2xf32>\n}\n";
}

struct RoundTrip {
  std::size_t judged = 0, elements = 0, many_axes = 0, unwritten = 0, unbounded = 0;
  std::set<std::string> operations;
};

/// The call as a module, read again: what the reference computes for that is admitted for the call.
void go_and_return(const std::string& operation, const spec::Request& asked, RoundTrip& seen) {
  std::string text;
  try {
    text = module_text(asked.program);
  } catch (const Unsupported&) {
    ++seen.unwritten;
    return;
  }
  const Imported back = imported(text);
  if (!back.refused.empty()) {
    CAPTURE(text);
    CHECK_THAT(back.refused.front(), Catch::Contains("axes are not offered"));
    ++seen.many_axes;
    return;
  }
  spec::Request request = asked;
  request.program = back.program;
  request.inputs.clear();
  std::size_t given = 0;
  for (const spec::Input& input : back.program.inputs) {
    // Arguments that no instruction reads are no inputs of the program.
    if (!input.value) given = std::stoul(input.name.substr(3));
    request.inputs.push_back(input.value ? *input.value : asked.inputs.at(given));
  }
  std::vector<HostTensor> outputs = outputs_of(request);
  outputs.resize(asked.program.outputs.size());
  const auto outcome = conformance::judge(asked, spec::Numbers{outputs, {}, {}}, spec::Contract{});
  CAPTURE(operation, asked.id, text, outcome.why);
  CHECK(outcome.verdict != conformance::Verdict::fail);
  if (outcome.verdict != conformance::Verdict::pass) {
    ++seen.unbounded;
    return;
  }
  ++seen.judged;
  seen.elements += outcome.comparisons - outcome.undecided;
  seen.operations.insert(operation);
}

}  // namespace

TEST_CASE("modules give the numbers that were worked out for them, and no others") {
  std::size_t modules = 0, values = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden)) {
    CAPTURE(entry.path().string());
    const Imported read = imported(read_file(entry.path()));
    CHECK(read.refused.empty());
    if (!read.refused.empty()) continue;
    const Question question = question_of(read, "m.mlir");
    const std::vector<HostTensor> found = outputs_of(question.request);
    REQUIRE(found.size() == question.expected.outputs.size());
    for (std::size_t i = 0; i < found.size(); ++i, ++values) {
      CAPTURE(read.expectations[i].line);
      CHECK(found[i] == question.expected.outputs[i]);
    }
    ++modules;
  }
  CHECK(modules == 8);
  CHECK(values >= 75);
}

TEST_CASE("a definition goes to a module and back, and means the same") {
  conformance::ConformOptions options;
  options.modes = {spec::Mode::forward};
  options.dtypes = {DType::f32};
  RoundTrip seen;
  std::size_t unit_number = 0;
  for (const conformance::Unit& unit : conformance::packed_units(options)) {
    if (unit.check != conformance::Check::value) continue;
    ++unit_number;
    std::size_t cases = 0;
    for (const conformance::Case& c : conformance::chosen_cases(unit, options)) {
      if (++cases > 4) break;
      go_and_return(std::string(unit.operation), request_of(c), seen);
    }
  }
  INFO(seen.judged << " calls of " << seen.operations.size() << " operations, " << seen.elements << " elements; "
                   << seen.unwritten << " not written, " << seen.many_axes << " of too many axes, " << seen.unbounded
                   << " without bounds");
  CHECK(unit_number > 190);
  CHECK(seen.operations.size() > 180);
  CHECK(seen.elements > 8000);
  CHECK(seen.unbounded < 20);
}

TEST_CASE("what is wrong with a module's text is said with its place") {
  CHECK(fault_of("") == "m.mlir:1:1: expected a function, found the end of the text");
  CHECK(fault_of("module {\n  func.func @f() {\n    %a = \n  }\n}") ==
        "m.mlir:4:3: expected an instruction, found '}'");
  CHECK(fault_of("func.func @f() {\n  %a = stablehlo.constant dense<[1, [2]]> : tensor<2xi32>\n}") ==
        "m.mlir:2:37: expected an element, found '[2]]>'");
  CHECK(fault_of("func.func @f() {\n  %a = stablehlo.constant dense<[1, 2]> : tensor<3xi32>\n}") ==
        "m.mlir:2:27: dense<…> has other extents than tensor<3xi32>");
  CHECK(fault_of("func.func @f() {\n  %a = stablehlo.constant dense<\"0x00\"> : tensor<f32>\n}") ==
        "m.mlir:2:27: expected the bits of tensor<f32>, found 1 bytes");
  CHECK(fault_of("ML\xefR") ==
        "m.mlir: this is bytecode; its text is printed by stablehlo-translate --deserialize m.mlir");
  CHECK(fault_of("func.func @f() { return }\nfunc.func @f() { return }") ==
        "m.mlir:2:1: a function \"f\" stands before");
  const std::string deep(100, '[');
  CHECK(fault_of("module attributes {a = " + deep) ==
        "m.mlir:1:88: expected nothing that stands more than 64 deep, found '[[[[[[[[[[[[[[[[[[[['");
}

TEST_CASE("what is not offered is refused all at once, by line and instruction") {
  using Lines = std::vector<std::string>;
  CHECK(imported(function_of("  %a = stablehlo.cbrt %x : tensor<2xf32>\n  %b = stablehlo.add %a, %x : tensor<2xf32>\n"
                             "  %y = stablehlo.exponential %x {own = 1 : i64} : tensor<2xf32>"))
            .refused == Lines{"m.mlir:2:8: stablehlo.cbrt: it has no counterpart in the library",
                              "m.mlir:4:8: stablehlo.exponential: attribute \"own\" is not offered"});
  CHECK(imported(function_of(
                     "  %y = stablehlo.while(%i = %x) : tensor<2xf32>\n    cond {\n      %c = a.b\n    } do {\n    }"))
            .refused == Lines{"m.mlir:2:8: stablehlo.while: control flow is not offered"});
  CHECK(imported(function_of("  %z = stablehlo.constant dense<1.0> : tensor<f32>\n"
                             "  %s = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : "
                             "(tensor<2xf32>, tensor<f32>) -> tensor<f32>\n"
                             "  %y = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2xf32>"))
            .refused ==
        Lines{"m.mlir:3:8: stablehlo.reduce: a sum that does not begin with 0: it may be joined any number of times"});
  CHECK(imported(function_of("  %y = stablehlo.add %x, %w : tensor<2xf32>")).refused ==
        Lines{"m.mlir:2:8: stablehlo.add: \"%w\" is made by no earlier instruction"});
  CHECK(imported(function_of("  %y = stablehlo.reshape %x : (tensor<2xf32>) -> tensor<3xf32>")).refused.size() == 1);
  CHECK(imported("func.func @f(%x: tensor<2xui8>, %z: tensor<?xf32>) { return }").refused ==
        Lines{"m.mlir:1:1: argument \"%x\": tensors of ui8 are not offered",
              "m.mlir:1:1: argument \"%z\": extents that are not known are not offered"});
  // More than 64 bits count, in types, and of what is padded.
  CHECK(imported("func.func @f(%x: tensor<4611686018427387904x4xf32>, %z: tensor<0x9007199254740993xf32>) { return }").refused ==
        Lines{"m.mlir:1:1: argument \"%x\": tensors of so many elements are not offered",
              "m.mlir:1:1: argument \"%z\": tensors of so many elements are not offered"});
  const auto padded = [](const std::string& interior) {
    return imported(function_of("  %z = stablehlo.constant dense<1.0> : tensor<f32>\n  %y = stablehlo.pad %x, %z, low = [0], "
                                "high = [0], interior = [" + interior + "] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>"))
        .refused;
  };
  CHECK(padded("9007199254740993") == Lines{"m.mlir:3:8: stablehlo.pad: attribute \"interior\" is out of range"});
  CHECK(padded("2147483648") == Lines{"m.mlir:3:8: stablehlo.pad: tensors of so many elements are not offered"});
  // A function that calls itself.
  CHECK(imported("func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %y = call @main(%x) : (tensor<f32>) -> "
                 "tensor<f32>\n  return %y : tensor<f32>\n}")
            .refused == Lines{"m.mlir:2:8: func.call: calls stand more than 32 deep"});
}

namespace {

/// Pairs of x and what counts from 0, reduced by a region of these lines, which return %v and %k.
[[nodiscard]] std::string pairs_of(const std::string& lines) {
  return "func.func @f(%x: tensor<2xf32>) -> tensor<i32> {\n  %low = stablehlo.constant dense<0xFF800000> : "
         "tensor<f32>\n"
         "  %none = stablehlo.constant dense<0> : tensor<i32>\n  %i = stablehlo.iota dim = 0 : tensor<2xi32>\n"
         "  %y:2 = \"stablehlo.reduce\"(%x, %i, %low, %none) <{dimensions = array<i64: 0>}> ({\n"
         "  ^bb0(%a: tensor<f32>, %m: tensor<i32>, %b: tensor<f32>, %n: tensor<i32>):\n" +
         lines +
         "\n    stablehlo.return %v, %k : tensor<f32>, tensor<i32>\n  }) : (tensor<2xf32>, tensor<2xi32>, tensor<f32>, "
         "tensor<i32>) "
         "-> (tensor<f32>, tensor<i32>)\n  return %y#1 : tensor<i32>\n}\n";
}

}  // namespace

TEST_CASE("a region that chooses something else than an extremum and its companion is refused") {
  const std::string larger = "    %c = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n",
                    value = "    %v = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>\n",
                    kept = "    %k = stablehlo.select %c, %m, %n : tensor<i1>, tensor<i32>";
  CHECK(imported(pairs_of(larger + value + kept)).refused.empty());
  const auto why = [](const std::string& lines) {
    const Imported read = imported(pairs_of(lines));
    return read.refused.size() == 1 ? read.refused.front() : std::to_string(read.refused.size()) + " lines";
  };
  const std::string at = "m.mlir:5:10: stablehlo.reduce: ";
  CHECK(why(larger + value + "    %k = stablehlo.select %c, %n, %m : tensor<i1>, tensor<i32>") ==
        at + "a region that keeps parts of both pairs");
  CHECK(why("    %c = stablehlo.compare GT, %m, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n" + value + kept) ==
        at + "a region that keeps neither the largest nor the smallest");
  // The smallest, which must begin with infinity.
  CHECK(why("    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n" + value + kept) ==
        at + "an extremum and its companion that do not begin with the least");
  CHECK(why("    %v = stablehlo.add %a, %b : tensor<f32>\n    %k = stablehlo.maximum %m, %n : tensor<i32>") ==
        at + "a region is offered that compares its arguments and chooses one of two elements or pairs");
  // Of two numbers the first that is one.
  CHECK(why("    %g = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
            "    %o = stablehlo.compare NE, %b, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
            "    %c = stablehlo.or %g, %o : tensor<i1>\n" +
            value + kept) == at + "a region that passes NaN over");
  // Of equal elements that of the larger place.
  CHECK(why(larger +
            "    %e = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
            "    %p = stablehlo.compare GT, %m, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
            "    %q = stablehlo.and %e, %p : tensor<i1>\n    %s = stablehlo.or %c, %q : tensor<i1>\n" +
            value + "    %k = stablehlo.select %s, %m, %n : tensor<i1>, tensor<i32>") ==
        at + "a region that keeps, of equal elements, that of the larger companion");
}

TEST_CASE("a judged test says true of what is meant, and false of another instruction") {
  conformance::ConformOptions options;
  options.operations = {"maximum", "abs"};  // whose numbers no arithmetic rounds, as the reference does not either
  options.dtypes = {DType::f64};
  const JudgedTests made = judged_tests(options, spec::Contract{});
  REQUIRE(made.tests.size() > 10);
  std::size_t convicted = 0, changed = 0;
  for (const JudgedTest& test : made.tests) {
    const Question question = question_of(imported(test.text), test.name);
    CAPTURE(test.text);
    CHECK(outputs_of(question.request) == question.expected.outputs);
    const std::size_t at = test.text.find("stablehlo.maximum ");
    if (at == std::string::npos) continue;
    std::string other = test.text;
    other.replace(at, 17, "stablehlo.minimum");
    ++changed;
    convicted += outputs_of(question_of(imported(other), test.name).request) != question.expected.outputs ? 1 : 0;
  }
  CHECK(changed > 5);
  CHECK(convicted * 2 > changed);  // where one operand is 0, or nothing is known, both are right
}
