/// \file
/// Where programs run: whoever has kernels made for it, memory, and a way to run scripts. It knows neither programs' names nor
/// stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <boost/core/noncopyable.hpp>

#include "compiled/compile.hpp"
#include "compiled/emit/code_generator.hpp"
#include "compiled/ir/script.hpp"
#include "compiled/machine/machine.hpp"
#include "compiled/report.hpp"
#include "spec/error.hpp"

namespace etalon::compiled {

/// Where the memories of a script begin, on its device.
struct Addresses {
  std::span<std::byte* const> inputs;
  std::span<std::byte* const> outputs;  ///< null for those that are written in an input's place
  std::byte* arena = nullptr;

  [[nodiscard]] std::byte* at(const Memory& memory) const {
    switch (memory.of) {
      case Memory::Of::input: return inputs[memory.index] + memory.offset;
      case Memory::Of::output: return outputs[memory.index] + memory.offset;
      case Memory::Of::arena: break;
    }
    return arena + memory.offset;
  }
};

/// A point in what a device was asked to do. It has passed when all before it is done.
struct Event {
  std::uint64_t number = 0;
};

/// A module on memory: what it finds out about addresses serves all runs on the same ones. One run at a time.
class Replay : boost::noncopyable {
 public:
  virtual ~Replay() = default;

  /// Asks the device to run the script. What it reads and writes is left alone until the event has passed.
  /// \throws DeviceError when the device did not take it; then nothing of it is done.
  virtual Event run(const Addresses& addresses) = 0;
};

/// The kernels of one program on a device, and the script that runs them. Nothing of it changes: replays of one module run at the same
/// time, on memory that they do not share.
class Module : boost::noncopyable {
 public:
  virtual ~Module() = default;

  /// The module outlives it.
  [[nodiscard]] virtual std::unique_ptr<Replay> replay() const = 0;
  /// Of the arena that it is given, where kernels take more of it than the compiler's script says.
  [[nodiscard]] virtual std::size_t arena_bytes() const { return 0; }
};

/// The kernels of one program in the making.
class ModuleBuilder : boost::noncopyable {
 public:
  virtual ~ModuleBuilder() = default;

  /// Who makes code of the loops, for the list of stages (compile.hpp).
  [[nodiscard]] virtual CodeGenerator& generator() = 0;
  /// Brings what was generated to the device, once, after the last stage.
  /// \param report gets what kernels take
  /// \throws DeviceError
  [[nodiscard]] virtual std::unique_ptr<const Module> load(const Compilation& made, Report& report) = 0;
};

/// It does what it is asked in the order in which it is asked, and may do it later. From any thread.
///
/// A call that throws has done nothing. Where a script fails after it was taken, `wait` and `download` throw, and so does
/// everything after: what lies on such a device is lost.
class Device : boost::noncopyable {
 public:
  virtual ~Device() = default;

  /// A word for messages.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// What loops are made for.
  [[nodiscard]] virtual Machine machine() const = 0;
  /// Whether its memory is the host's: addresses of one are good on the other, nothing is copied, and what it was asked is done when a
  /// call returns.
  [[nodiscard]] virtual bool is_host() const = 0;

  [[nodiscard]] virtual std::unique_ptr<ModuleBuilder> build(const Wanted& wanted) = 0;

  /// Memory that begins a cache line, or what else the device's widest access asks for; what is in it is anything.
  /// \param bytes more than none
  /// \throws DeviceError
  [[nodiscard]] virtual std::byte* allocate(std::size_t bytes) = 0;
  /// Takes it back when all that was asked for before is done.
  virtual void release(std::byte* memory) noexcept = 0;

  /// Copies from the host, whose bytes are free again on return. \throws DeviceError
  virtual void upload(std::byte* to, std::span<const std::byte> from) = 0;
  /// Copies to the host, where the bytes are there on return. \throws DeviceError
  virtual void download(std::span<std::byte> to, const std::byte* from) = 0;

  /// Returns when the event has passed. \throws DeviceError when something before it failed
  virtual void wait(Event event) = 0;
};

/// What `go` does, whose complaints about a device begin with what it was for.
template <class Do>
decltype(auto) naming(const std::string& what, Do go) {
  try {
    return go();
  } catch (const DeviceError& e) {
    throw DeviceError(what + ": " + e.what());
  }
}

}  // namespace etalon::compiled
