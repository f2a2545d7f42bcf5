// The suite's own cases convict every mutant; the sound backend passes them.
#include "tests/mutants/mutants.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "compiled/runtime/backend.hpp"
#include "conformance/conform.hpp"
#include "tests/mutants/backend.hpp"
#include "tests/mutants/score.hpp"

using namespace etalon;
using mutants::Finding;
using mutants::Mutant;
using mutants::numbers_given;

namespace {

// Work shared by two threads; each finding stands at its mutant's place.
std::vector<Finding> findings(std::span<const Mutant> list, std::size_t attempts) {
  std::vector<Finding> found(list.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < list.size(); i = next++) {
      conformance::ConformOptions options;
      options.operations = mutants::known_operations(list[i].operations);
      found[i] = convict(list[i], options);
      if (attempts > 0) shrink(list[i], found[i], attempts);
    }
  };
  const std::jthread other(work);
  work();
  return found;
}

std::size_t median(std::vector<std::size_t> sizes) {
  std::sort(sizes.begin(), sizes.end());
  return sizes.empty() ? 0 : sizes[sizes.size() / 2];
}

int replayed(spec::Backend& backend, const std::string& id) {
  conformance::ConformOptions options;
  options.backend_name = "cpu";
  options.replay = id;
  options.shrink_attempts = 0;
  std::ostringstream console;
  return run_conform(options, backend, console);
}

// Defects of one request at a time: those with a memory need the requests before.
bool is_of_one_request(const Mutant& m) { return m.respond == nullptr; }

}  // namespace

TEST_CASE("every mutant is another defect, with operations that show it and a history", "[mutants]") {
  std::set<std::string_view> names, defects;
  for (const Mutant& m : mutants::mutants()) {
    INFO(m.name);
    CHECK(names.insert(m.name).second);
    CHECK(defects.insert(m.defect).second);
    CHECK(m.history.size() > 15);
    CHECK(!mutants::known_operations(m.operations).empty());
    const int places =
        (m.rewrite != nullptr) + (m.primal != nullptr) + (m.after_passes != nullptr) + (m.respond != nullptr);
    CHECK(places == 1);
  }
  CHECK(names.size() >= 220);
  for (const auto& e : mutants::equivalents()) CHECK(!names.contains(e.name));
}

TEST_CASE(
    "the quick tier convicts at least 97 of 100 mutants with few numbers, the sound backend passes the same cases",
    "[mutants]") {
  const auto list = mutants::mutants();
  const std::vector<Finding> found = findings(list, 60);
  const auto sound = compiled::make_cpu_backend();
  std::size_t convicted = 0, sampled = 0;
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < list.size(); ++i) {
    INFO(list[i].name);
    CHECK(found[i].crashes.empty());
    if (!found[i].first) {
      UNSCOPED_INFO("survivor: " << list[i].name);
      continue;
    }
    ++convicted;
    if (found[i].smallest) sizes.push_back(numbers_given(*found[i].smallest));
    if (i % 4 == 0) {
      const std::string id = conformance::id_of(found[i].first->made.key);
      INFO(id);
      CHECK(replayed(*sound, id) == 0);
      if (is_of_one_request(list[i])) CHECK(replayed(*mutants::make_mutant(list[i]), id) == 1);
      ++sampled;
    }
  }
  CHECK(sampled > list.size() / 5);
  CHECK(convicted * 100 >= list.size() * 97);
  CHECK(median(sizes) <= 4);
}

TEST_CASE("the full tier convicts every mutant", "[.][mutants-full]") {
  for (const Mutant& m : mutants::mutants()) {
    conformance::ConformOptions options;
    options.tier = conformance::Tier::full;
    options.operations = mutants::known_operations(m.operations);
    INFO(m.name);
    CHECK(convict(m, options).first.has_value());
  }
}
