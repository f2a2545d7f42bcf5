#include "tests/fuzz/run_compiled.hpp"

#ifdef ETALON_COMPILED
#include <memory>
#include <string>

#include "compiled/runtime/processor.hpp"
#include "compiled/runtime/c_backend.hpp"
#include "compiled/runtime/question.hpp"
#include "compiled/runtime/unit.hpp"
#include "spec/error.hpp"
#include "tests/compiled/between_pages.hpp"
#include "tests/fuzz/definition_maker.hpp"
#include "tests/fuzz/target.hpp"

namespace etalon::fuzz {
bool run_between_guards(const spec::Program& program) {
  // Code stays with its compiler: a new one now and then bounds the memory.
  static std::shared_ptr<compiled::Processor> processor;
  static std::size_t made = 0;
  constexpr std::size_t together = 200;
  if (made++ % together == 0) processor = std::make_shared<compiled::Processor>();
  compiled::CompileOptions options;
  options.verify = false;  // as released: a pass may leave what it can no longer prove
  bool ran = false;
  (void)accepted([&] {
    compiled::Unit unit(compiled::outputs_of(program), options, *processor, {});
    const std::vector<HostTensor> inputs = values_for(program);
    const auto first = test::run_between_pages(unit, inputs, test::BetweenPages::At::end, std::byte{0x55});
    const auto second = test::run_between_pages(unit, inputs, test::BetweenPages::At::begin, std::byte{0xEE});
    if (second != first) broken("the bytes around a tensor do not matter", program.definitions.front());
    ran = true;
  });
  return ran;
}

bool EmittedC::take(const spec::Program& program) {
  constexpr std::size_t together = 40;
  waiting_.push_back(program);
  if (waiting_.size() == together) finish();
  return true;
}

void EmittedC::finish() {
  if (waiting_.empty()) return;
  std::vector<spec::System> systems;
  for (const spec::Program& p : waiting_) systems.push_back(compiled::outputs_of(p));
  const compiled::source::CCompiler compiler{ETALON_C_COMPILER, "-std=c99 -O1 -w -ffp-contract=off -fsanitize=address"};
  const auto runners = compiled::source::run_together_as_c(systems, compiler);
  for (std::size_t i = 0; i < runners.size(); ++i) (void)runners[i](values_for(waiting_[i]));
  waiting_.clear();
}

}  // namespace etalon::fuzz
#else
namespace etalon::fuzz {
bool run_between_guards(const spec::Program&) { return false; }
bool EmittedC::take(const spec::Program&) { return false; }
void EmittedC::finish() {}
}  // namespace etalon::fuzz
#endif
