#include "tools/bench/bits.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "spec/error.hpp"

using namespace etalon;
using namespace etalon::bench;

namespace {

#ifdef ETALON_SANITIZED
/// Sanitizers slow our own compiler down, not the code that it makes: workloads of more equations than this are compared
/// in the optimised builds, and all settings too.
const std::vector<Setting> settings{{1, compiled::machines::avx512, {}}, {2, compiled::machines::avx512, {}}, {3, compiled::machines::avx2, 16 << 20}};
constexpr std::size_t most_steps = 40;
constexpr bool all_of_them = false;
#else
constexpr std::array<unsigned, 3> threads{1, 2, 3};
constexpr std::array levels{compiled::machines::avx512, compiled::machines::avx2};
constexpr std::array<std::int64_t, 2> caches{256 << 10, 16 << 20};
const std::vector<Setting> settings = settings_of(threads, levels, caches);
constexpr std::size_t most_steps = static_cast<std::size_t>(-1);
constexpr bool all_of_them = true;
#endif

/// What `etalon-order-1` is a name for: a digest for each workload, on every machine. Whoever audits a run of today later must come to
/// its bits, so that other bits need another name; that the numbers are right is for conformance to say. The file is that of
/// `etalon bench bits --threads 1 --json`, of which each line has a workload and its first digest.
std::map<std::string, std::string> committed_digests() {
  std::ifstream file(std::string(ETALON_SOURCE_DIR) + "/tests/bench/order.txt");
  std::map<std::string, std::string> all;
  for (std::string name, digest; file >> name >> digest;) all[name] = digest;
  return all;
}

}  // namespace

TEST_CASE("every_workload_gives_the_same_bits_whatever_threads_vectors_and_caches_there_are", "[bits]") {
  std::size_t workloads = 0, bytes = 0, sharing = 0;
  const std::map<std::string, std::string> committed = committed_digests();
  REQUIRE(committed.size() == all_workloads().size());
  for (const Workload& workload : all_workloads()) {
    const spec::Program program = program_of(workload, DType::f32);
    if (program.steps.size() > most_steps) continue;
    INFO(workload.name);
    const Bits found = bits_of(workload, settings, 1);
    INFO(found.different);
    REQUIRE(found.hashes.size() == settings.size());
    CHECK(found.equal());
    for (const std::string& hash : found.hashes) CHECK(hash == committed.at(workload.name));
    std::size_t state = 0;
    for (const InputSpec& spec : workload.inputs) state += spec.is_state ? 1 : 0;
    CHECK(found.tensors == runs_compared * program.outputs.size() + state);
    CHECK(found.bytes > 0);
    ++workloads;
    bytes += found.bytes;
    sharing += found.shared_kernels > 0 ? 1 : 0;
  }
  WARN(workloads << " workloads, " << bytes << " bytes each, " << sharing << " with work to share");
  CHECK(workloads > 0);
  if (all_of_them) CHECK(workloads == all_workloads().size());
  CHECK(bytes > 0);
  CHECK(sharing + 1 >= workloads);  // a product of one tile has nothing to share
}

TEST_CASE("bits_that_differ_are_found_and_named", "[bits]") {
  const Workload workload = workloads_named({"gemm-16"}).front();
  const Bits one = bits_of(workload, settings, 1), two = bits_of(workload, settings, 2);
  CHECK(one.equal());
  CHECK(one.hashes[0] != two.hashes[0]);
  CHECK(one.bytes == runs_compared * 16 * 16 * 4);
  std::array tensors{NamedTensor{"y", HostTensor(DType::f32, {2})}, NamedTensor{"z", HostTensor(DType::f32, {2})}};
  auto others = tensors;
  CHECK(first_difference(tensors, others).empty());
  others[1].second.bytes[5] ^= std::byte{1};
  CHECK(first_difference(tensors, others) == "z, byte 5");
  // A zero and a negative zero are equal numbers of other bits.
  others = tensors;
  others[0].second.view<float>()[0] = -0.0F;
  CHECK(first_difference(tensors, others) == "y, byte 3");
  CHECK(first_difference(tensors, std::span(others).first(1)) == "2 tensors and 1");
  Bits wrong = one;
  wrong.different = "y of run 1, byte 3, with 1 and 2 threads";
  CHECK_FALSE(wrong.equal());
  CHECK(to_text(wrong).find("DIFFERENT: y of run 1, byte 3") != std::string::npos);
  std::ostringstream out;
  write_json(out, std::array{one, wrong}, 1);
  const auto json = nlohmann::json::parse(out.str());
  CHECK(json.at("equal") == false);
  CHECK(json.at("workloads").at(0).at("equal") == true);
  CHECK(json.at("workloads").at(1).at("sha256").at(0) == one.hashes[0]);
  CHECK_THROWS_AS((void)bits_of(workload, {}, 1), SpecViolation);
}
