#include "compiled/schedule/neighbours.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string>

namespace etalon::compiled {

namespace {

std::int64_t value_of(const DecisionLine& line, std::string_view parameter) { return line.number(parameter, 0, std::numeric_limits<std::int64_t>::max()); }

DecisionLine with_word(DecisionLine line, std::string_view parameter, std::string value) {
  for (auto& [name, old] : line.words) {
    if (name == parameter) old = std::move(value);
  }
  return line;
}

class Neighbours {
 public:
  Neighbours(const DecisionLine& line, const Machine& machine) : line_(line), machine_(machine) {}

  std::vector<DecisionLine> run(const std::vector<DecisionLine>& all, bool reorder) {
    if (line_.is("on") || (line_.is("off") && is_switch())) add(switched(line_.kind, line_.value, line_.is("off")));
    else if (line_.kind == "join") kernels(all);
    else if (line_.kind == "lanes") lanes();
    else if (line_.is("off")) return {};
    else if (line_.kind == "tile") tiles(reorder);
    else if (line_.kind == "pack") layouts();
    else if (line_.kind == "strip") strips();
    else numbers();
    return std::move(found_);
  }

 private:
  bool is_switch() const {
    return std::any_of(decision_kinds().begin(), decision_kinds().end(), [&](const DecisionKind& k) { return k.name == line_.kind && k.parameters.empty(); });
  }

  void add(DecisionLine line) {
    line.where.clear();
    if (line.words != line_.words && seen_.insert(to_text(line)).second) found_.push_back(std::move(line));
  }

  /// Half, double, and the next ones.
  void around(std::string_view parameter, std::int64_t step) {
    const std::int64_t now = value_of(line_, parameter);
    for (const std::int64_t n : {now / 2, now * 2, now - step, now + step}) {
      if (n >= 1) add(with_word(line_, parameter, std::to_string(n)));
    }
  }

  /// The tiles that fill the registers, by the number of vectors, and those that are a little smaller.
  void tiles(bool reorder) {
    const std::int64_t lanes = machine_.lanes_f32;
    for (std::int64_t columns = lanes / 2; columns <= 4 * lanes; columns += lanes / 2) {
      for (const std::int64_t vectors : {columns / lanes, 2 * columns / lanes}) {
        if (vectors == 0) continue;
        const std::int64_t most = (machine_.vector_registers - vectors - 2) / vectors;
        for (const std::int64_t rows : {most, most - 1, most - 2, most / 2, value_of(line_, "rows")}) {
          if (rows >= 1) add(with_word(with_word(line_, "rows", std::to_string(rows)), "columns", std::to_string(columns)));
        }
      }
    }
    around("rows", 1);
    if (reorder) add(switched(line_.kind, line_.value, false));
  }

  void layouts() {
    for (const char* side : {"left", "right"}) {
      for (const char* layout : {"in_place", "panels", "rows"}) add(with_word(line_, side, layout));
    }
  }

  void strips() {
    const std::int64_t tile = value_of(line_, "tile_rows");
    around("rows", tile);
    for (const std::int64_t t : {tile / 2, tile - 1, tile + 1, tile * 2}) {
      if (t < 1) continue;
      const std::int64_t tiles = std::max<std::int64_t>(1, value_of(line_, "rows") / tile);
      add(with_word(with_word(line_, "tile_rows", std::to_string(t)), "rows", std::to_string(t * tiles)));
    }
  }

  /// Of blocks, steps, panels and turns.
  void numbers() {
    for (const auto& [name, value] : line_.words) {
      if (value == "on" || value == "off") add(with_word(line_, name, value == "on" ? "off" : "on"));
      else if (value == "rows" || value == "columns") add(with_word(line_, name, value == "rows" ? "columns" : "rows"));
      else if (name != "with" && name != "axis") around(name, 1);
    }
  }

  /// Nothing, more or fewer of the same loop, and other loops.
  void lanes() {
    add(switched("lanes", line_.value, false));
    if (!line_.is("off")) {
      for (const std::int64_t width : {value_of(line_, "width") / 2, value_of(line_, "width") * 2}) add(with_word(line_, "width", std::to_string(width)));
    }
    for (int loop = 0; loop <= 3; ++loop) {
      for (const unsigned width : {machine_.lanes_f32 / 2, machine_.lanes_f32}) {
        add({"lanes", line_.value, {{"loop", std::to_string(loop)}, {"width", std::to_string(width)}}, {}});
      }
    }
  }

  /// A kernel of its own, and the kernels of others.
  void kernels(const std::vector<DecisionLine>& all) {
    add(switched("join", line_.value, false));
    if (!line_.is("off")) around("loops", 1);
    for (const DecisionLine& other : all) {
      const bool opens = (other.kind == "join" && other.is("off")) || (other.kind == "tile" && !other.is("off"));
      for (int loops = 1; opens && other.value != line_.value && loops <= 3; ++loops) {
        add({"join", line_.value, {{"with", other.value}, {"loops", std::to_string(loops)}}, {}});
      }
    }
  }

  const DecisionLine& line_;
  const Machine& machine_;
  std::vector<DecisionLine> found_;
  std::set<std::string> seen_;
};

}  // namespace

std::vector<DecisionLine> neighbours(const DecisionLine& line, const Machine& machine, const std::vector<DecisionLine>& all, bool reorder_sums) {
  const auto kind = std::find_if(decision_kinds().begin(), decision_kinds().end(), [&](const DecisionKind& k) { return k.name == line.kind; });
  if (kind == decision_kinds().end() || (kind->orders_sums && !reorder_sums)) return {};
  return Neighbours(line, machine).run(all, reorder_sums);
}

std::vector<DecisionLine> with_decision(std::vector<DecisionLine> decisions, const DecisionLine& line) {
  const bool reshapes = line.kind == "tile";
  std::erase_if(decisions, [&](const DecisionLine& d) {
    return d.value == line.value && (d.kind == line.kind || (reshapes && (d.kind == "block" || d.kind == "steps")));
  });
  decisions.push_back(line);
  return decisions;
}

}  // namespace etalon::compiled
