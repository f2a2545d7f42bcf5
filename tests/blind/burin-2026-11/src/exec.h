// The plan of a compiled graph: views, loops and the buffers they use.
#pragma once
#include <set>

#include "core.h"

struct Place { int buffer = -1; Dims stride; Int offset = 0; };

struct Step {
  N root;
  std::vector<N> body;    // what is computed in registers, in order; for a loop its last is the root
  std::vector<N> leaves;  // what is read
  int out = -1;
};

struct Plan {
  std::vector<Step> steps;
  std::map<N, Place> place;
  std::vector<Int> size;               // of each virtual buffer
  std::vector<const std::vector<Real>*> given;  // of parameters and constants, null for those computed
  std::vector<int> last_use;           // the step that reads it last; beyond all steps for outputs
  std::vector<int> physical;           // which storage it has
  int storages = 0;
};

Plan make_plan(const std::vector<N>& roots, const std::map<N, Operand>& params);
void assign_buffers(Plan& plan, const std::vector<N>& roots);

constexpr int lanes = 8;

// A loop over a shape that computes `body` from `leaves`, eight elements at a time.
class Loop {
 public:
  using Base = std::vector<const Real*>;
  Loop(const Dims& shape, const std::vector<N>& body, const std::vector<N>& leaves, const std::map<N, Place>& place,
       const Base& storage, const Dims& order);
  void run(Int first, int count, Real* out);  // elements first … first + count - 1

 private:
  enum class Kind { splat, contiguous, row, general };
  struct Leaf { Kind kind; const Real* base; Dims shape, stride; Int period; };
  struct Instruction { const Node* n; int in[3]; };
  std::vector<Leaf> leaves_;
  std::vector<Instruction> code_;
  std::vector<Real> registers_;
  int result_ = 0;
  void load(const Leaf& leaf, Int first, int count, Real* to) const;
};

std::vector<Real> run_kernel(N n, const std::vector<std::vector<Real>>& x);  // dense operands
std::vector<Real> run_dot(N n, const Place& l, const Real* lp, const Place& r, const Real* rp);
std::vector<Real> run_reduce(N n, Loop& loop, Int outer, Int inner);
