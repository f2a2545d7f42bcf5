#include <fmt/format.h>

#include "compiled/ir/script.hpp"

namespace etalon::compiled {

namespace {

class Printer {
 public:
  explicit Printer(const spec::System& system) : system_(system) {}

  std::string operator()(const Launch& launch) const {
    std::string read;
    std::string written;
    for (const Operand& o : launch.operands) {
      std::string& list = o.written ? written : read;
      const std::string& name = system_[o.tensor].name;
      const bool own = o.memory.of != Memory::Of::arena && tensor_of(o.memory) == o.tensor;
      list += (list.empty() ? "" : ", ") + (own ? name : fmt::format("{} in {}", name, text(o.memory)));
    }
    const auto& s = launch.scratch;
    const std::string own = s ? fmt::format("; arena [{}, {}) of its own", s->offset, s->offset + s->all_bytes()) : "";
    return fmt::format("kernel {}: {} <- {}{}", launch.kernel, written, read, own);
  }
  std::string operator()(const Fill& fill) const { return fmt::format("zeros: {}", text(fill.memory)); }
  std::string operator()(const Move& move) const { return fmt::format("copy: {} <- {}", text(move.to), text(move.from)); }

 private:
  /// Of an input or an output.
  [[nodiscard]] TensorId tensor_of(const Memory& m) const { return (m.of == Memory::Of::input ? system_.inputs : system_.outputs).at(m.index); }
  [[nodiscard]] std::string text(const Memory& m) const {
    if (m.of == Memory::Of::arena) return fmt::format("arena [{}, {})", m.offset, m.offset + m.bytes);
    return system_[tensor_of(m)].name;
  }

  const spec::System& system_;
};

}  // namespace

std::string to_text(const spec::System& system, const Script& script) {
  std::string text;
  for (std::size_t n = 0; n < script.commands.size(); ++n) {
    std::string after;
    for (const std::size_t b : script.commands[n].after) after += fmt::format("{}{}", after.empty() ? "; after " : ", ", b);
    text += fmt::format("{}: {}{}\n", n, std::visit(Printer(system), script.commands[n].does), after);
  }
  return text;
}

}  // namespace etalon::compiled
