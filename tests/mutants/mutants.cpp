#include "tests/mutants/mutants.hpp"

#include <array>
#include <vector>

namespace etalon::mutants {
namespace {

std::vector<Mutant> all() {
  std::vector<Mutant> list;
  for (const auto family :
       {reductions(), distributions(), products(), formats(), functions(), roundings(), special_values(), indices(),
        derivatives(), slopes(), directions(), optimizers(), attributes(), memory()}) {
    list.insert(list.end(), family.begin(), family.end());
  }
  return list;
}

constexpr std::array none_observable{
    Equivalent{"fused_multiply_add", "products contracted into sums round once less: any contract admits it"},
    Equivalent{"other_order_of_sums", "any tree is admitted unless the contract declares one"},
    Equivalent{"negative_zero_lost", "0 and -0 are equal where no sign is read off"},
    Equivalent{"softmax_shift_not_detached", "the shift cancels: its derivative is 0 with or without detaching"},
    Equivalent{
        "extrema_skip_nan",
        "IEEE 754 knows maxima that keep NaN and maxima that drop it; the envelopes admit both (XLA 22950, 49174)"},
    Equivalent{"nan_payload", "payloads and signs of NaN are nobody's promise"},
};

}  // namespace

std::span<const Mutant> mutants() {
  static const std::vector<Mutant> list = all();
  return list;
}

std::span<const Equivalent> equivalents() { return none_observable; }

}  // namespace etalon::mutants
