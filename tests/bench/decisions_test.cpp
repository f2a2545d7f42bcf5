// Each decision of the compiler that can be left out is taken on a workload that it is for, and shows in what is planned.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <set>

#include "compiled/compile.hpp"
#include "compiled/runtime/executable.hpp"
#include "compiled/task.hpp"
#include "spec/library/operations.hpp"
#include "tools/bench/variants.hpp"
#include "tools/bench/workload.hpp"

using namespace etalon;
using namespace etalon::bench;

namespace {

/// What the compiler made of a workload, as far as it says so.
struct Made {
  std::string plan, loops;
  std::size_t equations = 0, kernels = 0, arena_bytes = 0;

  [[nodiscard]] bool plans(const std::string& words) const { return plan.find(words) != std::string::npos; }
};

Made made_of(const Workload& workload, const Variant* without) {
  Made made;
  compiled::CompileOptions options;
  options.schedule.last_cache_bytes = std::int64_t{32} << 20U;  // whatever this machine has
  options.dump_after = {"plan", "loops"};
  options.dump = [&](std::string_view stage, const std::string& text) {
    if (stage == "plan") made.plan += text;
    if (stage == "loops") made.loops += text;
  };
  if (without != nullptr) without->leave_out(options);
  const compiled::Executable executable = compiled::compile(program_of(workload, DType::f32), options);
  made.equations = executable.system().equations.size();
  made.kernels = executable.report().kernels;
  made.arena_bytes = executable.report().arena_bytes;
  return made;
}

/// A convolution with 8 results of 40 places. They are one vector of columns beside short tiles, of 32 bytes or of 64, as in no workload
/// that is measured.
Workload narrow_convolution() {
  Workload w;
  w.inputs = {{"x", {4, 8, 42, 42}}, {"k", {8, 8, 3, 3}}};
  w.body = [](Tracer& tracer, const std::vector<Traced>& in) { tracer.output("y", ops::conv2d(in[0], in[1], spec::absent)); };
  return w;
}

/// How to see that a decision was taken, from what was made with it and without it.
struct Sign {
  std::string decision;
  std::string workload;  ///< none: the convolution above
  bool (*fired)(const Made& with, const Made& without);
};

/// Loops over elements begin with `for`, those that add up with `over`.
std::size_t loops_over_elements_in_lanes(const Made& made) {
  std::size_t count = 0;
  for (std::size_t at = made.loops.find("for "); at != std::string::npos; at = made.loops.find("for ", at + 1)) {
    count += made.loops.substr(at, made.loops.find('\n', at) - at).find(" lanes") != std::string::npos ? 1 : 0;
  }
  return count;
}

const std::vector<Sign> signs{
    {"fusion", "softmax", [](const Made& with, const Made& without) {
       return with.kernels < with.equations && without.kernels == without.equations && without.plans("fusion is off");
     }},
    {"inlining", "train-gpt", [](const Made& with, const Made& without) { return with.equations < without.equations && with.arena_bytes < without.arena_bytes; }},
    {"sharing", "train-gpt", [](const Made& with, const Made& without) { return with.equations < without.equations && with.kernels < without.kernels; }},
    {"reuse", "train-gpt", [](const Made& with, const Made& without) {
       return with.plans("in the place of ") && with.plans("bytes of an iteration") && !without.plans("in the place of ") &&
              !without.plans("bytes of an iteration") && 2 * with.arena_bytes < without.arena_bytes;
     }},
    {"recomputing", "train-gpt", [](const Made& with, const Made& without) {
       return with.plans("layer_norm1.d in 512 bytes of an iteration") && without.plans("layer_norm1.d in arena ");
     }},
    {"in-place", "train-mlp", [](const Made& with, const Made& without) {
       return with.plans("the old value is not needed once it is written") && !with.plans("updates in place are off") &&
              without.plans("updates in place are off") && !without.plans("the old value is not needed once it is written");
     }},
    {"contractions", "gemm-256", [](const Made& with, const Made& without) {
       return with.plans("a contraction: tiles of ") && !without.plans("tiles of ") && without.loops.find("tiles of ") == std::string::npos;
     }},
    {"windows", "conv-16-32-forward", [](const Made& with, const Made& without) { return with.plans("a window") && !without.plans("a window"); }},
    {"pieces", "conv-64-64-forward", [](const Made& with, const Made& without) {
       return with.plans("copies its own") && !without.plans("copies its own") && with.kernels < without.kernels && with.arena_bytes < without.arena_bytes;
     }},
    {"sharing-loads", "", [](const Made& with, const Made& without) {
       return with.plans("3 steps share loads of rows") && !without.plans("share loads") && with.kernels == without.kernels;
     }},
    {"parts", "conv-64-64-weights", [](const Made& with, const Made& without) { return with.plans("gk.parts") && !without.plans("gk.parts"); }},
    {"passing", "layer-norm", [](const Made& with, const Made& without) {
       return with.plans("ggamma.parts adds up in passing") && !without.plans("in passing");
     }},
    {"fetching", "layer-norm", [](const Made& with, const Made& without) {
       return with.loops.find("fetches d[") != std::string::npos && without.loops.find("fetches") == std::string::npos;
     }},
    {"keeping", "train-mlp", [](const Made& with, const Made& without) {
       return with.plans("right in place (it lies in panels)") && !without.plans("in place (it lies in panels)") && with.kernels < without.kernels;
     }},
    {"merging", "layer-norm", [](const Made& with, const Made& without) {
       return with.loops.find("in one pass with the loop of ggamma.parts, which visits the same elements of ") != std::string::npos &&
              without.loops.find("in one pass") == std::string::npos;
     }},
    {"lanes", "softmax", [](const Made& with, const Made& without) {
       return without.loops.find(" lanes:") != std::string::npos && loops_over_elements_in_lanes(without) == 0 && loops_over_elements_in_lanes(with) > 0;
     }},
    {"streaming", "layer-norm", [](const Made& with, const Made& without) {
       return with.loops.find("around the caches") != std::string::npos && without.loops.find("around the caches") == std::string::npos;
     }},
    {"asking", "train-cnn", [](const Made& with, const Made& without) {
       return with.plans("conv2d1 in register") && !without.plans("conv2d1 in register");
     }},
    {"strips", "attention-long-vjp", [](const Made& with, const Made& without) {
       return with.plans("wide values in strips of ") && !without.plans("wide values in strips of ") && 50 * with.arena_bytes < without.arena_bytes;
     }},
    {"splitting", "mlp-jvp", [](const Made& with, const Made& without) { return with.plans(".part0") && !without.plans(".part0"); }},
};

Workload workload_of(const Sign& sign) { return sign.workload.empty() ? narrow_convolution() : workload_named(sign.workload); }

const Sign* sign_of(const std::string& decision) {
  const auto found = std::find_if(signs.begin(), signs.end(), [&](const Sign& s) { return s.decision == decision; });
  return found == signs.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("every_decision_that_can_be_left_out_is_taken_where_it_is_meant_to_be", "[decisions]") {
  std::set<std::string> checked;
  for (const Variant& variant : variants()) {
    INFO("decision " << variant.name << ": add a sign of it to this test");
    const Sign* sign = sign_of(variant.name);
    REQUIRE(sign != nullptr);
    const Workload workload = workload_of(*sign);
    INFO(sign->workload);
    const Made with = made_of(workload, nullptr), without = made_of(workload, &variant);
    REQUIRE_FALSE(with.plan.empty());
    REQUIRE_FALSE(with.loops.empty());
    CAPTURE(with.equations, without.equations, with.kernels, without.kernels, with.arena_bytes, without.arena_bytes);
    const bool code_changes = with.plan != without.plan || with.loops != without.loops;
    CHECK(code_changes);
    CHECK(sign->fired(with, without));
    CHECK_FALSE(sign->fired(with, with));        // a sign that is always there is none
    CHECK_FALSE(sign->fired(without, without));
    checked.insert(variant.name);
  }
  CHECK(checked.size() == signs.size());  // no sign of a decision that is gone
  CHECK_FALSE(checked.empty());
}

TEST_CASE("a_workload_that_is_measured_shares_loads_on_vectors_of_64_bytes", "[decisions]") {
  const spec::System system = compiled::task_of(program_of(workload_named("conv-16-32-data"), DType::f32)).system;
  const auto plan_of = [&](bool shares) {
    std::string plan;
    compiled::CompileOptions options;
    options.schedule.share_loads = shares;
    options.dump_after = {"plan"};
    options.dump = [&](std::string_view, const std::string& text) { plan += text; };
    (void)compiled::lower_to_loops(system, {}, options, compiled::Machine{16, 32});
    return plan;
  };
  CHECK(plan_of(true).find("3 steps share loads of rows") != std::string::npos);
  CHECK(plan_of(false).find("share loads") == std::string::npos);
}
