#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "conformance/case.hpp"
#include "spec/einsum/einsum.hpp"
#include "spec/library/library.hpp"
#include "tools/command/command.hpp"
#include "tools/command/explanation.hpp"
#include "tools/command/sample.hpp"

namespace etalon::command {
namespace {

constexpr const char* examples = R"(
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

void add_explain(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("explain", "Show what an operation means: equation, derivative, bound, numbers");
  command->footer(examples);
  auto operation = std::make_shared<std::string>();
  auto dtype = std::make_shared<std::string>("f32");
  auto number = std::make_shared<std::uint64_t>(0);
  CLI::Option* name = command->add_option("operation", *operation, "Its name");
  command->add_option("--dtype", *dtype, "Element type of the example: f32 or f64")
      ->check(CLI::IsMember({"f32", "f64"}))
      ->capture_default_str();
  command->add_option("--sample", *number, "Another example call")->capture_default_str();
  auto definitions = std::make_shared<std::string>();
  command->add_option("--definitions", *definitions, "A file with definitions of your own");
  auto specification = std::make_shared<std::string>();
  auto semiring = std::make_shared<std::string>("sum_product");
  auto captures = std::make_shared<std::string>();
  CLI::Option* einsum = command->add_option("--einsum", *specification, "A specification instead of a name: docs/einsum.md");
  einsum->excludes(name);
  command->add_option("--semiring", *semiring, "Of the specification")->needs(einsum)->capture_default_str();
  command->add_option("--captures", *captures, "Names of the specification whose extents are results")->needs(einsum);
  command->callback([=, &outcome] {
    spec::Library library = library_with(*definitions);
    if (einsum->count() > 0) {
      library = library.with(spec::einsum_definition(*specification, {*semiring, *captures}), "einsum");
      explain(library, library.added().back(), *dtype_named(*dtype), *number);
    } else if (name->count() == 0) {
      throw CLI::RequiredError("operation");
    } else {
      explain(library, *operation, *dtype_named(*dtype), *number);
    }
    outcome.status = 0;
  });
}

}  // namespace etalon::command
