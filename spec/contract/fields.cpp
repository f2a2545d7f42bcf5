#include "spec/contract/fields.hpp"

#include <array>

#include "spec/contract/contract.hpp"

namespace etalon::spec {
namespace {

constexpr std::array<std::string_view, 17> functions{"exp",  "exp2", "log",   "log2",  "sqrt",  "sin", "cos", "tan", "sinh",
                                                     "cosh", "tanh", "erf",   "expm1", "log1p", "atan2", "pow", "div"};

Shape flag(std::string meaning) { return {.kind = Shape::Kind::boolean, .meaning = std::move(meaning)}; }

Shape number(double least, std::string meaning) {
  return {.kind = Shape::Kind::number, .meaning = std::move(meaning), .least = least};
}

Shape integer(double least, double most, std::string meaning) {
  return {.kind = Shape::Kind::integer, .meaning = std::move(meaning), .least = least, .most = most};
}

Shape choice(std::vector<std::string> choices, std::string meaning) {
  return {.kind = Shape::Kind::choice, .meaning = std::move(meaning), .choices = std::move(choices)};
}

struct Row {
  std::string key;
  Shape shape;
};

Shape object(std::vector<Row> rows, std::string meaning) {
  std::vector<Shape> fields;
  for (Row& row : rows) fields.emplace_back(std::move(row.shape)).key = std::move(row.key);
  return {.kind = Shape::Kind::object, .meaning = std::move(meaning), .fields = std::move(fields)};
}

Shape function(std::string meaning) {
  return object({{"k0", number(0.5, "units in the last place of the exact result; 0.5 is correct rounding")},
                 {"k1", number(0, "more units per unit of the operand's magnitude")},
                 {"absolute", number(0, "an absolute error beside")},
                 {"exact_points", flag("exp 0, log 1, tanh 0, erf 0 and the like are exact")}},
                std::move(meaning));
}

Shape function_table(const std::string& dtype) {
  std::vector<Row> rows;
  for (const std::string_view name : functions) {
    if (name == "div") rows.push_back({"div", object({{"k0", number(0.5, "units in the last place of the exact quotient")}}, "of a / b")});
    else rows.push_back({std::string(name), function("")});
  }
  return object(std::move(rows), "functions computed in " + dtype);
}

Shape tree(std::string meaning) {
  Shape block = integer(1, 0x1p40, "terms that are added in sequence before sums are joined by a tree; null is any number");
  block.or_null = true;
  return object({{"block", std::move(block)}, {"lanes", integer(1, 0x1p20, "partial sums side by side, joined by a tree")}},
                std::move(meaning));
}

Shape half(const std::string& own) {
  return object({{"temporaries", choice({"f32", own}, "the type of numbers between loading and storing")},
                 {"accumulators", choice({"f32", own}, "the type in which sums are added up")}},
                "arithmetic on " + own);
}

Shape whole() {
  const std::string mode = "nearest (ties to even) or toward zero";
  return object(
      {{"name", {.kind = Shape::Kind::text, .meaning = "what reports call it"}},
       {"about", {.kind = Shape::Kind::text, .meaning = "for readers: where the numbers come from"}},
       {"like", choice(contract_names(), "a shipped contract, which holds where this one says nothing")},
       {"measured", {.kind = Shape::Kind::anything, .meaning = "for readers: what `etalon contract infer` saw"}},
       {"functions", object({{"f32", function_table("f32")}, {"f64", function_table("f64")}, {"f16", function_table("f16")},
                             {"bf16", function_table("bf16")}},
                            "the error is at most (k0 + k1*abs(x)) ulp(exact) + absolute, per type of the arithmetic")},
       {"default_function", function("of every function that is not listed; sqrt and div are then correctly rounded")},
       {"sums", tree("trees of sums whose terms are not products")},
       {"contractions", tree("trees of sums of products")},
       {"accumulation", choice({"nearest", "toward_zero"}, "how every addition in a sum is rounded: " + mode)},
       {"halves", object({{"f16", half("f16")}, {"bf16", half("bf16")}}, "in which type 16-bit elements are computed with")},
       {"flush_results", flag("subnormal results may become zero")},
       {"flush_operands", flag("subnormal operands may be read as zero")},
       {"reciprocal_division", flag("a / b may be a*(1 / b)")},
       {"product_operand_precision",
        integer(0, 53, "bits to which operands of contractions are rounded first (tf32 has 11); 0 is no such rounding")},
       {"product_operand_rounding", choice({"nearest", "toward_zero"}, "how those operands are rounded: " + mode)},
       {"ties", choice({"first", "last", "even"}, "which of several equal extrema has the derivative; even shares it")},
       {"nan_of_extrema",
        choice({"free", "propagate", "ignore"}, "max and min with a NaN among the operands: anything, NaN, or that of the others")}},
      "What a backend promises of its arithmetic. Every field may be missing: it then promises what careful IEEE arithmetic does.");
}

}  // namespace

std::span<const std::string_view> contract_functions() { return functions; }

const Shape& contract_shape() {
  static const Shape shape = whole();
  return shape;
}

}  // namespace etalon::spec
