#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/explanation.hpp"
#include "spec/einsum/einsum.hpp"
#include "spec/library/library.hpp"
#include "tools/command/command.hpp"

namespace etalon::command {
namespace {

constexpr const char* explain_examples = R"(
Examples
  etalon explain softmax
  etalon explain conv2d --dtype f64 --sample 3
  etalon explain my_loss --definitions my.txt
  etalon explain --einsum "ij;jk=>ik"
  etalon explain softmax --html > softmax.html
  etalon explain --einsum "2*oh=+kh;kh=>oh" --semiring max_plus)";

}  // namespace

void add_explain(Command app, Outcome& outcome) {
  Command command = app.command("explain", "Show what an operation means: equation, derivative, bound, numbers");
  command.footer(explain_examples);
  auto operation = std::make_shared<std::string>();
  auto dtype = std::make_shared<std::string>("f32");
  auto number = std::make_shared<std::uint64_t>(0);
  const Option name = command.option("operation", *operation, "Its name");
  command.option("--dtype", *dtype, "Element type of the example: f32 or f64")
      .one_of({"f32", "f64"})
      .with_default();
  command.option("--sample", *number, "Another example call").with_default();
  auto definitions = std::make_shared<std::string>();
  command.option("--definitions", *definitions, "A file with definitions of your own");
  auto specification = std::make_shared<std::string>();
  auto semiring = std::make_shared<std::string>("sum_product");
  auto captures = std::make_shared<std::string>();
  const Option einsum = command.option("--einsum", *specification, "A specification instead of a name: docs/einsum.md");
  einsum.excludes(name);
  command.option("--semiring", *semiring, "Of the specification").needs(einsum).with_default();
  command.option("--captures", *captures, "Names of the specification whose extents are results").needs(einsum);
  auto json = std::make_shared<bool>(false);
  auto html = std::make_shared<bool>(false);
  const Option as_json = command.flag("--json", *json, "The same as one JSON document");
  command.flag("--html", *html, "The same as a page, with equations as MathML").excludes(as_json);
  command.callback([=, &outcome] {
    spec::Library library = library_with(*definitions);
    if (einsum.given()) {
      library = library.with(spec::einsum_definition(*specification, {*semiring, *captures}), "einsum");
      *operation = library.added().back();
    } else if (!name.given()) {
      missing_argument("operation");
    }
    const conformance::Explanation explanation = conformance::explanation_of(library, *operation, *dtype_named(*dtype), *number);
    if (*json) std::cout << to_json(explanation).dump(1) << '\n';
    else std::cout << (*html ? to_page(explanation) : to_text(explanation));
    outcome.status = 0;
  });
}

}  // namespace etalon::command
