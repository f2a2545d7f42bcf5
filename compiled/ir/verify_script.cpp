#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "compiled/ir/script.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

namespace {

/// Bytes that were written, as stretches that do not touch, by their first byte.
class Written {
 public:
  void add(const Memory& m) {
    std::size_t begin = m.offset;
    std::size_t end = m.offset + m.bytes;
    auto& all = all_[{m.of, m.index}];
    auto it = all.upper_bound(begin);
    if (it != all.begin() && std::prev(it)->second >= begin) --it;
    while (it != all.end() && it->first <= end) {
      begin = std::min(begin, it->first);
      end = std::max(end, it->second);
      it = all.erase(it);
    }
    all.emplace(begin, end);
  }

  [[nodiscard]] bool covers(const Memory& m) const {
    const auto all = all_.find({m.of, m.index});
    if (all == all_.end()) return false;
    const auto it = all->second.upper_bound(m.offset);
    return it != all->second.begin() && std::prev(it)->second >= m.offset + m.bytes;
  }

 private:
  std::map<std::pair<Memory::Of, std::size_t>, std::map<std::size_t, std::size_t>> all_;
};

class Checks {
 public:
  Checks(const spec::System& system, const Script& script) : system_(system), script_(script) {}

  void all() {
    for (at_ = 0; at_ < script_.commands.size(); ++at_) {
      const Command& command = script_.commands[at_];
      if (const auto* move = std::get_if<Move>(&command.does)) require(move->from.bytes == move->to.bytes, "moves bytes to another number of them");
      const std::vector<Use> uses = memory_used(command);
      for (const Use& use : uses) {
        inside(use.memory);
        const bool there = use.memory.of == Memory::Of::input || use.memory.bytes == 0 || written_.covers(use.memory);
        require(!use.read || there, "reads what nobody has written");
      }
      waits(command, uses);
      for (const Use& use : uses) {
        if (use.written && use.memory.bytes != 0) written_.add(use.memory);
      }
      used_.push_back(uses);
    }
  }

 private:
  void require(bool holds, const char* rule) const {
    if (!holds) throw InternalError(fmt::format("script: command {} {}", at_, rule));
  }

  void inside(const Memory& m) const {
    switch (m.of) {
      case Memory::Of::input: return require(m.index < system_.inputs.size(), "touches an input that is not there");
      case Memory::Of::output: return require(m.index < system_.outputs.size(), "touches an output that is not there");
      case Memory::Of::arena: return require(m.offset + m.bytes <= script_.arena_bytes, "touches bytes outside of the arena");
    }
  }

  /// Every command before this one that it meets in a written byte comes before it, directly or by way of others.
  void waits(const Command& command, const std::vector<Use>& uses) {
    std::vector<bool>& past = pasts_.emplace_back(at_);
    for (const std::size_t b : command.after) {
      require(b < at_, "waits for one that comes later");
      past[b] = true;
      for (std::size_t c = 0; c < pasts_[b].size(); ++c) past[c] = past[c] || pasts_[b][c];
    }
    for (std::size_t b = 0; b < at_; ++b) require(past[b] || !meet(used_[b], uses), "does not wait for one that it shares memory with");
  }

  static bool meet(const std::vector<Use>& before, const std::vector<Use>& after) {
    return std::ranges::any_of(before, [&](const Use& a) {
      return std::ranges::any_of(after, [&](const Use& b) { return (a.written || b.written) && overlap(a.memory, b.memory); });
    });
  }

  const spec::System& system_;
  const Script& script_;
  std::size_t at_ = 0;
  Written written_;
  std::vector<std::vector<Use>> used_;    ///< by each command so far
  std::vector<std::vector<bool>> pasts_;  ///< which commands come before each
};

}  // namespace

void verify(const spec::System& system, const Script& script) { Checks(system, script).all(); }

}  // namespace etalon::compiled
