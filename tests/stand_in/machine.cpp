#include "tests/stand_in/machine.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>
#include <vector>

namespace etalon::test {

using cuda::emulator::Extent;
using cuda::emulator::Memory;

Machine& machine() {
  static Machine one;
  return one;
}

bool fails() { return machine().told.calls++ == machine().told.fails_at; }

CUresult work() {
  Machine& m = machine();
  for (; !m.waiting.empty(); m.waiting.pop_front()) {
    try {
      if (m.broken == CUDA_SUCCESS) m.waiting.front()();
    } catch (const std::exception&) {
      m.broken = CUDA_ERROR_LAUNCH_FAILED;
    }
  }
  return m.broken;
}

std::size_t parameters_of(const std::string& text, const std::string& kernel) {
  const std::size_t begin = text.find('(', text.find("__global__ void " + kernel + "(")), end = text.find(')', begin);
  const std::string inside = text.substr(begin + 1, end - begin - 1);
  return inside.empty() ? 0 : 1 + static_cast<std::size_t>(std::count(inside.begin(), inside.end(), ','));
}

Deed copying(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return [to, from, bytes] {
    const Memory::Open open(machine().memory, {at(from), at(to)});
    std::memcpy(at(to), at(from), bytes);
  };
}

Deed setting(CUdeviceptr to, unsigned char value, std::size_t bytes) {
  return [to, value, bytes] {
    const Memory::Open open(machine().memory, {at(to)});
    std::memset(at(to), value, bytes);
  };
}

Deed launching(const CUfunc_st& function, const Extent& extent, void** parameters) {
  std::vector<CUdeviceptr> values;
  for (std::size_t n = 0; n < function.parameters; ++n) values.push_back(*static_cast<CUdeviceptr*>(parameters[n]));
  return [&function, extent, values = std::move(values)]() mutable {
    std::vector<void*> pointers;
    std::vector<const std::byte*> touched;
    for (CUdeviceptr& value : values) {
      pointers.push_back(&value);
      touched.push_back(at(value));
    }
    const Memory::Open open(machine().memory, touched);
    function.module->object->launch(function.name, extent, pointers.data(), machine().course);
  };
}

}  // namespace etalon::test
