/// \file
/// What the fake plug-in makes, counted: a test asks how many of each there are.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/pjrt/c_api.hpp"
#include "spec/host_tensor.hpp"
#include "tests/pjrt_plugin/meaning.hpp"

namespace etalon::test {

/// Made and destroyed, of everything; a crash aside, both are the same in the end.
struct Counts {
  std::uint64_t made = 0, destroyed = 0, compiled = 0;
};
[[nodiscard]] Counts& counts();

/// Counts itself.
struct Counted {
  Counted() { ++counts().made; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { ++counts().destroyed; }
};

}  // namespace etalon::test

namespace etalon::conformance::pjrt {

struct Error : test::Counted {
  Error(std::string text, int number) : message(std::move(text)), code(number) {}
  std::string message;
  int code;
};
/// Ready when it is awaited, and only then is done what it stands for: who does not wait sees nothing.
struct Event : test::Counted {
  std::function<void()> action;
  std::string error;
};
struct Device {};
struct Client : test::Counted {
  Device device;
  Device* devices[1] = {&device};
};
struct LoadedExecutable : test::Counted {
  test::Meaning meaning;
};
struct Executable : test::Counted {
  std::size_t outputs = 0;
};
struct Buffer : test::Counted {
  explicit Buffer(HostTensor numbers) : tensor(std::move(numbers)), dims(tensor.dims.begin(), tensor.dims.end()) {}
  HostTensor tensor;
  std::vector<std::int64_t> dims;
};

}  // namespace etalon::conformance::pjrt
