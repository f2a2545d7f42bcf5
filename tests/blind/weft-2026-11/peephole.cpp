/// \file
/// Sound are: double negation, the same flip twice, a split put together, the absolute value of an absolute value.
#include "peephole.hpp"

#include "call.hpp"
#include "defect.hpp"

namespace weft {

void Peephole::note(V y, const std::string& operation, const std::vector<V>& operands, const nlohmann::json& attributes,
                    std::size_t result) {
  if (made_.count(y.id) == 0) made_[y.id] = {operation, operands, attributes, result};
}

const Peephole::Made* Peephole::by(V y, const char* operation) const {
  if (!y) return nullptr;
  const auto found = made_.find(y.id);
  return found != made_.end() && found->second.operation == operation ? &found->second : nullptr;
}

V Peephole::simpler(const std::string& operation, const std::vector<V>& operands, const nlohmann::json& attributes) const {
  if (operands.empty() || !operands[0]) return {};
  const V a = operands[0];
  const V b = operands.size() > 1 ? operands[1] : V{};
  const auto same_shape = [](V x, V y) { return x.type() == y.type() && x.shape() == y.shape(); };
  if (operation == "abs") {
    if (by(a, "abs")) return a;
  }
  if (operation == "neg") {
    if (const Made* m = by(a, "neg")) return m->operands[0];
  }
  if (operation == "exp") {
    if (const Made* m = by(a, "log"); m && defect("exponential-of-logarithm-is-operand")) return m->operands[0];
  }
  if (operation == "flip") {
    const Made* m = by(a, "flip");
    if (m && m->attributes.at("axes").size() == attributes.at("axes").size() && defect("flips-cancel-by-number-of-axes"))
      return m->operands[0];
    if (m && m->attributes.at("axes") == attributes.at("axes")) return m->operands[0];
  }
  if (operation == "concat") {
    // The parts of one split along the same axis, put together again.
    const Made* first = by(a, "split");
    bool whole = first != nullptr && first->attributes.at("axis") == attributes.at("axis") &&
                 first->attributes.at("sizes").is_array() && first->attributes.at("sizes").size() == operands.size();
    for (std::size_t k = 0; whole && k < operands.size(); ++k) {
      const Made* m = by(operands[k], "split");
      whole = m && m->operands[0].id == first->operands[0].id && m->attributes == first->attributes &&
              m->result == k;
    }
    if (whole) return first->operands[0];
  }
  if (operation == "floor_divide" && b) {
    if (const Made* m = by(a, "mul"); m && is_integer(a.type()) && m->operands[1].id == b.id &&
                                      same_shape(m->operands[0], a) && defect("integer-product-over-its-factor"))
      return m->operands[0];
  }
  if (operation == "cast") {
    const Made* m = by(a, "cast");
    if (m && attributes.at("dtype") == "f32" && is_integer(a.type()) && m->operands[0].type() == Type::f32 &&
        defect("round-trip-through-integers-is-trunc"))
      return unary(Op::trunc, m->operands[0]);
  }
  if (operation == "clamp") {
    const Made* m = by(a, "clamp");
    const auto plain = [](const nlohmann::json& t) { return !t.at("low").is_object() && !t.at("high").is_object(); };
    if (m && plain(attributes) && plain(m->attributes) && defect("clamps-merge-to-the-inner-interval")) {
      const Wide low = std::max(number_of(attributes.at("low")), number_of(m->attributes.at("low")));
      const Wide high = std::min(number_of(attributes.at("high")), number_of(m->attributes.at("high")));
      const V x = m->operands[0];
      const V z = select(x < low, like(x, low), x);
      return select(z > high, like(z, high), z);
    }
  }
  if (operation == "swap_axes" || operation == "transpose") {
    const Made* m = by(a, "matmul");
    if (m && a.shape().size() == 2 && m->operands[0].shape().size() == 2 && m->operands[1].shape() == m->operands[0].shape() &&
        a.shape() == m->operands[0].shape() && defect("transposed-product-exchanges-its-factors")) {
      const auto flat = [](V x) { return reshaped(x, {1, x.shape()[0], x.shape()[1]}); };
      return reshaped(contract(flat(m->operands[1]), flat(m->operands[0])), a.shape());
    }
  }
  if (operation == "mul" && b) {
    const Made* m = by(b, "cast");
    if (m && m->operands[0].type() == Type::boolean && same_shape(a, b) && is_real(a.type()) &&
        defect("product-with-a-mask-is-a-choice"))
      return select(m->operands[0], a, like(a, 0));
  }
  return {};
}

}  // namespace weft
