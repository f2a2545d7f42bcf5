/// \file
/// The emission of one nest: loops, steps and reductions as LLVM instructions. Long sums have a file of their own. It knows
/// no tensor's values.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "compiled/emit/llvm/debug_lines.hpp"
#include "compiled/emit/llvm/emitter.hpp"
#include "compiled/ir/blocks.hpp"
#include "compiled/ir/nest.hpp"

namespace etalon::compiled {

using llvm::Value;
using loops::Loop;
using loops::blocks_of;
using loops::Reduce;
using loops::Step;
using spec::Reduction;

class NestEmitter {
 public:
  /// \param lines null without a listing.
  NestEmitter(llvm::Module& module, llvm::Function& function, const spec::System& system, const loops::Nest& nest,
              const Machine& machine, InstructionWriter& writer, DebugLines* lines)
      : function_(function), system_(system), nest_(nest), lines_(lines), emitter_(module, function, system, machine, writer),
        b_(emitter_.builder()) {}

  void run();

 private:
  /// A long sum in blocks, and where the sums of blocks wait.
  struct Blocks {
    loops::TermBlocks of;
    std::int64_t digits = 0;
    llvm::AllocaInst* sums = nullptr;
    Value* count = nullptr;
  };

  /// What a reduction carries from one iteration to the next.
  struct Partial {
    Value* best = nullptr;
    Value* position = nullptr;
    Value* found = nullptr;
    unsigned width = 1;
    Type type = Type::f32;
    std::optional<Blocks> blocks{};
  };

  void at(const void* part) {
    if (lines_ != nullptr) lines_->at(b_, part);
  }
  void steps(const std::vector<Step>& all);
  void one(const Step& s);
  void step(const Loop& loop, const Step& s);
  void step(const Reduce& r, const Step& s);
  void step(const loops::Store& store, const Step& s);
  void step(const loops::Define& d, const Step& s);
  void step(const loops::Contract& c, const Step& s);
  void step(const loops::Transpose& t, const Step& s);
  llvm::AllocaInst* borrow(std::uint64_t bytes);
  void square(const loops::Transpose& t, Value* across, Value* down, unsigned columns);

  void fetch(const Loop& loop);
  void iterate(const Loop& loop, Value* begin, Value* end, const std::function<void()>& body);
  void count(Value* begin, Value* end, const std::function<void(Value*)>& body);
  std::optional<Blocks> blocks_in(const Reduce& r, const Partial& partial);
  void in_blocks(const Reduce& r, const Step& s, const Partial& partial);
  void end_block(const Partial& partial);
  void join_blocks(const Partial& partial);
  void inside(const Reduce& r, std::size_t level, const Step& s, const Partial& partial);
  void accumulate(const Reduce& r, const Partial& partial);
  void accumulate_position(const Reduce& r, const Partial& partial, Value* value, Value* where);
  Value* position(const Reduce& r);
  Value* combine(Reduction reduction, Type type, Value* a, Value* b);
  Value* join_chains(Reduction reduction, const Partial& partial, Value* lanes);
  llvm::Constant* neutral(const Reduce& r, Type type, unsigned width);
  Value* variable(llvm::Type* type, llvm::Constant* start);

  llvm::Function& function_;
  const spec::System& system_;
  const loops::Nest& nest_;
  DebugLines* lines_;
  Emitter emitter_;
  llvm::IRBuilder<>& b_;
  Value* reached_ = nullptr;
  std::vector<llvm::AllocaInst*> rooms_;  ///< on the stack, for what lives no longer than one step: nobody has them now
  std::vector<spec::Expr> temporaries_;  ///< the emitter remembers expressions by address
};

}  // namespace etalon::compiled
