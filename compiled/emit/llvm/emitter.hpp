/// \file
/// Scalar expressions as LLVM values, for one element or for all lanes at once. It knows no loops.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiled/emit/llvm/instruction_writer.hpp"
#include "compiled/emit/llvm/kernel_function.hpp"
#include "compiled/emit/llvm/sleef.hpp"
#include "compiled/ir/affine.hpp"
#include "compiled/ir/arithmetic.hpp"
#include "compiled/ir/nest.hpp"
#include "compiled/machine/instructions.hpp"
#include "spec/half.hpp"

namespace etalon::compiled {

struct FunctionStep;
struct OwnFunction;
using loops::Type;
using spec::is_half;

[[nodiscard]] inline bool is_vector(const llvm::Value* v) { return v->getType()->isVectorTy(); }
/// The integer in every lane of a type.
[[nodiscard]] inline llvm::Constant* all(llvm::Type* type, std::uint64_t value) { return llvm::ConstantInt::get(type, value); }

/// What lanes hold that a load leaves out: numbers, whatever they are. \param lanes those that are loaded, or null for all
[[nodiscard]] llvm::Constant* idle(llvm::Type* wide, const llvm::Value* lanes);

/// Emits the expressions of one kernel function. A value is a scalar when it is the same in all lanes.
class Emitter {
 public:
  Emitter(llvm::Module& module, llvm::Function& function, const spec::System& system, const Machine& machine, InstructionWriter& writer);

  llvm::IRBuilder<>& builder() { return builder_; }
  [[nodiscard]] const Machine& machine() const { return machine_; }

  /// In which type real arithmetic is done from now on.
  void set_real(Type real) {
    arithmetic_.set_real(real);
    forget();
  }
  /// Values emitted so far are not reused from here on.
  void forget() { memo_.clear(); }

  /// The tensors of the function: arguments, whose addresses its table holds in their order, and what each thread has for itself.
  void declare(const std::vector<loops::Buffer>& buffers);
  /// Where the tensor lies.
  llvm::Value* tensor_base(spec::TensorId id);

  // --- what variables stand for ---
  void bind(spec::VariableId v, llvm::Value* value, std::int64_t extent);
  [[nodiscard]] std::int64_t extent(spec::VariableId v) const { return extents_.at(v); }
  void define(loops::Register r, llvm::Value* value);
  /// \param whole says that `base` is a multiple of the width.
  void enter_lanes(spec::VariableId v, llvm::Value* base, unsigned width, llvm::Value* tail, bool whole = false);
  void leave_lanes();
  [[nodiscard]] unsigned width() const { return width_; }
  [[nodiscard]] llvm::Value* tail() const { return tail_; }
  /// The lane variable's value in each lane.
  [[nodiscard]] llvm::Value* lane_numbers() const { return lane_numbers_; }

  /// Whether `e` differs between lanes.
  [[nodiscard]] bool varies(const spec::Expr& e) const;
  /// The type of the value that `emit` gives.
  [[nodiscard]] Type type_of(const spec::Expr& e) const { return arithmetic_.type_of(e); }

  /// The value of an expression that outlives this object; reads are done only where `mask` (a truth value per lane or for all; null: everywhere) holds.
  llvm::Value* emit(const spec::Expr& e, llvm::Value* mask);
  llvm::Value* emit_as(const spec::Expr& e, Type type, llvm::Value* mask);
  void store(const loops::Store& store, llvm::Value* mask);
  /// Whether some store went around the caches: others see it after a fence.
  [[nodiscard]] bool streams() const { return streams_; }
  /// The address of the element that `read` reads; the same for all lanes, and in range.
  llvm::Value* element_pointer(const spec::Expr& read);

  // --- instructions of the table ---
  /// As InstructionWriter has it.
  llvm::Value* write(const Instruction& i, llvm::Type* type, const std::vector<llvm::Value*>& values, llvm::Align align = llvm::Align(1)) {
    return writer_.write(builder_, i, type, values, align);
  }
  /// \param lanes those that are loaded, or null for all; the others hold `nothing`
  llvm::Value* load(llvm::Type* type, llvm::Value* from, llvm::Align align, llvm::Value* lanes = nullptr, llvm::Value* nothing = nullptr);
  /// \param lanes those that are stored, or null for all
  void store(llvm::Value* value, llvm::Value* to, llvm::Align align, llvm::Value* lanes = nullptr);
  /// Brings the line at an address near, to be read, or also written, soon. Any address will do.
  void prefetch(llvm::Value* at, bool to_be_written = false);
  llvm::Value* add(llvm::Value* a, llvm::Value* b) { return write(instruction("vadd"), a->getType(), {a, b}); }
  llvm::Value* multiply(llvm::Value* a, llvm::Value* b) { return write(instruction("vmul"), a->getType(), {a, b}); }
  llvm::Value* fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) { return write(instruction("vfma"), a->getType(), {a, b, c}); }

  // --- pieces for loops ---
  [[nodiscard]] llvm::Type* llvm_type(Type type, unsigned width = 1);
  llvm::Value* splat(llvm::Value* scalar);
  llvm::Value* both(llvm::Value* a, llvm::Value* b);
  llvm::Value* choose(llvm::Value* condition, llvm::Value* a, llvm::Value* b);
  llvm::Value* rounded(llvm::Value* value, Type type, DType dtype);
  llvm::Value* convert(llvm::Value* value, Type from, Type to);
  /// Makes scalars as wide as the widest of the two.
  void unify(llvm::Value*& a, llvm::Value*& b);
  llvm::Value* maximum(llvm::Value* a, llvm::Value* b, Type type, bool minimum);
  llvm::Value* any_lane(llvm::Value* mask);
  llvm::Value* constant_index(std::int64_t value);

