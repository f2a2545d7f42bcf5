#include "conformance/schemas/laws.hpp"

#include <array>

#include "conformance/divided_axes.hpp"
#include "conformance/schemas/decay.hpp"
#include "conformance/schemas/factors_of_sums.hpp"
#include "conformance/schemas/logistic.hpp"
#include "conformance/schemas/moments.hpp"
#include "conformance/schemas/roots_of_quotients.hpp"
#include "conformance/schemas/squares.hpp"
#include "conformance/schemas/weighted_means.hpp"

namespace etalon::conformance {
namespace {

constexpr std::array all{
    Law{"divided axes", "s/(m*n) = s/m/n", "NumPy and Keras, a mean over one axis after the other", with_divided_axes},
    Law{"updated moments", "sum(x)/n and sum((x - m)^2) = Welford's updates", "PyTorch's WelfordOps", with_updated_moments},
    Law{"roots of quotients", "sqrt(a/b) = sqrt(a)/sqrt(b), a, b >= 0", "PyTorch's Adam", with_roots_apart},
    Law{"weighted means from the first", "w*p + (1 - w)*q = p + (1 - w)*(q - p)", "torch.lerp, Keras' moments", from_the_first},
    Law{"weighted means from the second", "w*p + (1 - w)*q = q + w*(p - q)", "torch.lerp, PyTorch's GRU", from_the_second},
    Law{"decay apart", "p*(1 - b) - r = p - b*p - r", "optax' and Keras' weight decay", with_decay_apart},
    Law{"squares apart", "t*(1 - y*y) = (t + t*y)*(1 - y)", "JAX's tanh", with_squares_apart},
    Law{"complements", "1/(1 + exp(-z)) = 1 - exp(-z)/(1 + exp(-z))", "oneDNN's logistic", with_complements},
    Law{"roots of factors inside", "c*sum(a*b) = sum((sqrt(c)*a)*(sqrt(c)*b)), c >= 0", "PyTorch's attention", with_roots_of_factors_inside},
    Law{"factors inside", "c*sum(t) = sum(c*t)", "Keras' and Flax' attention, means of divided terms", with_factors_inside},
    Law{"factors outside", "sum(c*t) = c*sum(t)", "PyTorch's batch_norm backward", with_factors_outside},
    Law{"common factors", "a*t + b*t = (a + b)*t", "handwritten derivatives, slope first", with_common_factors},
    Law{"affine maps", "(a - b)*c = a*c - b*c", "PyTorch's normalisations, its softmax backward on CUDA", with_affine_maps},
};

}  // namespace

std::span<const Law> laws() { return all; }

std::vector<spec::System> by_laws(const spec::System& system) {
  std::vector<spec::System> systems;
  spec::System together = system;
  std::size_t applied = 0;
  for (const Law& law : all) {
    if (auto one = law.rewritten(system)) systems.push_back(std::move(*one));
    if (auto both = law.rewritten(together)) {
      together = std::move(*both);
      ++applied;
    }
  }
  if (applied > 1) systems.push_back(std::move(together));
  return systems;
}

}  // namespace etalon::conformance
