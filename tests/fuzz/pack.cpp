#include <optional>

#include "conformance/pack/json.hpp"
#include "conformance/pack/judge.hpp"
#include "conformance/pack/test.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/fuzz/sample.hpp"

namespace etalon::fuzz {
namespace {

/// The same text after it was written, read and written.
template <class Packed, class Read>
void check_again(const Packed& packed, const Read& read) {
  const std::string written = conformance::to_json(packed);
  std::optional<Packed> again;
  if (!accepted([&] { again = read(written); })) broken("a pack that is written can be read", written);
  if (conformance::to_json(*again) != written) broken("a pack is the same after it was written", written);
}

}  // namespace

void read_pack(std::string_view text) {
  std::optional<conformance::PackIndex> index;
  if (accepted([&] { index = conformance::pack_index_from_json(text); })) check_again(*index, conformance::pack_index_from_json);
  std::optional<conformance::PackedOperation> operation;
  if (!accepted([&] { operation = conformance::packed_operation_from_json(text); })) return;
  check_again(*operation, conformance::packed_operation_from_json);
  for (const conformance::PackedTest& test : operation->tests) {
    spec::Numbers meant;
    for (const conformance::PackedResult& result : test.results) meant.outputs.push_back(result.value);
    (void)conformance::judge(test, meant);
  }
}

std::vector<std::string> pack_seeds() {
  std::vector<std::string> seeds;
  std::size_t left_out = 0;
  for (const conformance::Case& c : sample_cases()) {
    if (c.program) continue;
    const conformance::PackedOperation operation{c.call.operation, "", conformance::tests_of(c, {}, left_out)};
    if (!operation.tests.empty()) seeds.push_back(conformance::to_json(operation));
  }
  conformance::PackIndex index{"ieee", spec::to_json(spec::Contract{}), std::string(64, '0'), "quick", 1, {}};
  index.files.push_back({"relu.json", "relu", std::string(64, '1'), 100, 3, 0});
  seeds.push_back(conformance::to_json(index));
  return seeds;
}

}  // namespace etalon::fuzz
