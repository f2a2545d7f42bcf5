#include "conformance/case.hpp"

#include <optional>

#include "conformance/case_file.hpp"
#include "conformance/check.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/fuzz/sample.hpp"

namespace etalon::fuzz {
namespace {

/// Refuses what it is asked: what is found out about a case before an answer is judged is found out.
class Refusing final : public conformance::Asked {
 public:
  spec::Answer run(const spec::Request&) override { return spec::Refusal{}; }
};

}  // namespace

void read_case(std::string_view text) {
  if (!text.empty() && text.front() != '{') {
    (void)accepted([&] { (void)conformance::parse_id(text); });
    return;
  }
  std::optional<conformance::Case> c;
  if (!accepted([&] { c = conformance::case_from_json(text); })) return;
  const std::string written = conformance::to_json(*c);
  std::string again;
  if (!accepted([&] { again = conformance::to_json(conformance::case_from_json(written)); })) broken("a case that is written can be read", written);
  if (again != written) broken("a case is the same after it was written", written);
  Refusing backend;
  (void)conformance::check(*c, backend, {});
}

std::vector<std::string> case_seeds() {
  std::vector<std::string> seeds;
  for (const conformance::Case& c : sample_cases()) seeds.push_back(conformance::to_json(c));
  seeds.push_back(conformance::id_of(sample_cases().front().key));
  return seeds;
}

}  // namespace etalon::fuzz
