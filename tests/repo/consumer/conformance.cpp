#include <iostream>

#include "conformance/conform.hpp"
#include "reference/backend.hpp"

int main() {
  etalon::conformance::ConformOptions options;
  options.backend_name = "reference";
  options.operations = {"relu"};
  const auto backend = etalon::reference::make_reference_backend();
  return etalon::conformance::run_conform(options, *backend, std::cerr);
}
