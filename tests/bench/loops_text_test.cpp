// The loops of all workloads are read back from their text, and run as they did.
#include <catch2/catch.hpp>
#include <string>

#include "compiled/compile.hpp"
#include "compiled/ir/parse_loops.hpp"
#include "compiled/runtime/executable.hpp"
#include "compiled/task.hpp"
#include "tools/bench/workload.hpp"

using namespace etalon;
using namespace etalon::bench;

TEST_CASE("loops_of_all_workloads_are_what_their_text_says", "[loops]") {
  std::size_t kernels = 0;
  for (const Workload& workload : all_workloads()) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      INFO(workload.name);
      const compiled::Task task = compiled::task_of(program_of(workload, dtype));
      const compiled::Compilation made = compiled::lower_to_loops(task.system, task.updates, {}, compiled::Machine{16, 32});
      for (const compiled::loops::Nest& nest : made.nests) {
        const std::string text = to_text(made.system, nest);
        INFO(text);
        const compiled::loops::Nest again = compiled::loops::parse_nest(made.system, text);
        CHECK(to_text(made.system, again) == text);
        CHECK(again == nest);
        ++kernels;
      }
    }
  }
  CHECK(kernels > 500);
}
