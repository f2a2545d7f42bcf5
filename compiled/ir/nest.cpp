#include "compiled/ir/nest.hpp"

#include <functional>
#include <memory>

namespace etalon::compiled::loops {

DType default_type(Kind kind) { return kind == Kind::real ? DType::f64 : kind == Kind::integer ? DType::i64 : DType::boolean; }

Kind kind_of(const Reduce& r) {
  const bool position = r.reduction == spec::Reduction::argmax || r.reduction == spec::Reduction::argmin;
  return position ? Kind::integer : r.body.kind();
}

Expr value_of(Register number, Kind kind) {
  spec::Node n;
  n.form = spec::Form::variable;
  n.kind = kind;
  n.variable = number;
  n.name = "r" + std::to_string(number);
  n.hash = std::hash<Register>{}(number);
  return Expr(std::make_shared<const spec::Node>(std::move(n)));
}

}  // namespace etalon::compiled::loops
