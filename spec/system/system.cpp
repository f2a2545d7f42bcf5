#include "spec/system/system.hpp"

#include <utility>

#include "spec/error.hpp"

namespace etalon {

std::string to_string(const Dims& dims) {
  std::string text = "[";
  for (std::size_t i = 0; i < dims.rank; ++i) text += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return text + "]";
}

}  // namespace etalon

namespace etalon::spec {

TensorId System::add_tensor(std::string name, DType dtype, const Dims& dims) {
  tensors.push_back({std::move(name), dtype, dims, std::nullopt});
  return static_cast<TensorId>(tensors.size() - 1);
}

Binder System::bind(std::string name, std::int64_t extent) { return {next_variable++, extent, std::move(name)}; }

std::vector<Binder> System::bind_all(TensorId tensor) {
  const Dims dims = (*this)[tensor].dims;
  std::vector<Binder> binders;
  for (std::size_t axis = 0; axis < dims.rank; ++axis) binders.push_back(bind("i" + std::to_string(axis), dims[axis]));
  return binders;
}

TensorId System::find(std::string_view name) const {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].name == name) return static_cast<TensorId>(i);
  }
  return -1;
}

Expr System::at(TensorId tensor, std::vector<Expr> indices) const {
  const TensorInfo& info = (*this)[tensor];
  if (indices.size() != info.dims.rank) throw InternalError("system: a read of " + info.name + " has the wrong rank");
  return read(tensor, kind_of(info.dtype), std::move(indices));
}

void System::define(TensorId target, std::vector<Binder> binders, Expr value, std::int32_t origin) {
  std::vector<Expr> place = variables(binders);
  equations.push_back({target, std::move(binders), std::move(place), std::move(value), origin});
}

std::vector<Expr> variables(const std::vector<Binder>& binders) {
  std::vector<Expr> result;
  result.reserve(binders.size());
  for (const Binder& b : binders) result.push_back(variable(b));
  return result;
}

Expr refresh(System& system, const Expr& e) {
  if (e->args.empty()) return e;
  if (e.form() != Form::reduce) {
    std::vector<Expr> args;
    for (const Expr& a : e->args) args.push_back(refresh(system, a));
    return with_args(e, std::move(args));
  }
  Node n = *e;
  Substitution renamed;
  for (Binder& b : n.binders) {
    const Binder fresh = system.bind(b.name, b.extent);
    renamed.emplace(b.variable, variable(fresh));
    b = fresh;
  }
  for (Expr& a : n.args) a = refresh(system, substitute(a, renamed));
  const Expr otherwise = n.args.size() > 2 ? n.args[2] : Expr{};
  return reduce(n.reduction, std::move(n.binders), n.args[0], n.args[1], otherwise);
}

}  // namespace etalon::spec
