#include "conformance/interchange/onnx/rows.hpp"

namespace etalon::conformance::onnx {
namespace {

/// Steps are written out; beyond this many they are refused.
constexpr std::int64_t most_steps = 1024;

/// x[first .. first + count) along an axis.
[[nodiscard]] Value part(NodeTranslation& n, const Value& x, std::size_t axis, std::int64_t first, std::int64_t count) {
  Integers start(x->type.dims.rank, 0), stop = extents_of(x->type.dims);
  start[axis] = first, stop[axis] = first + count;
  return n.one("slice", {x}, {{"start", start}, {"stop", stop}});
}

/// x without its first axis, at one place of it.
[[nodiscard]] Value at(NodeTranslation& n, const Value& x, std::int64_t place) {
  return n.one("select", {x}, {{"axis", std::int64_t{0}}, {"index", place}});
}

/// The rows of a stacked weight in the library's order of gates.
[[nodiscard]] Value in_order(NodeTranslation& n, const Value& stacked, const Integers& gates, std::int64_t hidden) {
  if (gates.size() == 1) return stacked;
  Values parts;
  for (const std::int64_t gate : gates) parts.push_back(part(n, stacked, 0, gate * hidden, hidden));
  return n.one("concat", parts, {{"axis", std::int64_t{0}}});
}

void require_plain_form(NodeTranslation& n, std::size_t states) {
  n.read_over({"hidden_size", "output_sequence"});
  refuse(n.text("direction", "forward") != "forward", "other directions than forward are not offered");
  refuse(n.integer("layout", 0) != 0, "batches first are not offered");
  refuse(n.says("activations") || n.says("activation_alpha") || n.says("activation_beta") || n.says("clip"),
         "other activations than the usual ones are not offered");
  refuse(n.integer("input_forget", 0) != 0, "coupled gates are not offered");
  refuse(n.has(4), "sequences of different lengths are not offered");
  refuse(n.has(5 + states), "peepholes are not offered");
  refuse(n.rank(0) != 3 || n.rank(1) != 3 || n.rank(2) != 3 || n.dims(1)[0] != 1 || n.dims(2)[0] != 1 || n.dims(0)[0] < 1,
         "operands of other shapes than stated");
  refuse(n.dims(0)[0] > most_steps, "so many steps are not offered");
}

/// A cell of the library, step by step. \param gates the place among ONNX's of each of the library's
[[nodiscard]] Values cell(NodeTranslation& n, const Integers& gates, std::size_t states) {
  require_plain_form(n, states);
  const std::int64_t steps = n.dims(0)[0], batch = n.dims(0)[1], hidden = n.dims(2)[2],
                     rows = hidden * static_cast<std::int64_t>(gates.size());
  refuse(n.dims(1)[1] != rows || n.dims(2)[1] != rows, "weights of other shapes than stated");
  Values weights{in_order(n, at(n, n.x(1), 0), gates, hidden), in_order(n, at(n, n.x(2), 0), gates, hidden)};
  if (n.has(3)) {
    refuse(n.rank(3) != 2 || n.dims(3)[0] != 1 || n.dims(3)[1] != 2 * rows, "a bias of another shape than stated");
    const Value bias = at(n, n.x(3), 0);
    for (const std::int64_t first : {std::int64_t{0}, rows}) weights.push_back(in_order(n, part(n, bias, 0, first, rows), gates, hidden));
  }
  Values state;
  for (std::size_t i = 0; i < states; ++i)
    state.push_back(
        n.has(5 + i) ? at(n, n.x(5 + i), 0)
                     : n.one("full", {}, {{"shape", Integers{batch, hidden}}, {"value", 0.0}, {"dtype", std::string(name_of(n.dtype()))}}));
  Values outputs;
  for (std::int64_t t = 0; t < steps; ++t) {
    Values operands{at(n, n.x(0), t)};
    operands.insert(operands.end(), state.begin(), state.end());
    operands.insert(operands.end(), weights.begin(), weights.end());
    state = n.call(n.meaning(), operands);
    outputs.push_back(n.reshaped(state[0], {1, 1, batch, hidden}));
  }
  Values results{steps == 1 ? outputs.front() : n.one("concat", outputs, {{"axis", std::int64_t{0}}})};
  for (const Value& last : state) results.push_back(n.reshaped(last, {1, batch, hidden}));
  return results;
}

[[nodiscard]] Values rnn(NodeTranslation& n) { return cell(n, {0}, 1); }

/// ONNX: i o f c; the library: i f c o.
[[nodiscard]] Values lstm(NodeTranslation& n) { return cell(n, {0, 2, 3, 1}, 2); }

/// ONNX: z r h; the library: r z h.
[[nodiscard]] Values gru(NodeTranslation& n) {
  refuse(n.integer("linear_before_reset", 0) == 0, "the reset gate before the product is not offered");
  return cell(n, {1, 0, 2}, 1);
}

constexpr Row rows[] = {
    {"GRU", gru, "gru_cell"},
    {"LSTM", lstm, "lstm_cell"},
    {"RNN", rnn, "rnn_cell"},
};

}  // namespace

std::span<const Row> recurrent_rows() { return rows; }

}  // namespace etalon::conformance::onnx
