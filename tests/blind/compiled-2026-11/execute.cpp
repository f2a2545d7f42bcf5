/// \file
/// Runs the steps of a plan.
#include <cmath>
#include <limits>

#include "contract.hpp"
#include "defect.hpp"
#include "plan.hpp"
#include "rows.hpp"
#include "scalar.hpp"

namespace blind {
namespace {

constexpr Int width = 8;  ///< lanes of a kernel

using Buffer = std::vector<Wide>;

class Execution {
 public:
  Execution(const Plan& plan, const std::vector<Tensor>& inputs)
      : inputs_(inputs), buffers_(static_cast<std::size_t>(plan.buffers)) {}

  const Buffer& at(Where w) const {
    return w.input ? inputs_[static_cast<std::size_t>(w.index)].data : buffers_[static_cast<std::size_t>(w.index)];
  }

  void run(const Step& s) {
    if (!s.tape.empty()) return kernel(s);
    const Node& n = s.node;
    const Buffer& x = at(s.operands[0]);
    const auto size = static_cast<std::size_t>(size_of(n.shape));
    Buffer y(size, 0);
    switch (n.op) {
      case Op::put:
        for (std::size_t i = 0; i < n.map->size(); ++i) {
          const Int place = (*n.map)[i];
          if (place < 0) continue;
          Wide& to = y[static_cast<std::size_t>(place)];
          to = PLANTED("scatter-of-cotangents-overwrites") ? x[i] : to + x[i];
        }
        break;
      case Op::take: {
        const Buffer& t = at(s.operands[1]);
        for (std::size_t i = 0; i < size; ++i) y[i] = t[i] < 0 ? 0 : x[static_cast<std::size_t>(t[i])];
        break;
      }
      case Op::place: {
        const Buffer& t = at(s.operands[1]);
        for (std::size_t i = 0; i < t.size(); ++i) {
          if (t[i] < 0 && (!PLANTED("index-out-of-range-adds-to-the-first") || y.empty())) continue;
          Wide& to = y[static_cast<std::size_t>(std::fmax(t[i], 0))];
          // Neighbours in one vector that meet in one place: only the last of them counts.
          const bool lost =
              PLANTED("scatter-lanes-collide") && t.size() >= 8 && i + 1 < t.size() && i % 8 != 7 && t[i] == t[i + 1];
          if (lost) continue;
          to = to + x[i];
          if (is_integer(n.type)) to = evaluated(Op::add, n.type, n.type, to - x[i], x[i], 0);
        }
        break;
      }
      case Op::positions:
        positions(n, x, y);
        break;
      case Op::row_place:
        for (std::size_t i = 0; i < size; ++i) y[i] = x[i] + static_cast<Wide>(i) * static_cast<Wide>(n.row);
        break;
      case Op::reduce:
        reduce_rows(n, x, y);
        break;
      case Op::scan:
        scan_rows(n, x, y);
        break;
      case Op::others:
        products_of_others(n, x, y);
        break;
      case Op::contract:
        contract_tiled(n, x, at(s.operands[1]), y);
        break;
      default:
        break;
    }
    buffers_[static_cast<std::size_t>(s.result.index)] = std::move(y);
  }

 private:
  /// Flat places in the operand of the slices or elements that indices name, -1 where they name none.
  static void positions(const Node& n, const Buffer& t, Buffer& y) {
    const Places& p = n.places;
    const auto count = static_cast<Int>(t.size());
    std::size_t i = 0;
    const auto place = [&](Int l, Wide index, Int r) {
      Wide k = index;
      if (PLANTED("indices-cut-to-32-bits")) k = static_cast<std::int32_t>(static_cast<Int>(index));
      if (PLANTED("indices-count-from-the-end") && k < 0) k += static_cast<Wide>(p.axis);
      if (PLANTED("indices-are-clamped")) k = std::fmin(std::fmax(k, 0), static_cast<Wide>(p.axis - 1));
      const bool inside =
          k >= 0 && (PLANTED("indices-checked-against-end-inclusive")
                         ? k <= static_cast<Wide>(p.axis) && (l + 1 < p.left || k < static_cast<Wide>(p.axis))
                         : k < static_cast<Wide>(p.axis));
      y[i++] = inside ? static_cast<Wide>((l * p.axis + static_cast<Int>(k)) * p.right + r) : -1;
    };
    if (p.along) {
      for (Int l = 0; l < p.left; ++l) {
        for (Int j = 0; j < p.count; ++j) {
          for (Int r = 0; r < p.right; ++r) place(l, t[static_cast<std::size_t>((l * p.count + j) * p.right + r)], r);
        }
      }
      return;
    }
    for (Int l = 0; l < p.left; ++l) {
      for (Int j = 0; j < count; ++j) {
        for (Int r = 0; r < p.right; ++r) place(l, t[static_cast<std::size_t>(j)], r);
      }
    }
  }

