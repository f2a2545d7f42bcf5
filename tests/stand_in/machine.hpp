// What the driver that stands in (driver.cpp, graph.cpp) drives: memory, what waits to be done, and what a stream can
// be asked.
#pragma once

#include <cuda.h>

#include <bit>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cuda/emulator/memory.hpp"
#include "cuda/emulator/object.hpp"
#include "tests/stand_in/driver.hpp"

struct CUmod_st {
  std::shared_ptr<const etalon::cuda::emulator::Object> object;
  std::map<std::string, CUfunc_st*> functions;
};
struct CUfunc_st {
  CUmod_st* module;
  std::string name;
  std::size_t parameters = 0;
  unsigned most_shared = 48U << 10U;  ///< dynamic shared memory that a launch may ask for
};

namespace etalon::test {

using Deed = std::function<void()>;

struct Machine {
  StandIn told;
  cuda::emulator::Memory memory;
  cuda::emulator::Course course{1};
  std::deque<Deed> waiting;
  CUresult broken = CUDA_SUCCESS;  ///< a failure inside a stream stays
};

/// The one that there is.
Machine& machine();

/// Counts a call; whether it is the one that was told to fail.
bool fails();

/// Does all that waits. All memory may be touched meanwhile.
CUresult work();

inline std::byte* at(CUdeviceptr pointer) { return std::bit_cast<std::byte*>(pointer); }

/// How many parameters the kernel of that name has in the text.
std::size_t parameters_of(const std::string& text, const std::string& kernel);

/// What streams and graphs do, for when it is time. Values of parameters are read now.
Deed copying(CUdeviceptr to, CUdeviceptr from, std::size_t bytes);
Deed setting(CUdeviceptr to, unsigned char value, std::size_t bytes);
Deed launching(const CUfunc_st& function, const cuda::emulator::Extent& extent, void** parameters);

}  // namespace etalon::test