 private:
  void own(const loops::Buffer& own);

  llvm::Value* emit_fresh(const spec::Expr& e, llvm::Value* mask);
  llvm::Value* emit_number(const spec::Expr& e, Type type);
  llvm::Value* emit_variable(const spec::Expr& e);
  llvm::Value* emit_read(const spec::Expr& e, llvm::Value* mask);
  llvm::Value* emit_select(const spec::Expr& e, llvm::Value* mask);
  llvm::Value* emit_apply(const spec::Expr& e, llvm::Value* mask);
  llvm::Value* with_odd_bit(llvm::Value* integer);
  llvm::Value* emit_connective(const spec::Expr& e, llvm::Value* mask);
  llvm::Value* emit_comparison(const spec::Expr& e, llvm::Value* mask);
  llvm::Value* emit_test(const spec::Expr& e, llvm::Value* mask);
  llvm::Value* emit_real(const spec::Expr& e, std::vector<llvm::Value*> args, Type type);
  std::vector<llvm::Value*> emit_all(const std::vector<spec::Expr>& all, Type type, llvm::Value* mask);
  llvm::Value* emit_integer(const spec::Expr& e, std::vector<llvm::Value*> args);
  llvm::Value* emit_division(const spec::Expr& e, llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_lane_division(spec::Primitive p, std::int64_t divisor);
  llvm::Value* emit_narrow_division(spec::Primitive p, llvm::Value* a, std::int64_t divisor);
  llvm::Value* emit_remainder(llvm::Value* a, llvm::Value* b);
  llvm::Value* emit_hyperbolic(spec::Primitive p, llvm::Value* x, bool f64);
  llvm::Value* emit_log1p(llvm::Value* x, bool f64);
  llvm::Value* emit_exp(llvm::Value* x, bool f64);
  llvm::Value* emit_own(const OwnFunction& function, llvm::Value* x);
  llvm::Value* emit_step(const FunctionStep& step, const std::vector<llvm::Value*>& of);
  llvm::Value* emit_scaled(llvm::Value* e, llvm::Value* n);
  llvm::Value* emit_scaled_exactly(llvm::Value* e, llvm::Value* n);
  llvm::Value* emit_exponent(llvm::Value* x);
  llvm::Type* bits_of(llvm::Type* type);
  llvm::Value* emit_power(llvm::Value* x, llvm::Value* y, bool f64);
  llvm::Value* emit_philox(const std::vector<llvm::Value*>& args);
  llvm::Value* emit_function(spec::Primitive p, std::vector<llvm::Value*> args, bool f64);
  llvm::Value* in_pieces(const std::vector<llvm::Value*>& args, unsigned native,
                         const std::function<llvm::Value*(const std::vector<llvm::Value*>&)>& make);
  llvm::Value* emit_sign(llvm::Value* x);

  // --- memory ---
  struct Address {
    enum class Kind : std::uint8_t { uniform, contiguous, scattered } kind = Kind::uniform;
    llvm::Value* element = nullptr;  ///< its number; that of the first lane when contiguous
  };
  Address address(const std::vector<spec::Expr>& indices, const Dims& dims, llvm::Value* mask);
  llvm::Value* element_value(const loops::Affine& number, llvm::Value* mask);
  llvm::Value* first_in_panel(loops::Affine number);

  /// Elements that lie near each other: lane l has the one numbered first + l·step / share.
  struct Neighbours {
    llvm::Value* first = nullptr;
    unsigned step = 1;
    unsigned share = 1;
  };
  std::optional<Neighbours> neighbours(const loops::Affine& number, llvm::Type* type, llvm::Value* mask);
  llvm::Value* load_neighbours(const Neighbours& n, llvm::Type* type, llvm::Value* base, llvm::Value* lanes);
  llvm::Value* load_strided(const Neighbours& n, llvm::Type* type, llvm::Value* first, llvm::Value* lanes);
  llvm::Type* memory_type(DType dtype);
  llvm::Value* loaded(llvm::Value* raw, DType dtype);
  llvm::Value* widened(llvm::Value* raw, DType dtype);
  llvm::Value* narrowed(llvm::Value* value, Type type, DType dtype);
  llvm::Value* rounded_to_odd(llvm::Value* value);
  llvm::Value* raw_of(llvm::Value* value, Type type, DType dtype);
  void stream(llvm::Value* vector, llvm::Value* to);
  llvm::Value* lane_mask(llvm::Value* path);
  llvm::Value* spare();

  llvm::Module& module_;
  llvm::Function& function_;
  const spec::System& system_;
  Machine machine_;
  InstructionWriter& writer_;
  llvm::IRBuilder<> builder_;
  loops::Arithmetic arithmetic_;

  std::unordered_map<spec::VariableId, llvm::Value*> values_;
  std::unordered_map<spec::TensorId, llvm::Value*> bases_;
  std::vector<spec::TensorId> arguments_;
  loops::Extents extents_;
  spec::VariableId lane_variable_ = -1;
  llvm::Value* lane_numbers_ = nullptr;
  llvm::Value* tail_ = nullptr;
  unsigned width_ = 1;
  bool streams_ = false;
  bool whole_ = false;    ///< the first lane's number is a multiple of the width
  bool at_base_ = false;  ///< the lane variable stands for the first lane
  std::map<std::pair<const spec::Node*, llvm::Value*>, llvm::Value*> memo_;
};

}  // namespace etalon::compiled
