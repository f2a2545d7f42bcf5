#include "tests/emitted/sample.hpp"

#include <catch2/catch.hpp>

#include <sstream>

#include "compiled/runtime/backend.hpp"
#include "conformance/cases.hpp"
#include "conformance/check.hpp"
#include "spec/contract/contract.hpp"
#include "spec/error.hpp"

namespace etalon::test {

using Catch::Matchers::Contains;

namespace {

/// Asks a backend that answers nothing what a run would ask it if it did.
void note_cases(const conformance::Unit& unit, const conformance::ConformOptions& options, spec::Backend& notes) {
  struct Noting final : conformance::Asked {
    explicit Noting(spec::Backend& b) : backend(b) {}
    spec::Answer run(const spec::Request& request) override { return backend.run(request); }
    spec::Backend& backend;
  } noting(notes);
  conformance::Cases cases(unit, options);
  while (const auto next = cases.next()) {
    if (next->made) (void)conformance::check(*next->made, noting, spec::contract_named("cpu"));
  }
}

}  // namespace

conformance::ConformOptions sample_of(const std::string& backend, const std::vector<std::string>& operations) {
  conformance::ConformOptions options;
  options.backend_name = backend;
  options.operations = operations;
  options.checks = {conformance::Check::value, conformance::Check::jvp, conformance::Check::vjp};
  options.dtypes = {DType::f32, DType::f64};
  options.jobs = 1;
  return options;
}

std::vector<spec::System> systems_asked(const conformance::ConformOptions& options) {
  std::vector<spec::System> asked;
  const auto notes = compiled::make_system_backend("cpu", [&](const spec::System& s) -> compiled::Runner {
    asked.push_back(s);
    throw Unsupported("only noted");
  });
  for (const conformance::Unit& unit : conformance::plan(options)) note_cases(unit, options, *notes);
  return asked;
}

void check_conforms(const conformance::ConformOptions& options, spec::Backend& backend) {
  std::ostringstream console;
  const int status = run_conform(options, backend, console);
  INFO(console.str());
  CHECK(status == 0);
  CHECK_THAT(console.str(), Contains(" 0 unsupported"));
  CHECK_THAT(console.str(), Contains(std::to_string(options.operations.size()) + " of "));
}

}  // namespace etalon::test
