// Definitions made of random bytes, and near those of the library, through every door, so many through each:
//     test_doors --check 10000000 --serve 1000000 --cpu 100000 --c 1000 --seed 1
// One in four is a text of the library with a few changes. A text that breaks a promise is named on stderr, and so is
// the program at which a sanitizer ends the process.
#include <sanitizer/common_interface_defs.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "spec/error.hpp"
#include "spec/library/library.hpp"
#include "spec/library/trial.hpp"
#include "tests/fuzz/definition_maker.hpp"
#include "tests/fuzz/doors.hpp"
#include "tests/fuzz/mutation.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/fuzz/run_compiled.hpp"

namespace {

using namespace etalon;
using Clock = std::chrono::steady_clock;

/// What is drawn, in an order that the seed decides.
class Stream {
 public:
  explicit Stream(std::uint64_t seed) : near_(fuzz::notation_seeds(), fuzz::words(), seed), random_(seed) {}

  std::vector<spec::Program> next() {
    if (random_() % 4 == 0) return fuzz::programs_with(near_.next());
    std::string bytes(8 + random_() % 120, ' ');
    for (char& c : bytes) c = static_cast<char>(random_());
    return {fuzz::made_program(bytes)};
  }

 private:
  fuzz::Mutation near_;
  std::mt19937_64 random_;
};

/// The program at hand, for the last words of the process.
const spec::Program* at_hand = nullptr;

void say_program() {
  if (at_hand != nullptr) (void)std::fprintf(stderr, "at this program:\n%s\n", spec::to_text(*at_hand).c_str());
}

struct Count {
  std::size_t inputs = 0, accepted = 0, computed = 0;
};

/// Gives texts to one door until it had `wanted`.
template <class Door>
bool through(const std::string& name, std::size_t wanted, std::uint64_t seed, const Door& door) {
  Stream stream(seed);
  Count count;
  const auto start = Clock::now();
  while (count.inputs < wanted) {
    ++count.inputs;
    for (const spec::Program& p : stream.next()) {
      at_hand = &p;
      if (fuzz::checked(p)) {
        ++count.accepted;
        if (door(p)) ++count.computed;
      }
      at_hand = nullptr;
    }
  }
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::cout << name << ": " << count.inputs << " inputs, " << count.accepted << " calls accepted, " << count.computed << " computed, "
            << static_cast<double>(count.inputs) / (seconds > 0 ? seconds : 1) << " inputs a second" << std::endl;
  return wanted == 0 || count.accepted > 0;
}

/// No definition of the library is refused for what it reads or gives.
bool library_passes() {
  std::size_t wrong = 0;
  for (const spec::Definition* d : spec::library()) {
    try {
      spec::try_out(*d);
    } catch (const SpecViolation& error) {
      std::cerr << error.what() << '\n';
      ++wrong;
    }
  }
  return wrong == 0;
}

}  // namespace

int main(int count, char** words) {
  __sanitizer_set_death_callback(say_program);
  std::map<std::string, std::uint64_t> options{{"--check", 0}, {"--serve", 0}, {"--cpu", 0}, {"--c", 0}, {"--seed", 1}};
  for (int i = 1; i < count; i += 2) {
    if (i + 1 == count || !options.contains(words[i])) {
      std::cerr << "usage: test_doors [--check N] [--serve N] [--cpu N] [--c N] [--seed N]\n";
      return 2;
    }
    options[words[i]] = std::strtoull(words[i + 1], nullptr, 10);
  }
  const std::uint64_t seed = options["--seed"];
  bool good = library_passes();
  good = through("check", options["--check"], seed, [](const spec::Program&) { return false; }) && good;
  good = through("serve", options["--serve"], seed + 1, [](const spec::Program& p) {
    if (!fuzz::is_small(p)) return false;
    fuzz::served(p);
    return true;
  }) && good;
  good = through("run --backend cpu", options["--cpu"], seed + 2, [](const spec::Program& p) { return fuzz::is_small(p) && fuzz::run_between_guards(p); }) && good;
  fuzz::EmittedC emitted;
  good = through("compile --emit c", options["--c"], seed + 3, [&](const spec::Program& p) { return fuzz::is_small(p) && emitted.take(p); }) && good;
  emitted.finish();
  return good ? 0 : 1;
}
