// Literals with more digits than 64 bits hold, on every backend: each is rounded once, to the type of its tensor.
#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiled/runtime/backend.hpp"
#include "compiled/runtime/c_backend.hpp"
#include "reference/backend.hpp"
#include "spec/program/program.hpp"
#include "tests/compiled/build_systems.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

std::vector<std::pair<std::string, std::unique_ptr<spec::Backend>>> backends() {
  std::vector<std::pair<std::string, std::unique_ptr<spec::Backend>>> all;
  all.emplace_back("reference", reference::make_reference_backend());
  all.emplace_back("cpu", compiled::make_cpu_backend());
  all.emplace_back("cpu-c", compiled::source::make_c_backend());
  return all;
}

struct Row {
  std::string text;
  double f64;
  float f32;
};

/// Ties of both formats and what is next to them: with a digit less, or rounded twice, they are other numbers. The
/// neighbours are by Python's fractions.
const std::vector<Row> rows{
    {"18446744073709551616.0", 0x1p64, 0x1p64F},
    {"18446744073709551617.0", 0x1p64, 0x1p64F},
    {"0.1234567890123456789012345", 0x1.f9add3746f65fp-4, 0x1.f9add4p-4F},
    {"1.00000000000000011102230246251565404236316680908203125", 0x1p0, 0x1p0F},
    {"1.0000000000000001110223024625156540424", 0x1.0000000000001p0, 0x1p0F},
    {"1.000000059604644775390625", 0x1.000001p0, 0x1p0F},
    {"1.00000005960464477539062500000000000000001", 0x1.000001p0, 0x1.000002p0F},
    {"9223372036854775808e-30", 0x1.4484bfeebc2a0p-37, 0x1.4484c0p-37F},
    {"9223372036854775807123e-30", 0x1.3ce9a36f23c10p-27, 0x1.3ce9a4p-27F}};

spec::Program program_of(const std::string& text, DType dtype) {
  return spec::parse_program("definitions\n  filled(x[n]) -> y[n]\n    y[i] = " + text + "\nend definitions\ninput x : " +
                             std::string(name_of(dtype)) + "[3]\ny = filled(x)\noutput y\n");
}

}  // namespace

TEST_CASE("a literal is rounded once, to the type of its tensor", "[sound][compiled][literals]") {
  std::size_t compared = 0;
  for (const auto& [name, backend] : backends()) {
    for (const auto& [text, f64, f32] : rows) {
      for (const bool negative : {false, true}) {
        for (const DType dtype : {DType::f64, DType::f32}) {
          INFO(name << ": " << text << " as " << name_of(dtype));
          spec::Request request;
          request.program = program_of(negative ? "-" + text : text, dtype);
          request.inputs = {HostTensor(dtype, {3})};
          const spec::Answer answer = backend->run(request);
          const auto* numbers = std::get_if<spec::Numbers>(&answer);
          REQUIRE(numbers != nullptr);
          const double want = (negative ? -1 : 1) * (dtype == DType::f64 ? f64 : static_cast<double>(f32));
          for (std::size_t i = 0; i < 3; ++i) CHECK(at(numbers->outputs.at(0), i) == want);
          ++compared;
        }
      }
    }
  }
  CHECK(compared == 3 * rows.size() * 4);
}

TEST_CASE("a program with long literals reads back as it is printed", "[sound][compiled][literals]") {
  for (const Row& row : rows) {
    const spec::Program program = program_of(row.text, DType::f64);
    const std::string printed = spec::to_text(program);
    CHECK(printed.find(row.text) != std::string::npos);
    CHECK(spec::to_text(spec::parse_program(printed)) == printed);
  }
}