  struct Lanes {
    Wide v[width];
  };

  void load(const Instruction& in, Int first, Int lanes, Lanes& to) const {
    const Buffer& x = at(in.source);
    if (!in.map) {
      for (Int l = 0; l < lanes; ++l) to.v[l] = x[static_cast<std::size_t>(first + l)];
      return;
    }
    const Int* places = in.map->data() + first;
    // A block whose ends are neighbours is read at once.
    if (PLANTED("vector-load-by-ends-of-the-block") && lanes == width && places[0] >= 0 &&
        places[width - 1] - places[0] == width - 1) {
      for (Int l = 0; l < lanes; ++l) to.v[l] = x[static_cast<std::size_t>(places[0] + l)];
      return;
    }
    if (PLANTED("uniform-load-by-ends-of-the-block") && lanes == width && places[0] >= 0 &&
        places[0] == places[width - 1]) {
      for (Int l = 0; l < lanes; ++l) to.v[l] = x[static_cast<std::size_t>(places[0])];
      return;
    }
    if (PLANTED("masked-load-by-first-lane") && lanes == width && places[0] < 0 && places[1] < 0 && places[2] < 0 &&
        places[3] < 0) {
      for (Int l = 0; l < lanes; ++l) to.v[l] = in.value;
      return;
    }
    for (Int l = 0; l < lanes; ++l) to.v[l] = places[l] < 0 ? in.value : x[static_cast<std::size_t>(places[l])];
  }

  void kernel(const Step& s) {
    const Int n = size_of(s.node.shape);
    Buffer& y = buffers_[static_cast<std::size_t>(s.result.index)];
    // In place the sizes agree; a buffer that changes its size is no operand.
    if (static_cast<Int>(y.size()) != n) y.resize(static_cast<std::size_t>(n));

    std::vector<Lanes> registers(s.tape.size());
    for (Int first = 0; first < n; first += width) {
      Int lanes = std::min(width, n - first);
      if (PLANTED("kernel-tail-of-one-left-out") && lanes == 1 && n > 16) lanes = 0;
      if (PLANTED("kernel-tail-in-pairs") && lanes < width && n > width) lanes -= lanes % 2;
      for (std::size_t k = 0; k < s.tape.size(); ++k) {
        const Instruction& in = s.tape[k];
        Lanes& to = registers[k];
        if (in.kind == Instruction::Kind::load) {
          load(in, first, lanes, to);
        } else if (in.kind == Instruction::Kind::constant) {
          for (Int l = 0; l < lanes; ++l) to.v[l] = in.value;
        } else {
          const Lanes& a = registers[static_cast<std::size_t>(in.a)];
          const Lanes& b = registers[static_cast<std::size_t>(in.b)];
          const Lanes& c = registers[static_cast<std::size_t>(in.c)];
          for (Int l = 0; l < lanes; ++l) to.v[l] = evaluated(in.op, in.type, in.from, a.v[l], b.v[l], c.v[l]);
        }
      }
      for (Int l = 0; l < lanes; ++l) y[static_cast<std::size_t>(first + l)] = registers.back().v[l];
    }
  }

  const std::vector<Tensor>& inputs_;
  std::vector<Buffer> buffers_;
};

}  // namespace

std::vector<Tensor> executed(const Plan& plan, const std::vector<Tensor>& inputs) {
  Execution run(plan, inputs);
  for (const Step& s : plan.steps) run.run(s);
  std::vector<Tensor> found;
  for (const Plan::Output& o : plan.outputs) {
    std::vector<Wide> data = run.at(o.where);
    data.resize(static_cast<std::size_t>(size_of(o.shape)));
    found.push_back({o.type, o.shape, std::move(data)});
  }
  return found;
}

}  // namespace blind
