#include "tests/fuzz/sample.hpp"

#include <cstddef>

namespace etalon::fuzz {

using conformance::Case;
using conformance::Check;

std::vector<Case> sample_cases() {
  constexpr std::size_t most_elements = 40, every = 10;
  std::vector<Case> cases;
  std::size_t number = 0;
  for (const spec::Definition* d : spec::library()) {
    if (number++ % every != 0) continue;
    for (const Check check : {Check::value, Check::jvp, Check::vjp}) {
      for (std::uint64_t index = 0; index < 20; index += 7) {
        auto made = conformance::make_case({std::string(d->name), check, DType::f32, index, 1, {}});
        if (!made || conformance::elements_of(*made) > most_elements) continue;
        cases.push_back(std::move(*made));
        break;
      }
    }
  }
  return cases;
}

std::vector<spec::Request> sample_requests() {
  std::vector<spec::Request> requests;
  for (const Case& c : sample_cases()) requests.push_back(conformance::request_of(c));
  return requests;
}

}  // namespace etalon::fuzz
