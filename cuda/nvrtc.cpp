#include "cuda/nvrtc.hpp"

#include "spec/error.hpp"

#ifdef ETALON_HAS_NVRTC
#include <nvrtc.h>

#include <array>
#include <vector>
#endif

namespace etalon::cuda {

#ifdef ETALON_HAS_NVRTC

namespace {

constexpr std::size_t quoted_message = 600;

/// Frees what it holds.
struct Compilation {
  nvrtcProgram program = nullptr;
  explicit Compilation(const std::string& text) {
    const nvrtcResult made = nvrtcCreateProgram(&program, text.c_str(), "program.cu", 0, nullptr, nullptr);
    if (made != NVRTC_SUCCESS) throw InternalError(std::string("nvrtc: ") + nvrtcGetErrorString(made));
  }
  ~Compilation() { nvrtcDestroyProgram(&program); }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
};

std::string log_of(const Compilation& c) {
  std::size_t size = 0;
  if (nvrtcGetProgramLogSize(c.program, &size) != NVRTC_SUCCESS || size <= 1) return {};
  std::string log(size, '\0');
  nvrtcGetProgramLog(c.program, log.data());
  log.resize(size - 1);
  return log;
}

}  // namespace

bool has_nvrtc() { return true; }

std::string compile_to_ptx(const std::string& text, std::string_view architecture) {
  const Compilation c(text);
  const std::string target = "--gpu-architecture=" + std::string(architecture);
  const std::array options{target.c_str(), "--fmad=false"};
  const nvrtcResult done = nvrtcCompileProgram(c.program, static_cast<int>(options.size()), options.data());
  if (done == NVRTC_ERROR_INVALID_OPTION) {
    throw SpecViolation("nvrtc: architecture `" + std::string(architecture) + "` is not known to this toolkit; expected one like `" +
                        std::string(default_architecture) + "`");
  }
  const std::string log = log_of(c);
  if (done != NVRTC_SUCCESS || !log.empty()) throw InternalError("nvrtc: " + (log.empty() ? nvrtcGetErrorString(done) : log.substr(0, quoted_message)));
  std::size_t size = 0;
  if (nvrtcGetPTXSize(c.program, &size) != NVRTC_SUCCESS || size == 0) throw InternalError("nvrtc: no PTX");
  std::string ptx(size, '\0');
  nvrtcGetPTX(c.program, ptx.data());
  ptx.resize(size - 1);
  return ptx;
}

#else

bool has_nvrtc() { return false; }

std::string compile_to_ptx(const std::string&, std::string_view) {
  throw Unsupported("nvrtc: not in this build; install the CUDA toolkit (12 or later) and configure with -DETALON_CUDA=ON");
}

#endif

}  // namespace etalon::cuda
