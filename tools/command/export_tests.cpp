#include "tools/command/export_tests.hpp"

#include <iostream>

#include <fmt/format.h>

#include "conformance/interchange/onnx/expect_calls.hpp"
#include "conformance/interchange/onnx/node_tests.hpp"
#include "conformance/interchange/stablehlo/judged_tests.hpp"
#include "conformance/interchange/stablehlo/text.hpp"
#include "spec/enumerator.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "tools/command/command.hpp"
#include "tools/command/program_file.hpp"

namespace etalon::command {

namespace {

[[nodiscard]] conformance::ConformOptions options_of(const TestWords& words) {
  using conformance::real_dtypes, conformance::real_dtype_names;
  conformance::ConformOptions options;
  for (const std::string& operation : words.operations) options.operations.emplace_back(options.library.named(operation).name);
  for (const std::string& dtype : words.dtypes)
    options.dtypes.push_back(real_dtypes[enumerator_or_throw<std::size_t>(real_dtype_names, dtype, "element type")]);
  options.tier = enumerator_or_throw<conformance::Tier>(conformance::tier_names, words.tier, "tier");
  options.seed = words.seed;
  return options;
}

void write_expect_calls(const std::string& folder, const conformance::onnx::NodeTests& made) {
  const conformance::onnx::ExpectFiles files = conformance::onnx::expect_files(made);
  const std::size_t left_out = made.left_out + files.left_out;
  if (files.calls == 0) throw SpecViolation(fmt::format("no call of expect can be made of what is asked; {} cases are left out", left_out));
  make_folder(folder);
  for (const auto& [name, text] : files.texts) write_file(std::filesystem::path(folder) / name, text);
  std::cout << fmt::format("{}: {} calls of expect in {} files; {} cases left out\n", folder, files.calls, files.texts.size(), left_out);
}

}  // namespace

void export_onnx_tests(const TestWords& words) {
  namespace onnx = conformance::onnx;
  const bool plain = words.plain || words.expect;
  const onnx::NodeTests made =
      onnx::node_tests(options_of(words), contract_of(words.contract), plain ? onnx::TestKind::plain : onnx::TestKind::judged);
  if (made.tests.empty())
    throw SpecViolation(fmt::format("no test of one node can be made of what is asked; {} cases are left out", made.left_out));
  if (words.expect) return write_expect_calls(words.folder, made);
  onnx::write_node_tests(words.folder, made);
  std::cout << fmt::format("{}: {} {} tests; {} cases left out\n", words.folder, made.tests.size(), words.plain ? "plain" : "judged",
                           made.left_out);
}

void export_stablehlo_tests(const TestWords& words) {
  if (words.plain || words.expect) throw SpecViolation(fmt::format("{}: tests of StableHLO are judged", words.plain ? "--plain" : "--expect"));
  const auto made = conformance::stablehlo::judged_tests(options_of(words), contract_of(words.contract));
  if (made.tests.empty()) {
    throw SpecViolation(fmt::format("no test can be made of what is asked{}{}", made.left_out.empty() ? "" : ": ",
                                    made.left_out.empty() ? "" : made.left_out.begin()->first));
  }
  conformance::stablehlo::write_judged_tests(words.folder, made);
  std::cout << fmt::format("{}: {} judged tests\n", words.folder, made.tests.size());
  for (const auto& [why, number] : made.left_out) std::cout << fmt::format("  {} cases left out: {}\n", number, why);
}

void export_stablehlo_program(const std::string& program, const std::string& output) {
  write_file(output, conformance::stablehlo::module_text(program_in_file(program)));
}

}  // namespace etalon::command
