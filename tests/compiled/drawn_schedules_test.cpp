// Schedules that a search might find, for every definition: the bits of those that cost decides, and the definitions' values by the
// suite's own judge.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "compiled/drawn.hpp"
#include "compiled/runtime/backend.hpp"
#include "conformance/case.hpp"
#include "conformance/conform.hpp"
#include "conformance/draw.hpp"
#include "conformance/shapes.hpp"
#include "spec/derivative/derivative.hpp"
#include "spec/library/library.hpp"
#include "tests/compiled/build_systems.hpp"
#include "tests/sanitized.hpp"

using namespace etalon;
using namespace etalon::test;

namespace {

/// The equations of a call of the definition that has something to share among lanes.
System call_of(const spec::Definition& d) {
  conformance::Draw draw(std::string(d.name) + " schedules");
  for (const std::int64_t elements : {2000, 400, 100, 24}) {
    const auto assignment = conformance::draw_assignment(d, draw, {.elements = elements, .edges = false}, DType::f32);
    if (!assignment) continue;
    const auto call = conformance::call_of(d, *assignment, DType::f32);
    REQUIRE(call);
    return conformance::instance_of(*call).system;
  }
  FAIL(d.name << ": no call was drawn");
  return {};
}

/// Reals of all sizes, and integers that are often valid indices.
std::vector<HostTensor> drawn_inputs(const System& system) {
  std::mt19937 random(1);
  std::vector<HostTensor> inputs;
  for (const TensorId id : system.inputs) {
    HostTensor t(system[id].dtype, system[id].dims);
    const auto count = static_cast<std::size_t>(t.dims.count());
    for (std::size_t i = 0; i < count; ++i) {
      const auto word = static_cast<std::uint32_t>(random());
      switch (t.dtype) {
        case DType::f32: t.view<float>()[i] = static_cast<float>(static_cast<std::int32_t>(word)) * 0x1p-29F; break;
        case DType::f64: t.view<double>()[i] = static_cast<double>(static_cast<std::int32_t>(word)) * 0x1p-29; break;
        case DType::i32: t.view<std::int32_t>()[i] = static_cast<std::int32_t>(word % 6) - 1; break;
        case DType::i64: t.view<std::int64_t>()[i] = static_cast<std::int64_t>(word % 6) - 1; break;
        case DType::boolean: t.view<std::uint8_t>()[i] = static_cast<std::uint8_t>(word % 2); break;
        default: t.view<std::uint16_t>()[i] = static_cast<std::uint16_t>(word % 0x3c00); break;
      }
    }
    inputs.push_back(std::move(t));
  }
  return inputs;
}

template <class T>
bool same_numbers(const HostTensor& a, const HostTensor& b) {
  for (std::size_t i = 0; i < a.view<T>().size(); ++i) {
    const T x = a.view<T>()[i], y = b.view<T>()[i];
    if (std::memcmp(&x, &y, sizeof x) != 0 && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

bool same_bits(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t t = 0; t < a.size(); ++t) {
    if (a[t].dtype != b[t].dtype || a[t].dims != b[t].dims) return false;
    if (a[t].dtype == DType::f32 ? !same_numbers<float>(a[t], b[t]) : a[t].dtype == DType::f64 ? !same_numbers<double>(a[t], b[t]) : !(a[t] == b[t])) return false;
  }
  return true;
}

compiled::CompileOptions small() {
  compiled::CompileOptions o = options();
  o.schedule.always = true;
  return o;
}

/// \returns how many decisions were others
std::size_t compare(const System& system, std::uint64_t schedules) {
  const std::vector<HostTensor> inputs = drawn_inputs(system);
  const std::vector<HostTensor> expected = compiled_values(system, inputs, small());
  std::size_t changed = 0;
  for (std::uint64_t seed = 1; seed <= schedules; ++seed) {
    compiled::CompileOptions drawn = small();
    drawn.decisions = compiled::drawn_decisions(system, drawn, shared_processor()->machine(), {.seed = seed, .changes = 8, .reorder_sums = false});
    changed += drawn.decisions.size();
    if (drawn.decisions.empty()) continue;
    INFO("with\n" << compiled::to_text(drawn.decisions));
    CHECK(same_bits(compiled_values(system, inputs, drawn), expected));
  }
  return changed;
}

bool is_differentiable(const System& system) {
  const auto is_real = [&](TensorId t) { return kind_of(system[t].dtype) == Kind::real; };
  return std::any_of(system.inputs.begin(), system.inputs.end(), is_real) && std::any_of(system.outputs.begin(), system.outputs.end(), is_real);
}

std::vector<std::size_t> real_inputs(const System& system) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < system.inputs.size(); ++i) {
    if (kind_of(system[system.inputs[i]].dtype) == Kind::real) all.push_back(i);
  }
  return all;
}

}  // namespace

TEST_CASE("drawn_schedules_of_every_definition_keep_every_bit", "[compiled][schedules]") {
  if (!shared_processor()->machine().has_vectors()) return;
  std::size_t changed = 0;
  REQUIRE(!spec::library().empty());
  for (const spec::Definition* d : spec::library()) {
    INFO(d->name);
    const System forward = call_of(*d);
    changed += compare(forward, 2);
    if (is_differentiable(forward)) changed += compare(spec::vjp(forward, real_inputs(forward)), 1);
  }
  CHECK(changed > spec::library().size());
}

TEST_CASE("drawn_schedules_conform", "[compiled][schedules]") {
  for (std::uint64_t seed = 1; seed <= (sanitized ? 1 : 2); ++seed) {
    const auto backend = compiled::make_cpu_backend(small(), compiled::Drawing{.seed = seed, .changes = 8, .reorder_sums = true});
    conformance::ConformOptions asked;
    asked.backend_name = "cpu";
    asked.operations = {"matmul", "softmax", "gather"};
    if (!sanitized) asked.operations.insert(asked.operations.end(), {"conv1d", "layer_norm"});
    asked.modes = {spec::Mode::forward, spec::Mode::vjp};
    asked.dtypes = {DType::f32};
    asked.seed = seed;
    asked.jobs = 1;
    std::ostringstream console;
    const int status = run_conform(asked, *backend, console);
    INFO(console.str());
    CHECK(status == 0);
  }
}
