/// \file
/// Named typed buffers that live between runs: parameters, optimizer state, data, inputs. Several executables bind one
/// store. It knows nothing of programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compiled/ir/panels.hpp"
#include "compiled/runtime/buffer.hpp"
#include "spec/host_tensor.hpp"
#include "spec/program/program.hpp"

namespace etalon::compiled {

/// An entry lives where programs run that use it: its newest value is on the host, on one device, or on both, and is copied when
/// somebody asks for it where it is not.
///
/// Every entry has a fixed type; it has a value once it was written. It knows no lock: several threads
/// may only read it at the same time, as runs do that update nothing, once its entries lie as they want them (executable.hpp).
class Store {
 public:
  /// Where the newest value of an entry is.
  enum class Newest : std::uint8_t { host, device, both };

  struct Entry {
    DType dtype = DType::f32;
    Dims dims;
    Buffer buffer;                   ///< the host's memory of it
    bool written = false;
    Newest newest = Newest::host;
    bool settled = false;            ///< an executable that updates it has decided how it lies
    std::optional<Panels> panels{};  ///< how the elements lie in memory; nothing: in row-major order
    Buffer remote{};                 ///< memory of the device whose programs use it, as large; none while these are the host's
    std::string name{};
  };

  /// Makes an entry without a value. Declaring the same name with the same type again does nothing.
  /// \throws SpecViolation when the name has another type.
  void declare(const std::string& name, DType dtype, const Dims& dims);
  /// Copies the value in. \throws SpecViolation when there is no such entry or the type differs; nothing is written.
  void write(const std::string& name, const HostTensor& value);
  /// Copies the elements in, given in row-major order. \throws SpecViolation when there is no such entry or it holds another number of bytes.
  void write_bytes(const std::string& name, std::span<const std::byte> elements);
  /// Declares where needed, then writes.
  void put(const std::string& name, const HostTensor& value);
  /// A copy of the value, from wherever it is newest. \throws SpecViolation when there is no such entry or it has no value, DeviceError
  [[nodiscard]] HostTensor read(const std::string& name) const;
  [[nodiscard]] bool contains(const std::string& name) const { return entries_.count(name) != 0; }
  [[nodiscard]] bool has_value(const std::string& name) const;
  /// The names of all entries, ascending.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] spec::ValueType type_of(const std::string& name) const;

  /// Has the entry live on the host again, with its newest value, so that programs of any device may use it. \throws SpecViolation when there
  /// is no such entry, DeviceError
  void bring_home(const std::string& name);

  /// Has the entry lie so from now on. Its value stays. \throws DeviceError, before anything is changed
  static void lay_out(Entry& entry, const std::optional<Panels>& panels);
  /// Where the newest value is in the host's memory; it is copied there where it is newer on a device. \throws DeviceError
  [[nodiscard]] static std::byte* on_host(Entry& entry);
  /// Where the newest value is in the device's memory, copied there where it is newer on the host. \throws SpecViolation where it is newest
  /// on another device: such an entry is brought home first; DeviceError
  [[nodiscard]] static std::byte* on_device(Entry& entry, const std::shared_ptr<Device>& device);

  /// The entry itself, for executables. The buffer may be exchanged for another of the same size by a run.
  [[nodiscard]] Entry& entry(const std::string& name);
  [[nodiscard]] const Entry& entry(const std::string& name) const;
  /// The entry of that name, or null.
  [[nodiscard]] Entry* find(const std::string& name) {
    const auto it = entries_.find(name);
    return it == entries_.end() ? nullptr : &it->second;
  }

 private:
  std::map<std::string, Entry> entries_;
};

}  // namespace etalon::compiled
