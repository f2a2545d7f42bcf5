#include "tests/fuzz/run_compiled.hpp"

#ifdef ETALON_COMPILED
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>

#include "compiled/codegen/jit.hpp"
#include "compiled/question.hpp"
#include "compiled/source/c_backend.hpp"
#include "compiled/unit.hpp"
#include "spec/error.hpp"
#include "tests/fuzz/definition_maker.hpp"
#include "tests/fuzz/target.hpp"

namespace etalon::fuzz {
namespace {

/// Bytes between two pages that may not be touched, at their end or at their begin.
class Guarded {
 public:
  Guarded(const Bytes& content, bool at_end, std::byte around) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (content.size() / page + 1) * page;
    size_ = inner + 2 * page;
    whole_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (whole_ == MAP_FAILED || mprotect(whole_ + page, inner, PROT_READ | PROT_WRITE) != 0) throw IoError("no memory between pages");
    std::memset(whole_ + page, static_cast<int>(around), inner);
    begin_ = whole_ + page + (at_end ? inner - content.size() : 0);
    if (!content.empty()) std::memcpy(begin_, content.data(), content.size());
  }
  ~Guarded() { munmap(whole_, size_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  [[nodiscard]] std::byte* begin() const { return begin_; }

 private:
  std::byte* whole_ = nullptr;
  std::byte* begin_ = nullptr;
  std::size_t size_ = 0;
};

std::vector<Bytes> outputs_of(compiled::Unit& unit, const std::vector<HostTensor>& inputs, bool at_end, std::byte around) {
  std::vector<std::unique_ptr<Guarded>> memory;
  std::vector<std::byte*> in;
  for (const HostTensor& t : inputs) {
    memory.push_back(std::make_unique<Guarded>(t.bytes, at_end, around));
    in.push_back(memory.back()->begin());
  }
  std::vector<Bytes> results;
  std::vector<std::byte*> out;
  for (const spec::TensorId o : unit.system().outputs) {
    const spec::TensorInfo& info = unit.system()[o];
    results.emplace_back(static_cast<std::size_t>(info.dims.count()) * size_of(info.dtype));
  }
  for (Bytes& r : results) out.push_back(r.data());
  unit.run(in, out);
  return results;
}

}  // namespace

bool run_between_guards(const spec::Program& program) {
  // Code stays with its compiler: a new one now and then bounds the memory.
  static std::shared_ptr<compiled::Jit> jit;
  static std::size_t made = 0;
  constexpr std::size_t together = 200;
  if (made++ % together == 0) jit = std::make_shared<compiled::Jit>();
  compiled::CompileOptions options;
  options.pipeline.verify = false;  // as released: a pass may leave what it can no longer prove
  bool ran = false;
  (void)accepted([&] {
    compiled::Unit unit(compiled::outputs_of(program), options, jit, std::make_shared<compiled::Buffer>(), {});
    const std::vector<HostTensor> inputs = values_for(program);
    const auto first = outputs_of(unit, inputs, true, std::byte{0x55});
    if (outputs_of(unit, inputs, false, std::byte{0xEE}) != first) broken("the bytes around a tensor do not matter", program.definitions.front());
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
