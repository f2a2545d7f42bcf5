#include "conformance/pack/write.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "conformance/pack/choice.hpp"
#include "conformance/pack/json.hpp"
#include "conformance/pack/test.hpp"
#include "spec/error.hpp"
#include "spec/file.hpp"
#include "spec/sha256.hpp"

namespace etalon::conformance {
namespace {

struct Written {
  PackedFile file;
  std::string text;
};

/// The units of each operation, in the order of the plan.
[[nodiscard]] std::vector<std::vector<Unit>> by_operation(const ConformOptions& options) {
  std::vector<std::vector<Unit>> all;
  for (Unit& unit : packed_units(options)) {
    if (all.empty() || all.back().front().operation != unit.operation) all.emplace_back();
    all.back().push_back(std::move(unit));
  }
  return all;
}

[[nodiscard]] Written written(const std::vector<Unit>& units, const ConformOptions& options, const spec::Contract& contract) {
  Written one;
  PackedOperation operation;
  operation.name = units.front().operation;
  operation.text = options.library.named(operation.name).text;
  for (const Unit& unit : units) {
    for (const Case& c : chosen_cases(unit, options)) {
      for (PackedTest& test : tests_of(c, contract, one.file.left_out)) operation.tests.push_back(std::move(test));
    }
  }
  one.text = to_json(operation);
  one.file.operation = operation.name;
  one.file.file = operation.name + ".json";
  one.file.sha256 = sha256_of(one.text);
  one.file.bytes = one.text.size();
  one.file.tests = operation.tests.size();
  return one;
}

/// Operations one after the other, by several threads; each stands at its place.
class Writing {
 public:
  Writing(const ConformOptions& options, const spec::Contract& contract, const std::function<void(std::size_t, std::size_t)>& progress)
      : options_(options), contract_(contract), progress_(progress), units_(by_operation(options)), written_(units_.size()) {}

  std::vector<Written> run() {
    {
      std::vector<std::jthread> others;
      for (unsigned j = 1; j < options_.jobs; ++j) others.emplace_back([this] { work(); });
      work();
    }
    if (failure_) std::rethrow_exception(failure_);
    return std::move(written_);
  }

 private:
  void work() {
    for (std::size_t i = next_++; i < units_.size(); i = next_++) {
      try {
        written_[i] = written(units_[i], options_, contract_);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failure_ = std::current_exception();
        next_ = units_.size();
      }
      const std::lock_guard lock(mutex_);
      if (progress_) progress_(++done_, units_.size());
    }
  }

  const ConformOptions& options_;
  const spec::Contract& contract_;
  const std::function<void(std::size_t, std::size_t)>& progress_;
  std::vector<std::vector<Unit>> units_;
  std::vector<Written> written_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;  ///< of what follows
  std::size_t done_ = 0;
  std::exception_ptr failure_;
};

constexpr const char* readme = R"(Golden tests of tensor operations, "etalon pack 1".

Contract: {contract}. Specification: {specification}. Tier {tier}, seed {seed}: {tests} tests of {operations} operations.

pack.json states versions, and the SHA-256 of every file; schema.json describes them all. OPERATION.json has the
definition's text, what each flag means, and tests. A test is a request of Etalon's Protocol 1: a program, its inputs and a
mode (values, tangents, cotangents, or both). Tensors are in base64, little-endian, row-major. What a right answer is:

- "results" has, for each tensor of the answer, "value", which is what the definition means, rounded to the type, and "ways".
  The tensor is right where one way holds for all of it: each element lies between "lower" and "upper", ends included; of
  integers it is "exact".
- "admits" names elements (row-major) that may be something else, as bits: 1 a number between the ends, 2 inf, 4 -inf, 8 nan,
  16 anything. All others have 1.
- Where a test is "joint", one way must hold for all results at once: those of the same position.
- A test that says "rejected" is no well-typed call; whoever refuses it is right.

A pack is never edited: another specification, contract, tier or seed is another pack. Without Etalon twenty lines judge it;
with Etalon `etalon pack requests PACK | COMMAND | etalon pack judge PACK` does.
)";

[[nodiscard]] std::string readme_of(const PackIndex& index) {
  std::size_t tests = 0;
  for (const PackedFile& f : index.files) tests += f.tests;
  return fmt::format(fmt::runtime(readme), fmt::arg("contract", index.contract), fmt::arg("specification", index.specification),
                     fmt::arg("tier", index.tier), fmt::arg("seed", index.seed), fmt::arg("tests", tests),
                     fmt::arg("operations", index.files.size()));
}

}  // namespace

WrittenPack make_pack(const ConformOptions& options, const spec::Contract& contract, const std::string& name,
                      const std::function<void(std::size_t, std::size_t)>& progress) {
  WrittenPack pack;
  PackIndex& index = pack.index;
  index.contract = name;
  index.contract_json = spec::to_json(contract);
  index.specification = options.library.hash();
  index.tier = name_of(options.tier);
  index.seed = options.seed;
  for (Written& one : Writing(options, contract, progress).run()) {
    pack.files.emplace_back(one.file.file, std::move(one.text));
    index.files.push_back(std::move(one.file));
  }
  pack.folder = fmt::format("etalon-pack-{}-{}-{}", pack_version, name, index.specification.substr(0, 8));
  pack.files.emplace_back("schema.json", pack_schema());
  pack.files.emplace_back("README.md", readme_of(index));
  pack.files.emplace_back("pack.json", to_json(index));
  return pack;
}

std::filesystem::path write_pack(const WrittenPack& pack, const std::filesystem::path& into) {
  const std::filesystem::path folder = into / pack.folder;
  if (std::filesystem::exists(folder / "pack.json")) throw SpecViolation(folder.string() + ": there is a pack of that name, and packs are never changed");
  make_folder(folder);
  for (const auto& [name, text] : pack.files) write_file(folder / name, text);
  return folder;
}

}  // namespace etalon::conformance
