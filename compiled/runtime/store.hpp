/// \file
/// Named typed buffers that live between runs: parameters, optimizer state, data, inputs. Several executables bind one
/// store. It knows nothing of programs.
#pragma once

#include <cstddef>
#include <map>
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

/// Every entry has a fixed type; it has a value once it was written. It knows no lock: several threads
/// may only read it at the same time, as runs do that update nothing, once its entries lie as they want them (executable.hpp).
class Store {
 public:
  struct Entry {
    DType dtype = DType::f32;
    Dims dims;
    Buffer buffer;
    bool written = false;
    std::optional<Panels> panels{};  ///< how the elements lie in the buffer; nothing: in row-major order
    bool settled = false;            ///< an executable that updates it has decided how it lies
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
  /// A copy of the value. \throws SpecViolation when there is no such entry or it has no value.
  [[nodiscard]] HostTensor read(const std::string& name) const;
  [[nodiscard]] bool contains(const std::string& name) const { return entries_.count(name) != 0; }
  [[nodiscard]] bool has_value(const std::string& name) const;
  /// The names of all entries, ascending.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] spec::ValueType type_of(const std::string& name) const;

  /// Has the entry lie so from now on. Its value stays.
  static void lay_out(Entry& entry, const std::optional<Panels>& panels);

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
