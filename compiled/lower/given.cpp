#include "compiled/lower/given.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "compiled/ir/parse_loops.hpp"
#include "spec/error.hpp"
#include "spec/nearest.hpp"

namespace etalon::compiled::loops {

namespace {

class Replacement {
 public:
  Replacement(const spec::System& system, const GivenLoops& given, std::vector<Nest>& nests) : system_(system), given_(given), nests_(nests) {}

  void all() {
    std::vector<std::pair<Nest*, Nest>> found;
    std::set<const Nest*> replaced;
    for (ParsedNest& one : parse_nests(system_, given_.text, given_.file)) {
      Nest& lowered = lowered_of(one);
      if (!replaced.insert(&lowered).second) refuse(one, "it is given twice");
      check(one, lowered);
      found.emplace_back(&lowered, std::move(one.nest));
    }
    for (auto& [lowered, nest] : found) *lowered = std::move(nest);
  }

 private:
  [[noreturn]] void refuse(const ParsedNest& one, const std::string& why) const {
    throw SpecViolation(fmt::format("{}:{}: kernel {}: {}", given_.file, one.line, one.nest.name, why));
  }

  Nest& lowered_of(const ParsedNest& one) const {
    const auto found = std::find_if(nests_.begin(), nests_.end(), [&](const Nest& n) { return n.name == one.nest.name; });
    if (found != nests_.end()) return *found;
    std::vector<std::string> known;
    for (const Nest& n : nests_) known.push_back(n.name);
    throw SpecViolation(fmt::format("{}:{}: {}", given_.file, one.line, unknown_name("kernel", one.nest.name, known)));
  }

  /// Its memory was given to it by the plan; what else it is, the verifier judges.
  void check(const ParsedNest& one, const Nest& lowered) const {
    const Nest& nest = one.nest;
    for (std::size_t b = 0; b < std::max(nest.buffers.size(), lowered.buffers.size()); ++b) {
      if (b >= nest.buffers.size()) refuse(one, fmt::format("expected {}, found nothing", described(lowered.buffers[b])));
      if (b >= lowered.buffers.size()) refuse(one, fmt::format("expected no other buffers, found {}", described(nest.buffers[b])));
      if (!(nest.buffers[b] == lowered.buffers[b])) refuse(one, fmt::format("expected {}, found {}", described(lowered.buffers[b]), described(nest.buffers[b])));
    }
    if (nest.zeroed != lowered.zeroed) refuse(one, "other tensors are full of zeros than the plan says");
    try {
      verify(system_, nest);
      verify_bounds(system_, {&nest, 1});
    } catch (const InternalError& error) {
      throw SpecViolation(fmt::format("{}:{}: {}", given_.file, one.line, error.what()));
    }
  }

  [[nodiscard]] std::string described(const Buffer& b) const {
    const std::string way = !b.written ? "read" : b.read ? "read and written" : "written";
    if (b.scope == Scope::argument) return fmt::format("{}, an argument that is {}", system_[b.tensor].name, way);
    return fmt::format("{} in {} bytes of its own{}", system_[b.tensor].name, b.bytes, b.offset ? fmt::format(" from {} on", *b.offset) : "");
  }

  const spec::System& system_;
  const GivenLoops& given_;
  std::vector<Nest>& nests_;
};

}  // namespace

void take_given(const spec::System& system, const GivenLoops& given, std::vector<Nest>& nests) { Replacement(system, given, nests).all(); }

}  // namespace etalon::compiled::loops
