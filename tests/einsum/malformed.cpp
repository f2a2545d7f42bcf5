// What is wrong with a specification is one line with its place; nothing crashes the translator.
#include <catch2/catch.hpp>
#include <rapidcheck.h>

#include <fstream>
#include <string>
#include <vector>

#include "spec/einsum/einsum.hpp"
#include "spec/einsum/translate.hpp"
#include "spec/error.hpp"
#include "spec/library/library.hpp"

namespace etalon::spec {
namespace {

void refused(const std::string& spec, const std::string& message) {
  INFO(spec);
  CHECK(std::string(translate_einsum(spec).diagnosis.message()) == message);
}

TEST_CASE("malformed specifications are refused with the place") {
  refused("ij,jk->il", "einsum: index l is in no operand (at 1:9)");
  refused("ij->ii", "einsum: index i stands twice in the result (at 1:6)");
  refused("i1->i", "einsum: expected a name, found '1' (at 1:2)");
  refused("..v..->", "einsum: expected '...', found '.' (at 1:1)");
  refused("ij;jk", "einsum: expected the end of the specification, found ';' (at 1:3)");
  refused("ij=>", "");
  refused("i j,k=>i", "einsum: expected ',', found 'j' (at 1:3)");
  refused("0*i=>i", "einsum: a stride is 1 or more (at 1:1)");
  refused("i=>i&j", "einsum: expected the end of the specification, found '&' (at 1:5)");
  refused("i<=>i", "einsum: expected '+' and an index of the kernel, found '=' (at 1:3)");
  refused("i=+3=>i", "einsum: expected '+' and an index of the kernel, found '=' (at 1:5)");
  refused("i+i=>i", "einsum: index i stands twice in one place (at 1:1)");
  refused("s*i,s=>i", "einsum: s is the name of a factor and of an index (at 1:5)");
  refused("..v..,v=>v", "einsum: v is the name of a row and of an index (at 1:7)");
  refused("i=>..v..", "einsum: row v is in no operand (at 1:4)");
  refused("i=>...", "einsum: row ... is in no operand (at 1:4)");
  refused("......=>", "einsum: two rows among the axes of one kind (at 1:4)");
  refused("a,b=>a^b", "einsum: the result takes nothing of operand 1 (at 1:1)");
  refused("a;b=>a^b,a", "einsum: the result takes nothing of operand 2 (at 1:3)");
  refused("a;b=>a,a^b", "einsum: a piece of the result is elsewhere in it too (at 1:8)");
  refused("é=>i", "einsum: expected an axis, ';' or '=>', found 'é' (at 1:1)");
  refused("", "");
  CHECK(std::string(translate_einsum("i->i", "max_sum").diagnosis.message()) == "einsum: unknown semiring 'max_sum'");
  CHECK(std::string(translate_einsum("i->i", "max_plus", "k").diagnosis.message()) ==
        "einsum: no index or row k to capture (at 1:1)");
  CHECK_THROWS_WITH(einsum("i=>&", {}, {}, {"net.cpp", 7}),
                    "einsum: expected the end of the specification, found '&' (at 1:4) at net.cpp:7");
}

/// What stands between backquotes.
std::vector<std::string> quoted_parts(const std::string& cell) {
  std::vector<std::string> parts;
  for (std::size_t at = cell.find('`'); at != std::string::npos; at = cell.find('`', at + 1)) {
    const std::size_t end = cell.find('`', at + 1);
    REQUIRE(end != std::string::npos);
    parts.push_back(cell.substr(at + 1, end - at - 1));
    at = end;
  }
  return parts;
}

TEST_CASE("the table of the documentation is what the translator writes") {
  std::ifstream in(std::string(ETALON_SOURCE_DIR) + "/docs/einsum.md");
  REQUIRE(in);
  std::size_t rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| `")) continue;
    INFO(line);
    const bool max_plus = line.find(", max_plus |") != std::string::npos;
    const bool captures = line.find(", captures j |") != std::string::npos;
    const std::vector<std::string> parts = quoted_parts(line);
    REQUIRE(parts.size() >= 3);
    std::string text = einsum_definition(parts[0], {max_plus ? "max_plus" : "sum_product", captures ? "j" : ""});
    for (std::size_t at = text.find(" : number"); at != std::string::npos; at = text.find(" : number")) text.erase(at, 9);
    for (std::size_t i = 1; i < parts.size(); ++i) CHECK_THAT(text, Catch::Contains(parts[i] + "\n"));
    ++rows;
  }
  CHECK(rows > 10);
}

/// Specifications that are often nearly right.
rc::Gen<std::string> specifications() {
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
                          "i", "j", "k", "sum", "2", "0", "_", ",", ";", "=>", "=>", "->", "|", "...", "..v..", "2*i", "i+k",
                          "j=+k", "a^b", "a", "b", "3^a", "^", "*", "+", "<", "=", "&", " ", "\n", "\"", "é", "s*")),
                      [](const std::vector<std::string>& parts) {
                        std::string text;
                        for (const std::string& part : parts) text += part;
                        return text;
                      });
}

/// Specifications that mean something: operands of one axis or two, of which the result keeps the first.
rc::Gen<std::string> products() {
  const auto axes = rc::gen::element<std::string>("i", "j", "i,j", "j,k", "i,k");
  return rc::gen::map(rc::gen::pair(axes, axes), [](const auto& operands) {
    return operands.first + ";" + operands.second + "=>" + operands.first.substr(0, 1);
  });
}

TEST_CASE("every text is translated into a definition or refused in one line") {
  std::size_t translated = 0, refusals = 0;
  const auto total = [&](const std::string& spec) {
    const EinsumTranslation t = translate_einsum(spec, semirings[spec.size() % std::size(semirings)].name);
    if (t.diagnosis.ok()) {
      ++translated;
      (void)Library().with(std::string(t.text.view()));  // throws what RapidCheck reports
    } else {
      ++refusals;
      RC_ASSERT(t.diagnosis.message().find('\n') == std::string_view::npos);
      RC_ASSERT(t.diagnosis.message().starts_with("einsum: "));
    }
  };
  CHECK(rc::check("nearly right", [&] { total(*specifications()); }));
  CHECK(rc::check("with a result", [&] { total(*specifications() + "=>" + *specifications()); }));
  CHECK(rc::check("any bytes", [&] { total(*rc::gen::arbitrary<std::string>()); }));
  CHECK(rc::check("products", [&] { total(*products()); }));
  CHECK(translated >= 100);  // each of the products is
  CHECK(refusals > 10);
}

}  // namespace
}  // namespace etalon::spec
