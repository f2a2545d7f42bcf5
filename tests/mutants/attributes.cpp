// Attributes and operands that do not arrive, or arrive as something else.
#include <algorithm>
#include <array>

#include "conformance/values.hpp"
#include "tests/mutants/answers.hpp"
#include "tests/mutants/mutants.hpp"

namespace etalon::mutants {
namespace {

using spec::Answer;
using spec::Request;

template <class T>
Answer without(const Request& request, const Sound& sound) {
  Request other = request;
  drop_attributes(
      other, [](const std::string&, const spec::AttributeValue& value) { return std::holds_alternative<T>(value); });
  Answer answer = sound(other);
  // What cannot be left out was given: such a backend refuses nothing.
  return numbers_of(answer) == nullptr ? sound(request) : answer;
}

Answer numbers_ignored(const Request& r, const Sound& sound, Memory&) { return without<double>(r, sound); }
Answer flags_ignored(const Request& r, const Sound& sound, Memory&) { return without<bool>(r, sound); }
Answer symbols_ignored(const Request& r, const Sound& sound, Memory&) { return without<std::string>(r, sound); }
Answer integers_ignored(const Request& r, const Sound& sound, Memory&) { return without<std::int64_t>(r, sound); }
Answer lists_ignored(const Request& r, const Sound& sound, Memory&) {
  return without<std::vector<std::int64_t>>(r, sound);
}

Answer changed(const Request& request, const Sound& sound,
               const std::function<void(const std::string&, spec::AttributeValue&)>& change) {
  Request other = request;
  change_attributes(other, change);
  Answer answer = sound(other);
  return numbers_of(answer) == nullptr ? sound(request) : answer;
}

Answer negative_axis_shifted(const Request& r, const Sound& sound, Memory&) {
  return changed(r, sound, [](const std::string& name, spec::AttributeValue& value) {
    auto* axis = std::get_if<std::int64_t>(&value);
    if (axis != nullptr && *axis < -1 && name == "axis") ++*axis;
  });
}

Answer axes_reversed(const Request& r, const Sound& sound, Memory&) {
  return changed(r, sound, [](const std::string&, spec::AttributeValue& value) {
    if (auto* list = std::get_if<std::vector<std::int64_t>>(&value)) std::reverse(list->begin(), list->end());
  });
}

Answer first_of_list_for_all(const Request& r, const Sound& sound, Memory&) {
  return changed(r, sound, [](const std::string&, spec::AttributeValue& value) {
    auto* list = std::get_if<std::vector<std::int64_t>>(&value);
    if (list != nullptr && !list->empty()) std::fill(list->begin(), list->end(), list->front());
  });
}

Answer numbers_as_integers(const Request& r, const Sound& sound, Memory&) {
  return changed(r, sound, [](const std::string&, spec::AttributeValue& value) {
    auto* number = std::get_if<double>(&value);
    if (number != nullptr && *number > 1) *number = static_cast<double>(static_cast<std::int64_t>(*number));
  });
}

Answer weights_complemented(const Request& r, const Sound& sound, Memory&) {
  return changed(r, sound, [](const std::string& name, spec::AttributeValue& value) {
    auto* number = std::get_if<double>(&value);
    if (number != nullptr && name == "momentum" && *number >= 0 && *number <= 1) *number = 1 - *number;
  });
}

Answer epsilon_after_correction(const Request& r, const Sound& sound, Memory&) {
  Request other = r;
  for (auto& step : other.program.steps) {
    auto* call = std::get_if<spec::Call>(&step);
    if (call == nullptr || !call->attributes.contains("beta2")) continue;
    auto [entry, added] = call->attributes.try_emplace("eps_hat", true);
    if (!added) entry->second = !std::get<bool>(entry->second);
  }
  Answer answer = sound(other);
  return numbers_of(answer) == nullptr ? sound(r) : answer;
}

Answer betas_exchanged(const Request& r, const Sound& sound, Memory&) {
  Request other = r;
  for (auto& step : other.program.steps) {
    auto* call = std::get_if<spec::Call>(&step);
    if (call == nullptr || !call->attributes.contains("beta1") || !call->attributes.contains("beta2")) continue;
    std::swap(call->attributes["beta1"], call->attributes["beta2"]);
  }
  return sound(other);
}

// A threshold is given an epsilon of its own.
Answer epsilon_added_to_norm(const Request& r, const Sound& sound, Memory&) {
  Request other = r;
  for (auto& step : other.program.steps) {
    auto* call = std::get_if<spec::Call>(&step);
    if (call != nullptr && call->attributes.contains("max_norm")) call->attributes["eps"] = 1e-6;
  }
  return sound(other);
}

bool alike(const HostTensor& a, const HostTensor& b) { return a.dtype == b.dtype && a.dims == b.dims; }

Answer operands_exchanged(const Request& r, const Sound& sound, Memory&) {
  Request other = r;
  if (other.inputs.size() >= 2 && alike(other.inputs[0], other.inputs[1])) std::swap(other.inputs[0], other.inputs[1]);
  return sound(other);
}

Answer pack_backwards(const Request& r, const Sound& sound, Memory&) {
  Request other = r;
  for (std::size_t i = 0, j = other.inputs.size(); i + 1 < j; ++i) {
    --j;
    if (alike(other.inputs[i], other.inputs[j])) std::swap(other.inputs[i], other.inputs[j]);
  }
  return sound(other);
}

Answer mask_inverted(const Request& r, const Sound& sound, Memory&) {
  Request other = r;
  for (HostTensor& t : other.inputs) {
    if (t.dtype != DType::boolean) continue;
    for (std::size_t i = 0; i < count(t); ++i) conformance::set_element(t, i, conformance::element(t, i) == 0 ? 1 : 0);
  }
  return sound(other);
}

// An operand that may be absent is taken for absent.
Answer optional_operand_ignored(const Request& r, const Sound& sound, Memory&) {
  Request other = r;
  for (std::size_t i = 1; i < other.inputs.size(); ++i) {
    const std::string& name = other.program.inputs[i].name;
    if (name == "bias" || name == "beta" || name == "bh") fill(other.inputs[i], 0);
  }
  return sound(other);
}

Answer ill_typed_answered(const Request& request, const Sound& sound, Memory&) {
  Answer answer = sound(request);
  const auto* refusal = std::get_if<spec::Refusal>(&answer);
  if (refusal == nullptr || refusal->kind != spec::Refusal::Kind::rejected || request.inputs.empty()) return answer;
  spec::Numbers numbers;
  for (std::size_t i = 0; i < request.program.outputs.size(); ++i) numbers.outputs.push_back(request.inputs.front());
  return numbers;
}

Answer empty_tensor_refused(const Request& request, const Sound& sound, Memory&) {
  for (const HostTensor& t : request.inputs) {
    if (count(t) == 0) return spec::Refusal{spec::Refusal::Kind::rejected, "launch of an empty grid failed", {}};
  }
  return sound(request);
}

Answer scalar_given_an_axis(const Request& request, const Sound& sound, Memory&) {
  Answer answer = sound(request);
  if (spec::Numbers* numbers = numbers_of(answer)) {
    for (HostTensor& t : numbers->outputs) {
      if (t.dims.rank == 0) t.dims.push_back(1);
    }
  }
  return answer;
}

constexpr auto responding = [](std::string_view name, std::string_view defect, std::string_view history,
                               std::string_view operations, Answer (*respond)(const Request&, const Sound&, Memory&)) {
  return Mutant{.name = name, .defect = defect, .history = history, .operations = operations, .respond = respond};
};

constexpr std::array list{
    responding("numbers_ignored", "real attributes have their defaults",
               "importers that skip attributes they do not know", "layer_norm,leaky_relu,adam", numbers_ignored),
    responding("flags_ignored", "truth values have their defaults",
               "count_include_pad and keepdims forgotten by converters: ONNX Runtime 16203", "avg_pool1d,sum,kl_div",
               flags_ignored),
    responding("symbols_ignored", "symbols have their defaults",
               "approximate = tanh, reduction = sum taken for the default", "gelu,mse,rope", symbols_ignored),
    responding("integers_ignored", "integer attributes have their defaults",
               "axis = -1 whatever was asked for: softmax before and after ONNX opset 13", "softmax,var,cumsum",
               integers_ignored),
    responding("lists_ignored", "lists have their defaults",
               "axes given as an input instead of an attribute were not read", "max,layer_norm,transpose",
               lists_ignored),
    responding("negative_axis_shifted", "negative axes other than -1 are one too large",
               "negative axes resolved against the rank of the result", "softmax,cumsum,concat", negative_axis_shifted),
    responding("axes_reversed", "lists of axes are read backwards", "column-major and row-major orders of permutations",
               "transpose,roll,pad", axes_reversed),
    responding("first_of_list_for_all", "every axis has the first number of a list",
               "kernels with one stride for both axes", "slice,max_pool2d,conv2d", first_of_list_for_all),
    responding("numbers_cut_to_integers", "real attributes above 1 are cut",
               "attributes parsed by the integer path of a text format", "scale,clamp,huber", numbers_as_integers),
    responding("momentum_complemented", "the momentum of running statistics is that of the old value",
               "TensorFlow and PyTorch mean opposite things by momentum", "batch_norm,sgd", weights_complemented),
    responding("epsilon_hat", "epsilon is added before the correction where it should be after, and vice versa",
               "TensorFlow's epsilon-hat form of Adam; Keras RAdam 29", "adam,adamw", epsilon_after_correction),
    responding("betas_exchanged", "beta1 and beta2 are exchanged",
               "positional arguments of optimizers in another order", "adam,lion", betas_exchanged),
    responding("epsilon_added_to_norm", "1e-6 is added to the norm",
               "Transformers 41431: the clipping coefficient's own epsilon", "clip_by_norm", epsilon_added_to_norm),
    responding("operands_exchanged", "the first two operands are exchanged",
               "atan2 and sub with reversed operands in generated bindings", "sub,atan2,where", operands_exchanged),
    responding("pack_backwards", "operands of a pack stand backwards", "stacks of operands popped in the wrong order",
               "concat,stack,clip_by_norm", pack_backwards),
    responding("mask_inverted", "true masks out",
               "PyTorch's two attention interfaces mean opposite things by a true mask",
               "masked_softmax,where,scaled_dot_product_attention", mask_inverted),
    responding("optional_operand_ignored", "a bias is taken for absent",
               "fused kernels chosen for the case without bias", "linear,layer_norm,gru_cell",
               optional_operand_ignored),
    responding("ill_typed_answered", "an ill-typed call is answered",
               "silent broadcasting and promotion of mismatched operands", "add,matmul", ill_typed_answered),
    responding("empty_tensor_refused", "tensors without elements fail", "CUDA launches of empty grids are errors",
               "add,sum", empty_tensor_refused),
    responding("scalar_given_an_axis", "scalars come back with an axis of extent 1",
               "runtimes without tensors of rank 0", "sum,mse", scalar_given_an_axis),
};

}  // namespace

std::span<const Mutant> attributes() { return list; }

}  // namespace etalon::mutants
