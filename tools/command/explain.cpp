#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "conformance/case.hpp"
#include "spec/einsum/einsum.hpp"
#include "spec/library/library.hpp"
#include "tools/command/command.hpp"
#include "tools/command/explanation.hpp"
#include "tools/command/sample.hpp"

namespace etalon::command {
namespace {

constexpr const char* explain_examples = R"(
Examples
  etalon explain softmax
  etalon explain conv2d --dtype f64 --sample 3
  etalon explain my_loss --definitions my.txt
  etalon explain --einsum "ij;jk=>ik"
  etalon explain --einsum "2*oh=+kh;kh=>oh" --semiring max_plus)";

void explain(const spec::Library& library, const std::string& operation, DType dtype, std::uint64_t number) {
  const spec::Definition& definition = library.named(operation);
  std::cout << definition.text << (definition.text.ends_with('\n') ? "" : "\n");
  const std::optional<conformance::Case> sample = sample_call(library, operation, dtype, number);
  if (!sample) {
    std::cout << "\nno sample call of " << operation << " was found for " << name_of(dtype) << '\n';
    return;
  }
  const spec::Instance instance = instance_of(*sample);
  print_call(std::cout, definition, sample->call, instance);
  print_equations(std::cout, instance.system);
  print_domain(std::cout, instance.system);
  print_derivative(std::cout, instance.system);
  print_example(std::cout, *sample, instance.system);
}

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
  command.callback([=, &outcome] {
    spec::Library library = library_with(*definitions);
    if (einsum.given()) {
      library = library.with(spec::einsum_definition(*specification, {*semiring, *captures}), "einsum");
      explain(library, library.added().back(), *dtype_named(*dtype), *number);
    } else if (!name.given()) {
      missing_argument("operation");
    } else {
      explain(library, *operation, *dtype_named(*dtype), *number);
    }
    outcome.status = 0;
  });
}

}  // namespace etalon::command
