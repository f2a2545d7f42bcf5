#include "compiled/ir/script.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "spec/error.hpp"

namespace etalon::compiled {

using spec::System;

namespace {

std::optional<Memory> memory_of(const Residence& r) {
  switch (r.home) {
    case Home::input:
    case Home::in_place: return Memory{Memory::Of::input, r.index, 0, r.bytes};
    case Home::output: return Memory{Memory::Of::output, r.index, 0, r.bytes};
    case Home::arena: return Memory{Memory::Of::arena, 0, r.offset, r.bytes};
    case Home::turn:
    case Home::in_register:
    case Home::none: break;
  }
  return std::nullopt;
}

/// Who wrote each byte last, and who has read it since.
class Waits {
 public:
  /// The commands that one which uses memory so must come after; it is then the last to use it.
  std::set<std::size_t> of(std::size_t command, const std::vector<Use>& uses) {
    std::set<std::size_t> before;
    for (const Use& use : uses) {
      const auto [begin, end] = pieces(use.memory);
      for (auto it = begin; it != end; ++it) {
        if (it->second.writer) before.insert(*it->second.writer);
        if (use.written) before.insert(it->second.readers.begin(), it->second.readers.end());
      }
    }
    for (const Use& use : uses) {
      const auto [begin, end] = pieces(use.memory);
      for (auto it = begin; it != end && !use.written; ++it) it->second.readers.push_back(command);
    }
    for (const Use& use : uses) {
      if (use.written) write(command, use.memory);
    }
    before.erase(command);
    return before;
  }

 private:
  struct Piece {
    std::optional<std::size_t> writer{};
    std::vector<std::size_t> readers{};
  };
  /// By their first byte; each reaches to the next one.
  using Pieces = std::map<std::size_t, Piece>;

  static Pieces::iterator cut(Pieces& all, std::size_t at) {
    const auto it = std::prev(all.upper_bound(at));
    return it->first == at ? it : all.emplace_hint(std::next(it), at, it->second);
  }

  std::pair<Pieces::iterator, Pieces::iterator> pieces(const Memory& m) {
    Pieces& all = all_[{m.of, m.index}];
    all.try_emplace(0);
    if (m.bytes == 0) return {all.end(), all.end()};
    const auto begin = cut(all, m.offset);
    return {begin, cut(all, m.offset + m.bytes)};
  }

  void write(std::size_t command, const Memory& m) {
    const auto [begin, end] = pieces(m);
    if (begin == end) return;
    begin->second = {command, {}};
    all_[{m.of, m.index}].erase(std::next(begin), end);
  }

  std::map<std::pair<Memory::Of, std::size_t>, Pieces> all_;
};

/// Commands that come before one, directly or not, as bits.
class Past {
 public:
  explicit Past(std::size_t command) : words_(command / bits + 1) {}
  [[nodiscard]] bool holds(std::size_t command) const { return (words_[command / bits] >> (command % bits) & 1U) != 0; }
  void add(std::size_t command, const Past& its) {
    words_[command / bits] |= std::uint64_t{1} << (command % bits);
    for (std::size_t w = 0; w < its.words_.size(); ++w) words_[w] |= its.words_[w];
  }

 private:
  static constexpr std::size_t bits = 64;
  std::vector<std::uint64_t> words_;
};

/// Fills in what each command waits for.
void order(std::vector<Command>& commands) {
  Waits waits;
  std::vector<Past> pasts;
  for (std::size_t n = 0; n < commands.size(); ++n) {
    const std::set<std::size_t> before = waits.of(n, memory_used(commands[n]));
    Past& past = pasts.emplace_back(n);
    // The latest first: what one of those waited for need not be waited for again.
    for (auto b = before.rbegin(); b != before.rend(); ++b) {
      if (past.holds(*b)) continue;
      past.add(*b, pasts[*b]);
      commands[n].after.push_back(*b);
    }
    std::ranges::reverse(commands[n].after);
  }
}

class Writing {
 public:
  Writing(const System& system, const Plan& plan) : system_(system), plan_(plan) {
    for (const Residence& r : plan.residences) script_.memories.push_back(memory_of(r));
    script_.arena_bytes = plan.arena_bytes;
  }

  Script all(const std::vector<loops::Nest>& nests) {
    for (std::size_t k = 0; k < nests.size(); ++k) {
      for (const TensorId t : nests[k].zeroed) add(memory(t), Fill{memory(t)});
      script_.commands.push_back({launch(k, nests[k])});
    }
    for (const Commit& c : plan_.commits) {
      const Memory from = memory(system_.outputs.at(c.output));
      add(from, Move{from, memory(system_.inputs.at(c.input))});
    }
    order(script_.commands);
    return std::move(script_);
  }

 private:
  [[nodiscard]] Memory memory(TensorId t) const {
    const std::optional<Memory>& m = script_.memories.at(static_cast<std::size_t>(t));
    if (!m) throw InternalError("script: `" + system_[t].name + "` has no memory outside of kernels");
    return *m;
  }

  template <class Does>
  void add(const Memory& touched, const Does& does) {
    if (touched.bytes != 0) script_.commands.push_back({does});
  }

  [[nodiscard]] Launch launch(std::size_t kernel, const loops::Nest& nest) const {
    Launch launch{kernel, {}, plan_.kernels.at(kernel).scratch};
    for (const loops::Buffer& t : nest.buffers) {
      if (t.scope != loops::Scope::argument) continue;
      // What a kernel writes and reads it reads after it has written it, unless it adds to what it finds.
      const bool finds = !t.written || std::ranges::find(nest.zeroed, t.tensor) != nest.zeroed.end();
      launch.operands.push_back({t.tensor, memory(t.tensor), t.read && finds, t.written});
    }
    return launch;
  }

  const System& system_;
  const Plan& plan_;
  Script script_;
};

}  // namespace

bool overlap(const Memory& a, const Memory& b) {
  return a.of == b.of && a.index == b.index && std::max(a.offset, b.offset) < std::min(a.offset + a.bytes, b.offset + b.bytes);
}

bool share_memory(const Plan& plan, TensorId a, TensorId b) {
  const Residence& x = plan.residences.at(static_cast<std::size_t>(a));
  const Residence& y = plan.residences.at(static_cast<std::size_t>(b));
  const std::optional<Memory> of_x = memory_of(x), of_y = memory_of(y);
  if (a == b || (of_x && of_y)) return a == b || overlap(*of_x, *of_y);
  return x.stead == b || y.stead == a || (x.stead >= 0 && x.stead == y.stead);
}

std::vector<Use> memory_used(const Command& command) {
  if (const auto* fill = std::get_if<Fill>(&command.does)) return {{fill->memory, false, true}};
  if (const auto* move = std::get_if<Move>(&command.does)) return {{move->from, true, false}, {move->to, false, true}};
  const auto& launch = std::get<Launch>(command.does);
  std::vector<Use> uses;
  for (const Operand& o : launch.operands) uses.push_back({o.memory, o.read, o.written});
  if (launch.scratch) uses.push_back({{Memory::Of::arena, 0, launch.scratch->offset, launch.scratch->all_bytes()}, false, true});
  return uses;
}

Script script_of(const System& system, const Plan& plan, const std::vector<loops::Nest>& nests) { return Writing(system, plan).all(nests); }

}  // namespace etalon::compiled
