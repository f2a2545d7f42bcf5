// What is around the kernels: buffers, caches, grids, and the counters of random numbers.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "conformance/values.hpp"
#include "tests/mutants/answers.hpp"
#include "tests/mutants/mutants.hpp"
#include "tests/mutants/rewriting.hpp"

namespace etalon::mutants {
namespace {

using conformance::element;
using conformance::set_element;
using spec::Answer;
using spec::Numbers;
using spec::Request;

bool same_shape(const Numbers& a, const Numbers& b) {
  if (a.outputs.size() != b.outputs.size()) return false;
  for (std::size_t i = 0; i < a.outputs.size(); ++i) {
    if (a.outputs[i].dims != b.outputs[i].dims || a.outputs[i].dtype != b.outputs[i].dtype) return false;
  }
  return true;
}

// The first output is what an earlier run left in the buffer, when that one had NaN.
Answer buffer_not_cleared(const Request& request, const Sound& sound, Memory& memory) {
  Answer answer = sound(request);
  Numbers* numbers = numbers_of(answer);
  if (numbers == nullptr) return answer;
  Answer kept = answer;
  if (memory.last) {
    const Numbers* before = numbers_of(*memory.last);
    if (before != nullptr && same_shape(*before, *numbers)) {
      for (std::size_t t = 0; t < numbers->outputs.size(); ++t) {
        if (!is_real(numbers->outputs[t])) continue;
        for (std::size_t i = 0; i < count(numbers->outputs[t]); ++i) {
          // 0 times what was there is added: a NaN stays.
          const double left = element(before->outputs[t], i);
          if (std::isnan(left)) set_element(numbers->outputs[t], i, left);
        }
      }
    }
  }
  memory.last = kept;
  return answer;
}

// A result is added to what the buffer holds from the last run of the same program.
Answer gradients_accumulate(const Request& request, const Sound& sound, Memory& memory) {
  Answer answer = sound(request);
  Numbers* numbers = numbers_of(answer);
  if (numbers == nullptr || request.mode != spec::Mode::vjp) return answer;
  const Answer kept = answer;
  if (memory.last) {
    const Numbers* before = numbers_of(*memory.last);
    for (std::size_t t = 0; before != nullptr && t < numbers->cotangents.size() && t < before->cotangents.size(); ++t) {
      auto& now = numbers->cotangents[t];
      const auto& then = before->cotangents[t];
      if (!now || !then || now->dims != then->dims || now->dtype != then->dtype) continue;
      for (std::size_t i = 0; i < count(*now); ++i) set_element(*now, i, element(*now, i) + element(*then, i));
    }
  }
  memory.last = kept;
  return answer;
}

Answer last_bit_of_every_other_run(const Request& request, const Sound& sound, Memory& memory) {
  Answer answer = sound(request);
  if (++memory.calls % 2 != 0) return answer;
  if (Numbers* numbers = numbers_of(answer)) {
    for (HostTensor& t : numbers->outputs) {
      if (!is_real(t) || count(t) == 0) continue;
      const double x = element(t, 0);
      if (!std::isfinite(x) || x == 0) continue;
      if (t.dtype == DType::f32) set_element(t, 0, static_cast<double>(std::nextafterf(static_cast<float>(x), 0.0F)));
      if (t.dtype == DType::f64) set_element(t, 0, std::nextafter(x, 0.0));
    }
  }
  return answer;
}

// Kernels are found by operation and shapes: the attributes of the first call serve all later ones.
Answer kernels_cached_by_shape(const Request& request, const Sound& sound, Memory& memory) {
  const auto* call = request.program.steps.empty() ? nullptr : std::get_if<spec::Call>(&request.program.steps[0]);
  if (call == nullptr) return sound(request);
  std::string key = call->operation + std::to_string(static_cast<int>(request.mode));
  for (const HostTensor& t : request.inputs) key += std::to_string(t.dims.rank) + "," + std::string(name_of(t.dtype));
  const auto [entry, added] = memory.first.try_emplace(key, request);
  if (added) return sound(request);
  Request other = request;
  const auto& first = std::get<spec::Call>(entry->second.program.steps[0]);
  auto& mine = std::get<spec::Call>(other.program.steps[0]);
  for (auto& [name, value] : mine.attributes) {
    const auto found = first.attributes.find(name);
    if (found != first.attributes.end() && std::holds_alternative<double>(value)) value = found->second;
  }
  Answer answer = sound(other);
  return numbers_of(answer) == nullptr ? sound(request) : answer;
}

Answer grid_of_whole_blocks(const Request& request, const Sound& sound, Memory&) {
  constexpr std::size_t block = 32;
  Answer answer = sound(request);
  if (Numbers* numbers = numbers_of(answer)) {
    for_each_tensor(*numbers, [](HostTensor& t) {
      if (count(t) <= block) return;
      for (std::size_t i = count(t) - count(t) % block; i < count(t); ++i) set_element(t, i, 0);
    });
  }
  return answer;
}

Answer index_of_eight_bits(const Request& request, const Sound& sound, Memory&) {
  Answer answer = sound(request);
  if (Numbers* numbers = numbers_of(answer)) {
    for_each_tensor(*numbers, [](HostTensor& t) {
      for (std::size_t i = 256; i < count(t); ++i) set_element(t, i, element(t, i % 256));
    });
  }
  return answer;
}

// Storage offset of a view ignored: the last operand is read from the beginning of its buffer.
Answer offset_ignored(const Request& request, const Sound& sound, Memory&) {
  Request other = request;
  if (other.inputs.empty()) return sound(request);
  HostTensor& t = other.inputs.back();
  if (count(t) < 2) return sound(request);
  const auto size = static_cast<std::ptrdiff_t>(size_of(t.dtype));
  std::rotate(t.bytes.begin(), t.bytes.end() - size, t.bytes.end());
  return sound(other);
}

// A column-major buffer read as a row-major one.
Answer columns_taken_for_rows(const Request& request, const Sound& sound, Memory&) {
  Request other = request;
  for (std::size_t k = 0; k < other.inputs.size(); ++k) {
    const HostTensor& from = request.inputs[k];
    if (from.dims.rank != 2) continue;
    const auto rows = static_cast<std::size_t>(from.dims[0]), columns = static_cast<std::size_t>(from.dims[1]);
    for (std::size_t i = 0; i < count(from); ++i)
      set_element(other.inputs[k], i, element(from, i % rows * columns + i / rows));
  }
  return sound(other);
}

Answer second_result_aliases_first(const Request& request, const Sound& sound, Memory&) {
  Answer answer = sound(request);
  Numbers* numbers = numbers_of(answer);
  if (numbers == nullptr || numbers->outputs.size() < 2) return answer;
  if (numbers->outputs[0].dims == numbers->outputs[1].dims && numbers->outputs[0].dtype == numbers->outputs[1].dtype)
    numbers->outputs[0] = numbers->outputs[1];
  return answer;
}

void rewrite_philox(System& system, const std::function<Expr(const Expr&)>& change) {
  rewrite_values(system, [&](const Expr& e) -> std::optional<Expr> {
    if (!e.is(Primitive::philox)) return std::nullopt;
    return change(e);
  });
}

void counter_of_one_block(System& system, spec::Mode) {
  rewrite_philox(system, [](const Expr& e) {
    return spec::apply(Primitive::philox,
                       {e->args[0], e->args[1], e->args[2], call(Primitive::modulo, e->args[3], spec::integer(4))});
  });
}

void step_ignored(System& system, spec::Mode) {
  rewrite_philox(system, [](const Expr& e) {
    return spec::apply(Primitive::philox, {e->args[0], spec::integer(0), e->args[2], e->args[3]});
  });
}

void stream_ignored(System& system, spec::Mode) {
  rewrite_philox(system, [](const Expr& e) {
    return spec::apply(Primitive::philox, {e->args[0], e->args[1], spec::integer(0), e->args[3]});
  });
}

void seed_of_sixteen_bits(System& system, spec::Mode) {
  rewrite_philox(system, [](const Expr& e) {
    return spec::apply(Primitive::philox,
                       {call(Primitive::modulo, e->args[0], spec::integer(65536)), e->args[1], e->args[2], e->args[3]});
  });
}

void one_is_drawn(System& system, spec::Mode) {
  rewrite_values(system, [](const Expr& e) -> std::optional<Expr> {
    if (!is_real(e, Primitive::div) || !constant(e->args[1])) return std::nullopt;
    const double divisor = *constant(e->args[1]);
    if (divisor != 16777216.0 && divisor != 9007199254740992.0) return std::nullopt;
    return e->args[0] / spec::decimal(static_cast<std::int64_t>(divisor) - 1);
  });
}

constexpr auto responding = [](std::string_view name, std::string_view defect, std::string_view history,
                               std::string_view operations, Answer (*respond)(const Request&, const Sound&, Memory&)) {
  return Mutant{.name = name, .defect = defect, .history = history, .operations = operations, .respond = respond};
};
constexpr auto rewriting = [](std::string_view name, std::string_view defect, std::string_view history,
                              std::string_view operations, void (*rewrite)(System&, spec::Mode)) {
  return Mutant{.name = name, .defect = defect, .history = history, .operations = operations, .rewrite = rewrite};
};

constexpr std::array list{
    responding("buffer_not_cleared", "NaN that an earlier run left in a buffer reaches the result",
               "PyTorch 183825 and BLAS with beta = 0: 0 times what was there", "matmul,sum,exp", buffer_not_cleared),
    responding("gradients_accumulate", "cotangents are added to those of the last run",
               "gradients not set to zero between steps", "mul,matmul,mse", gradients_accumulate),
    responding("last_bit_of_every_other_run", "every other run differs in a last bit", "atomic additions in reductions",
               "cumsum,where,sum", last_bit_of_every_other_run),
    responding("kernels_cached_by_shape", "real attributes of the first call serve all calls of these types",
               "compiled graphs whose guards forgot scalars", "scale,layer_norm,leaky_relu", kernels_cached_by_shape),
    responding("grid_of_whole_blocks", "elements behind the last whole block of 32 are not written",
               "grids computed without rounding up", "add,matmul,softmax", grid_of_whole_blocks),
    responding("index_of_eight_bits", "elements from 256 on repeat those before",
               "PyTorch 197636, 177116: indices of too few bits, there beyond 2^31", "add,exp,flip",
               index_of_eight_bits),
    responding("offset_ignored", "the last operand is read with an offset of one",
               "MPS and XLA backends that dropped storage offsets of views", "add,matmul,gather", offset_ignored),
    responding("columns_taken_for_rows", "matrices are read in the order of columns",
               "cuBLAS is column-major: transposition flags the wrong way round", "matmul,exp,transpose",
               columns_taken_for_rows),
    responding("second_result_aliases_first", "the first result holds what belongs to the second",
               "output arguments bound to one buffer", "adam,lstm_cell,split", second_result_aliases_first),
    rewriting("counter_of_one_block", "random numbers repeat after four words",
              "block counters not advanced between vectors", "uniform,normal,bernoulli_mask", counter_of_one_block),
    rewriting("step_ignored", "the same random numbers in every step", "captured graphs that replay one seed",
              "dropout,uniform", step_ignored),
    rewriting("stream_ignored", "the same random numbers in every stream", "layers sharing one generator offset",
              "uniform,normal", stream_ignored),
    rewriting("seed_of_sixteen_bits", "the seed has 16 bits", "seeds passed through a half-precision or short argument",
              "uniform,bernoulli_mask", seed_of_sixteen_bits),
    rewriting("one_is_drawn", "uniform numbers reach 1", "division by 2^n - 1: log(1 - u) was infinite now and then",
              "uniform,normal", one_is_drawn),
};

}  // namespace

std::span<const Mutant> memory() { return list; }

}  // namespace etalon::mutants
