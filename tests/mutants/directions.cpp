// Tangents and cotangents that are taken for something else than what was given.
#include <algorithm>
#include <array>

#include "conformance/values.hpp"
#include "tests/mutants/answers.hpp"
#include "tests/mutants/mutants.hpp"

namespace etalon::mutants {
namespace {

using conformance::element;
using conformance::set_element;
using spec::Answer;
using spec::Mode;
using spec::Numbers;
using spec::Request;

/// The sound values with the derivatives of another request.
Answer derivatives_of(const Request& other, const Request& request, const Sound& sound) {
  Answer right = sound(request);
  if (request.mode == Mode::forward) return right;
  Answer wrong = sound(other);
  Numbers* numbers = numbers_of(right);
  Numbers* spoilt = numbers_of(wrong);
  if (numbers == nullptr || spoilt == nullptr) return right;
  numbers->tangents = spoilt->tangents;
  numbers->cotangents = spoilt->cotangents;
  return right;
}

Answer tangents_are_zero(const Request& request, const Sound& sound, Memory&) {
  Answer answer = sound(request);
  if (Numbers* numbers = numbers_of(answer)) {
    for (auto& t : numbers->tangents) {
      if (t) fill(*t, 0);
    }
  }
  return answer;
}

Answer first_tangent_alone(const Request& request, const Sound& sound, Memory&) {
  Request other = request;
  bool seen = false;
  for (auto& t : other.tangents) {
    if (t && seen) fill(*t, 0);
    seen = seen || t.has_value();
  }
  return derivatives_of(other, request, sound);
}

Answer cotangent_taken_as_one(const Request& request, const Sound& sound, Memory&) {
  Request other = request;
  for (auto& t : other.cotangents) {
    if (t) fill(*t, 1);
  }
  return derivatives_of(other, request, sound);
}

Answer scalar_cotangent_forgotten(const Request& request, const Sound& sound, Memory&) {
  Request other = request;
  for (auto& t : other.cotangents) {
    if (t && t->dims.rank == 0) fill(*t, 1);
  }
  return derivatives_of(other, request, sound);
}

Answer last_operand_without_gradient(const Request& request, const Sound& sound, Memory&) {
  Answer answer = sound(request);
  Numbers* numbers = numbers_of(answer);
  if (numbers == nullptr || numbers->cotangents.size() < 2) return answer;
  if (auto& last = numbers->cotangents.back()) fill(*last, 0);
  return answer;
}

Answer first_cotangent_alone(const Request& request, const Sound& sound, Memory&) {
  Request other = request;
  bool seen = false;
  for (auto& t : other.cotangents) {
    if (t && seen) fill(*t, 0);
    seen = seen || t.has_value();
  }
  return derivatives_of(other, request, sound);
}

bool is_constant(const HostTensor& t) {
  for (std::size_t i = 1; i < count(t); ++i) {
    if (element(t, i) != element(t, 0)) return false;
  }
  return count(t) > 1;
}

// A cotangent that was expanded from one number is read as if it had a row of its own for the first row alone.
Answer expanded_cotangent_read_once(const Request& request, const Sound& sound, Memory&) {
  Request other = request;
  for (auto& t : other.cotangents) {
    if (!t || !is_constant(*t)) continue;
    const std::size_t row = t->dims.rank == 0 ? 1 : static_cast<std::size_t>(t->dims[t->dims.rank - 1]);
    for (std::size_t i = std::min(row, count(*t) - 1); i < count(*t); ++i) set_element(*t, i, 0);
  }
  return derivatives_of(other, request, sound);
}

// The cotangents of the others are computed in a branch that needs the first one.
Answer first_operand_required(const Request& request, const Sound& sound, Memory&) {
  Answer answer = sound(request);
  Numbers* numbers = numbers_of(answer);
  if (numbers == nullptr || request.wrt.empty() || request.wrt.front()) return answer;
  for (auto& t : numbers->cotangents) {
    if (t) fill(*t, 0);
  }
  return answer;
}

// Operands with the same contents count as one: its cotangents go to the first.
Answer equal_operands_are_one(const Request& request, const Sound& sound, Memory&) {
  Answer answer = sound(request);
  Numbers* numbers = numbers_of(answer);
  if (numbers == nullptr || numbers->cotangents.size() < 2) return answer;
  for (std::size_t i = 0; i < numbers->cotangents.size(); ++i) {
    for (std::size_t j = i + 1; j < numbers->cotangents.size(); ++j) {
      auto& first = numbers->cotangents[i];
      auto& second = numbers->cotangents[j];
      if (!first || !second || !(request.inputs[i] == request.inputs[j]) || count(*first) == 0) continue;
      for (std::size_t k = 0; k < count(*first); ++k) set_element(*first, k, element(*first, k) + element(*second, k));
      fill(*second, 0);
      return answer;
    }
  }
  return answer;
}

Answer reverse_pass_in_training(const Request& request, const Sound& sound, Memory&) {
  Request other = request;
  if (request.mode == Mode::vjp) {
    change_attributes(other, [](const std::string&, spec::AttributeValue& value) {
      if (auto* flag = std::get_if<bool>(&value)) *flag = true;
    });
  }
  return derivatives_of(other, request, sound);
}

// The mask is drawn again where it should be that of the forward pass.
Answer mask_drawn_again(const Request& request, const Sound& sound, Memory&) {
  Request other = request;
  for (HostTensor& t : other.inputs) {
    if (t.dtype == DType::i64 && t.dims.rank == 0) set_element(t, 0, element(t, 0) + 1);
  }
  return derivatives_of(other, request, sound);
}

Answer cotangents_of_large_extents_cut(const Request& request, const Sound& sound, Memory&) {
  Answer answer = sound(request);
  Numbers* numbers = numbers_of(answer);
  if (numbers == nullptr) return answer;
  for (auto& t : numbers->cotangents) {
    if (!t) continue;
    for (std::size_t i = 128; i < count(*t); ++i) set_element(*t, i, 0);
  }
  return answer;
}

Answer wrong_values_beside_tangents(const Request& request, const Sound& sound, Memory&) {
  Answer answer = sound(request);
  Numbers* numbers = numbers_of(answer);
  if (numbers == nullptr || request.mode != Mode::jvp) return answer;
  for (std::size_t i = 0; i < numbers->outputs.size() && i < numbers->tangents.size(); ++i) {
    if (numbers->tangents[i]) numbers->outputs[i] = *numbers->tangents[i];
  }
  return answer;
}

constexpr auto in_place = [](std::string_view name, std::string_view defect, std::string_view history,
                             std::string_view operations, Answer (*respond)(const Request&, const Sound&, Memory&)) {
  return Mutant{.name = name, .defect = defect, .history = history, .operations = operations, .respond = respond};
};

constexpr std::array list{
    in_place("tangents_are_zero", "tangents are 0", "Raven 153: twenty-five forward-mode handlers propagated nothing",
             "add,sigmoid", tangents_are_zero),
    in_place("first_tangent_alone", "tangents of all operands but the first are 0",
             "forward rules that handle one dual operand", "mul,where,fma", first_tangent_alone),
    in_place("cotangent_taken_as_one", "the cotangent that was given is not used",
             "fused losses that ignored grad_output because it is 1 in most tests", "mse,sin,matmul",
             cotangent_taken_as_one),
    in_place("scalar_cotangent_forgotten", "the cotangent of a scalar counts as 1",
             "loss scaling without effect in fused cross-entropy kernels", "cross_entropy,mse,sum",
             scalar_cotangent_forgotten),
    in_place("last_operand_without_gradient", "the last operand has no cotangent",
             "bias and scale gradients missing in fused kernels", "linear,layer_norm,add",
             last_operand_without_gradient),
    in_place("first_cotangent_alone", "cotangents of all results but the first count as 0",
             "recurrent cells that ignored the cotangent of the cell state", "lstm_cell,split", first_cotangent_alone),
    in_place("expanded_cotangent_read_once", "a cotangent of equal elements is read for the first row alone",
             "PyTorch 180201: the gradient of y.sum() was 0 for most rows on MPS", "mul,exp,layer_norm",
             expanded_cotangent_read_once),
    in_place("first_operand_required", "cotangents are wrong where that of the first operand is not asked for",
             "PyTorch 183825: layer norm backward when x needs no gradient", "layer_norm,linear,mul",
             first_operand_required),
    in_place("equal_operands_are_one", "operands with the same contents share one cotangent",
             "autograd 138, 141: a source given twice", "mul,atan2,maximum", equal_operands_are_one),
    in_place("reverse_pass_in_training", "the reverse pass takes every flag as true",
             "PyTorch XLA 913, MXNet 9580: gradients of batch norm in evaluation used the batch",
             "batch_norm,avg_pool1d", reverse_pass_in_training),
    in_place("mask_drawn_again", "the derivative draws another mask than the value",
             "attention dropout whose backward kernel counted its random numbers differently", "dropout",
             mask_drawn_again),
    in_place("cotangents_cut", "cotangents beyond 128 elements are 0", "backward kernels launched with one block",
             "add,square,softmax", cotangents_of_large_extents_cut),
    in_place("tangents_in_place_of_values", "the values beside tangents are overwritten by them",
             "dual numbers written back in the wrong order", "exp,matmul", wrong_values_beside_tangents),
};

}  // namespace

std::span<const Mutant> directions() { return list; }

}  // namespace etalon::mutants
