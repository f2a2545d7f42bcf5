/// \file
/// Runs the steps of a plan. Elementwise kernels go over tiles of 4 rows and 16 columns of their result; lanes beyond
/// its edges are masked.
#include <cmath>
#include <limits>
#include <map>

#include "contract.hpp"
#include "defect.hpp"
#include "plan.hpp"
#include "rows.hpp"
#include "scalar.hpp"

namespace weft {
namespace {

constexpr Int tile_rows = 4;
constexpr Int tile_columns = 16;
constexpr Int lanes = tile_rows * tile_columns;

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
    if (n.op == Op::custom) {
      Kernel::Operands in;
      for (const Where w : s.operands) in.push_back(&at(w));
      Buffer y(static_cast<std::size_t>(size_of(n.shape)), 0);
      n.kernel->run(n, in, y);
      buffers_[static_cast<std::size_t>(s.result.index)] = std::move(y);
      return;
    }
    const Buffer& x = at(s.operands[0]);
    const auto size = static_cast<std::size_t>(size_of(n.shape));
    Buffer y(size, 0);
    switch (n.op) {
      case Op::put:
        put(n, x, y);
        break;
      case Op::take: {
        const Buffer& t = at(s.operands[1]);
        for (std::size_t i = 0; i < size; ++i) y[i] = t[i] < 0 ? 0 : x[static_cast<std::size_t>(t[i])];
        break;
      }
      case Op::place: {
        const Buffer& t = at(s.operands[1]);
        for (std::size_t i = 0; i < t.size(); ++i) {
          if (t[i] < 0) continue;
          Wide& to = y[static_cast<std::size_t>(t[i])];
          if (is_integer(n.type)) {
            to = evaluated(Op::add, n.type, n.type, to, x[i], 0);
            if (defect("atomic-adds-of-integers-in-single")) to = static_cast<float>(to);
          } else {
            to += x[i];
          }
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
        contract_tiled(n, x, at(s.operands[1]), y, seen_[{n.shape, n.row}]++);
        break;
      default:
        break;
    }
    buffers_[static_cast<std::size_t>(s.result.index)] = std::move(y);
  }

 private:
  static void put(const Node& n, const Buffer& x, Buffer& y) {
    for (std::size_t i = 0; i < n.map->size(); ++i) {
      const Int place = (*n.map)[i];
      if (place >= 0) y[static_cast<std::size_t>(place)] += x[i];
    }
  }

  /// Flat places in the operand of the slices or elements that indices name, -1 where they name none.
  static void positions(const Node& n, const Buffer& t, Buffer& y) {
    const Places& p = n.places;
    const auto count = static_cast<Int>(t.size());
    std::size_t i = 0;
    const auto place = [&](Int l, Wide k, Int r) {
      const bool inside = k >= 0 && k < static_cast<Wide>(p.axis);
      y[i++] = inside ? static_cast<Wide>((l * p.axis + static_cast<Int>(k)) * p.right + r) : -1;
    };
    for (Int l = 0; l < p.left; ++l) {
      for (Int j = 0; j < (p.along ? p.count : count); ++j) {
        for (Int r = 0; r < p.right; ++r)
          place(l, t[static_cast<std::size_t>(p.along ? (l * p.count + j) * p.right + r : j)], r);
      }
    }
  }

  struct Lanes {
    Wide v[lanes];
  };

  struct Tile {
    Int offset[lanes];
    bool live[lanes];
  };

  void load(const Instruction& in, const Tile& t, Lanes& to) const {
    const Buffer& x = at(in.source);
    for (Int l = 0; l < lanes; ++l) {
      to.v[l] = in.value;
      if (!t.live[l]) continue;
      const Int place = in.map ? (*in.map)[static_cast<std::size_t>(t.offset[l])] : t.offset[l];
      if (place >= 0) to.v[l] = x[static_cast<std::size_t>(place)];
    }
  }

  void kernel(const Step& s) {
    const Int n = size_of(s.node.shape);
    if (s.donated >= 0) {
      // The input's memory becomes the result's.
      buffers_[static_cast<std::size_t>(s.result.index)] = inputs_[static_cast<std::size_t>(s.donated)].data;
    }
    Buffer& y = buffers_[static_cast<std::size_t>(s.result.index)];
    // In place the sizes agree; a buffer that changes its size is no operand.
    if (static_cast<Int>(y.size()) != n) y.resize(static_cast<std::size_t>(n));
    const Int columns = s.node.shape.empty() ? 1 : s.node.shape.back();
    const Int rows = columns == 0 ? 0 : n / columns;
    std::vector<Lanes> registers(s.tape.size());
    for (Int r0 = 0; r0 < rows; r0 += tile_rows) {
      for (Int c0 = 0; c0 < columns; c0 += tile_columns) {
        Tile t;
        for (Int l = 0; l < lanes; ++l) {
          const Int r = r0 + l / tile_columns;
          const Int c = c0 + l % tile_columns;
          t.live[l] = r < rows && c < columns;
          t.offset[l] = r * columns + c;
          // Offsets of what has at most 65535 elements fit into 16 bits.
          if (defect("offsets-in-16-bits-with-a-sign") && n <= 65535) {
            t.offset[l] = static_cast<std::int16_t>(t.offset[l]);
            t.live[l] = t.live[l] && t.offset[l] >= 0;
          }
        }
        for (std::size_t k = 0; k < s.tape.size(); ++k) {
          const Instruction& in = s.tape[k];
          Lanes& to = registers[k];
          if (in.kind == Instruction::Kind::load) {
            load(in, t, to);
          } else if (in.kind == Instruction::Kind::constant) {
            for (Int l = 0; l < lanes; ++l) to.v[l] = in.value;
          } else {
            const Lanes& a = registers[static_cast<std::size_t>(in.a)];
            const Lanes& b = registers[static_cast<std::size_t>(in.b)];
            const Lanes& c = registers[static_cast<std::size_t>(in.c)];
            for (Int l = 0; l < lanes; ++l) {
              if (t.live[l]) to.v[l] = evaluated(in.op, in.type, in.from, a.v[l], b.v[l], c.v[l]);
            }
          }
        }
        for (Int l = 0; l < lanes; ++l) {
          if (t.live[l]) y[static_cast<std::size_t>(t.offset[l])] = registers.back().v[l];
        }
      }
    }
    if (s.donated >= 0) inputs_[static_cast<std::size_t>(s.donated)].data = y;
  }

  std::vector<Tensor> inputs_;
  std::vector<Buffer> buffers_;
  std::map<std::pair<Shape, Int>, int> seen_;  ///< products of a form so far
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

}  // namespace weft
