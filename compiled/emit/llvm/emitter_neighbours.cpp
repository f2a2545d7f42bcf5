// Lanes whose elements lie near each other: contiguous loads whose elements change places in registers, where a gather would
// ask for them one by one.
#include <algorithm>

#include <llvm/Analysis/VectorUtils.h>

#include "compiled/emit/llvm/emitter.hpp"
#include "compiled/ir/language.hpp"
#include "compiled/machine/thresholds.hpp"

namespace etalon::compiled {

using llvm::Value;

std::optional<Emitter::Neighbours> Emitter::neighbours(const loops::Affine& number, llvm::Type* type, Value* mask) {
  if (lane_variable_ < 0 || width_ * type->getScalarSizeInBits() / 8 > threshold<unsigned>("most_neighbour_bytes")) return std::nullopt;
  for (const auto& [v, c] : number.variables) {
    const auto it = values_.find(v);
    if (v != lane_variable_ && it != values_.end() && it->second->getType()->isVectorTy()) return std::nullopt;
  }
  loops::Affine rest = number;
  const std::int64_t stride = rest.coefficient(lane_variable_);
  rest.variables.erase(lane_variable_);
  const auto varying = std::find_if(rest.opaque.begin(), rest.opaque.end(), [&](const auto& term) { return varies(term.second); });
  if (varying == rest.opaque.end()) {
    if (stride < 2 || stride > threshold("farthest_neighbour")) return std::nullopt;
    Value* first = builder_.CreateAdd(element_value(rest, mask), builder_.CreateMul(values_.at(lane_variable_), constant_index(stride)));
    return Neighbours{first, static_cast<unsigned>(stride), 1};
  }
  const auto [factor, quotient] = *varying;
  if (stride != 0 || factor != 1 || !whole_ || !quotient.is(Primitive::floor_div)) return std::nullopt;
  const spec::Expr& of = quotient->args[0];
  const spec::Expr& by = quotient->args[1];
  if (of.form() != Form::variable || of->variable != lane_variable_ || by.form() != Form::number) return std::nullopt;
  const std::int64_t share = by->number.mantissa;
  if (share < 2 || share >= width_ || width_ % share != 0) return std::nullopt;
  rest.opaque.erase(rest.opaque.begin() + (varying - rest.opaque.begin()));
  if (std::any_of(rest.opaque.begin(), rest.opaque.end(), [&](const auto& term) { return varies(term.second); })) return std::nullopt;
  Value* first = builder_.CreateAdd(element_value(rest, mask), builder_.CreateUDiv(values_.at(lane_variable_), constant_index(share)));
  return Neighbours{first, 1, static_cast<unsigned>(share)};
}

/// Every `step`-th of as many vectors.
Value* Emitter::load_strided(const Neighbours& n, llvm::Type* type, Value* first, Value* lanes) {
  llvm::Type* wide = llvm::FixedVectorType::get(type, width_);
  const llvm::Align align(type->getScalarSizeInBits() / 8);
  llvm::Constant* nothing = idle(wide, lanes);
  Value* all = nullptr;
  const unsigned last = (width_ - 1) * n.step / width_;  // the vector with the last lane's element: beyond it nothing is read
  for (unsigned part = 0; part <= last; ++part) {
    // Which elements of this vector are some lane's, and where they go: place l of the result is lane l.
    std::vector<llvm::Constant*> wanted;
    std::vector<int> lane_of;
    std::vector<int> places;
    for (unsigned l = 0; l < width_; ++l) {
      const unsigned element = part * width_ + l;
      wanted.push_back(builder_.getInt1(element % n.step == 0));
      lane_of.push_back(static_cast<int>(element / n.step));
      const unsigned from = l * n.step;
      const bool here = from / width_ == part;
      places.push_back(static_cast<int>(here ? width_ + from % width_ : l));
    }
    Value* mask = llvm::ConstantVector::get(wanted);
    if (lanes != nullptr) mask = builder_.CreateAnd(mask, builder_.CreateShuffleVector(lanes, lane_of));
    Value* at = builder_.CreateGEP(type, first, builder_.getInt64(std::uint64_t{part} * width_));
    const bool to_the_end = lanes == nullptr && part < last;
    Value* elements = load(wide, at, align, to_the_end ? nullptr : mask, nothing);
    all = builder_.CreateShuffleVector(all == nullptr ? nothing : all, elements, places);
  }
  return all;
}

Value* Emitter::load_neighbours(const Neighbours& n, llvm::Type* type, Value* base, Value* lanes) {
  Value* first = builder_.CreateGEP(type, base, n.first);
  if (n.step > 1) return load_strided(n, type, first, lanes);
  const unsigned count = width_ / n.share;
  llvm::Type* few = llvm::FixedVectorType::get(type, count);
  const llvm::Align align(type->getScalarSizeInBits() / 8);
  Value* elements = nullptr;
  if (lanes == nullptr) {
    elements = load(few, first, align);
  } else {
    Value* any = nullptr;
    for (unsigned i = 0; i < n.share; ++i) {
      Value* some = builder_.CreateShuffleVector(lanes, llvm::createStrideMask(i, n.share, count));
      any = any == nullptr ? some : builder_.CreateOr(any, some);
    }
    elements = load(few, first, align, any, idle(few, any));
  }
  return builder_.CreateShuffleVector(elements, llvm::createReplicatedMask(n.share, count));
}

}  // namespace etalon::compiled
