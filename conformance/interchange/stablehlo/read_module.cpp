#include <fmt/format.h>

#include <set>

#include "conformance/interchange/stablehlo/read_operation.hpp"
#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance::stablehlo {
namespace {

constexpr std::size_t largest_text = std::size_t{1} << 31U;

/// Functions, in a module or not, and aliases of attributes and types, which are passed over.
void read_functions(Scanner& scan, AttributeReader& read, Module& module) {
  OperationReader operations(scan, read);
  std::set<std::string> names;
  while (!scan.at_end() && !scan.sees("}")) {
    if (scan.takes("#") || scan.takes("!")) {
      (void)scan.word();
      scan.expect("=");
      (void)read.attribute(true);
      continue;
    }
    if (scan.takes("loc")) {
      scan.pass_over_brackets();
      continue;
    }
    if (!scan.sees("func.func")) scan.fail("a function");
    Function function = operations.function();
    if (!names.insert(function.name).second)
      scan.fail_at(function.at, fmt::format("a function \"{}\" stands before", as_quoted(function.name)));
    if (!function.body.operations.empty()) module.functions.push_back(std::move(function));
  }
}

}  // namespace

Module read_module(std::string_view text, std::string_view where) {
  if (text.starts_with("ML\xefR"))
    throw IoError(
        fmt::format("{}: this is bytecode; its text is printed by stablehlo-translate --deserialize {}", where, where));
  if (text.size() > largest_text) throw IoError(fmt::format("{}: a module of more than 2 GiB is not read", where));
  Scanner scan(text, where);
  AttributeReader read(scan);
  Module module;
  while (scan.sees("#") || scan.sees("!")) {
    (void)scan.any();
    (void)scan.word();
    scan.expect("=");
    (void)read.attribute(true);
  }
  const bool is_module = scan.takes("module") || scan.takes("builtin.module");
  if (is_module) {
    if (scan.sees("@")) (void)scan.symbol();
    if (scan.takes("attributes")) (void)read.dictionary();
    scan.expect("{");
  }
  read_functions(scan, read, module);
  if (is_module) {
    scan.expect("}");
    read_functions(scan, read, module);
  }
  if (!scan.at_end()) scan.fail("the end of the text");
  if (module.functions.empty()) scan.fail("a function");
  return module;
}

}  // namespace etalon::conformance::stablehlo
