// Contracts for people: promises as sentences, fields as a table.
#include <array>
#include <fmt/format.h>

#include "spec/contract/contract.hpp"
#include "spec/contract/fields.hpp"

namespace etalon::spec {
namespace {

std::string words_of(const FunctionBound& b) {
  std::string text = b.k0 <= 0.5 && b.k1 == 0 && b.absolute == 0 ? "correctly rounded" : fmt::format("within {:.6g}", b.k0);
  if (b.k1 > 0) text += fmt::format(" + {:.6g}*|x|", b.k1);
  if (b.k0 > 0.5 || b.k1 > 0) text += " ulp";
  if (b.absolute > 0) text += fmt::format(" or {:.6g}", b.absolute);
  return text + (b.exact_points ? ", exact where the result is 0 or 1 at 0 or 1" : "");
}

std::string words_of(const SumTree& t) {
  if (!t.promises()) return "in any order or tree";
  std::string text = t.lanes > 1 ? fmt::format("in {} lanes joined by a tree", t.lanes) : "";
  if (t.block) {
    text += fmt::format("{}in blocks of {} joined by a tree", text.empty() ? "" : ", each ", *t.block);
  }
  return text + fmt::format(" (1000 terms: at most {} additions deep)", t.height(1000));
}

void add_functions(const Contract& c, std::vector<std::string>& lines) {
  for (const auto& [dtype, table] : c.functions) {
    std::map<std::string, std::string> groups;
    for (const auto& [function, bound] : table) {
      const std::string name = function == Primitive::pow ? "pow" : function == Primitive::div ? "div" : std::string(info(function).name);
      std::string& group = groups[words_of(bound)];
      group += (group.empty() ? "" : ", ") + name;
    }
    for (const auto& [words, names] : groups) lines.push_back(fmt::format("{}: {} {}", name_of(dtype), names, words));
  }
  lines.push_back("every other function " + words_of(c.default_function) + "; sqrt and quotients, unless listed, correctly rounded");
}

void add_rows(const Shape& shape, const std::string& prefix, std::string& table) {
  for (const Shape& f : shape.fields) {
    const std::string key = prefix + f.key;
    if (f.kind != Shape::Kind::object) {
      std::string wanted = f.wanted();
      table += fmt::format("| `{}` | {} | {} |\n", key, wanted, f.meaning);
    } else if (key == "functions") {
      table += fmt::format("| `functions.T.F` | an object per type T and function F | {} |\n", f.meaning);
      add_rows(f.fields[0].fields[0], "functions.T.F.", table);
    } else if (key == "default_function") {
      table += fmt::format("| `default_function` | the same | {} |\n", f.meaning);
    } else {
      add_rows(f, key + ".", table);
    }
  }
}

}  // namespace

std::vector<std::string> promises_of(const Contract& c) {
  std::vector<std::string> lines{"sums, products and conversions rounded to nearest, fused or not"};
  add_functions(c, lines);
  lines.push_back("sums added " + words_of(c.sums));
  lines.push_back("sums of products added " + words_of(c.contractions));
  if (c.accumulation == RoundingMode::toward_zero) lines.push_back("additions in sums may be rounded toward zero");
  for (const auto& [dtype, half] : c.halves) {
    if (half.own_temporaries) lines.push_back(fmt::format("temporaries of {0} may be {0}", name_of(dtype)));
    if (half.own_accumulators) lines.push_back(fmt::format("sums of {0} may be added in {0}", name_of(dtype)));
  }
  lines.push_back(c.flush_results ? "subnormal results may become zero" : "gradual underflow");
  if (c.flush_operands) lines.push_back("subnormal operands may be read as zero");
  if (c.reciprocal_division) lines.push_back("a/b may be a*(1/b)");
  if (c.product_operand_precision > 0) {
    lines.push_back(fmt::format("operands of contractions may be rounded to {} bits, {}", c.product_operand_precision,
                                c.product_operand_rounding == RoundingMode::nearest ? "to nearest" : "toward zero"));
  }
  constexpr std::array ties{"goes to the first of equals", "goes to the last of equals", "is shared among equals"};
  lines.push_back(fmt::format("the derivative of an extremum {}", ties[static_cast<std::size_t>(c.ties)]));
  constexpr std::array nans{"may be NaN or not", "is NaN", "is that of the others"};
  lines.push_back(fmt::format("an extremum with a NaN among the operands {}", nans[static_cast<std::size_t>(c.nan_of_extrema)]));
  return lines;
}

std::string contract_fields_table() {
  std::string table = "| field | value | says |\n|---|---|---|\n";
  add_rows(contract_shape(), "", table);
  return table;
}

}  // namespace etalon::spec
