#include "cuda/nvrtc.hpp"

#include "spec/error.hpp"

#ifdef ETALON_HAS_NVRTC
#include <fmt/format.h>
#include <nvrtc.h>

#include <algorithm>
#include <array>
#include <vector>

#include "compiled/emit/kept_code.hpp"
#endif

namespace etalon::cuda {

#ifdef ETALON_HAS_NVRTC

namespace {

constexpr std::size_t quoted_message = 600;
constexpr const char* rounding_option = "--fmad=false";

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

void compile(const Compilation& c, const std::string& architecture) {
  const std::string target = "--gpu-architecture=" + architecture;
  const std::array options{target.c_str(), rounding_option};
  const nvrtcResult done = nvrtcCompileProgram(c.program, static_cast<int>(options.size()), options.data());
  if (done == NVRTC_ERROR_INVALID_OPTION) {
    throw SpecViolation("nvrtc: architecture `" + architecture + "` is not known to this toolkit; expected one like `" +
                        std::string(default_architecture) + "`");
  }
  const std::string log = log_of(c);
  if (done != NVRTC_SUCCESS || !log.empty()) throw InternalError("nvrtc: " + (log.empty() ? nvrtcGetErrorString(done) : log.substr(0, quoted_message)));
}

std::string ptx_of(const Compilation& c) {
  std::size_t size = 0;
  if (nvrtcGetPTXSize(c.program, &size) != NVRTC_SUCCESS || size == 0) throw InternalError("nvrtc: no PTX");
  std::string ptx(size, '\0');
  nvrtcGetPTX(c.program, ptx.data());
  ptx.resize(size - 1);
  return ptx;
}

std::string machine_code_of(const Compilation& c) {
  std::size_t size = 0;
  if (nvrtcGetCUBINSize(c.program, &size) != NVRTC_SUCCESS || size == 0) throw InternalError("nvrtc: no machine code");
  std::string code(size, '\0');
  nvrtcGetCUBIN(c.program, code.data());
  return code;
}

std::vector<int> known_capabilities() {
  int count = 0;
  if (nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS) throw InternalError("nvrtc: it does not say which architectures it knows");
  std::vector<int> all(static_cast<std::size_t>(count));
  nvrtcGetSupportedArchs(all.data());
  return all;
}

}  // namespace

bool has_nvrtc() { return true; }

std::string key_of_image(const std::string& text, std::string_view architecture) {
  int major = 0, minor = 0;
  if (nvrtcVersion(&major, &minor) != NVRTC_SUCCESS) throw InternalError("nvrtc: it does not say its version");
  return compiled::KeptCode::key_of(fmt::format("NVRTC {}.{} {} {}", major, minor, rounding_option, architecture), text);
}

std::string compile_to_ptx(const std::string& text, std::string_view architecture) {
  const Compilation c(text);
  compile(c, std::string(architecture));
  return ptx_of(c);
}

MachineCode compile_to_machine_code(const std::string& text, std::string_view architecture) {
  if (!architecture.starts_with("sm_"))
    throw SpecViolation("nvrtc: machine code is for an architecture like `sm_90`, found `" + std::string(architecture) + "`");
  const Compilation c(text);
  compile(c, std::string(architecture));
  return {machine_code_of(c), ptx_of(c)};
}

std::string image_architecture(int capability) {
  int nearest = 0;
  for (const int known : known_capabilities()) {
    if (known <= capability) nearest = std::max(nearest, known);
  }
  if (nearest == 0) throw Unsupported("nvrtc: no architecture of this toolkit is as old as compute capability " + std::to_string(capability / 10) + "." + std::to_string(capability % 10));
  return (nearest == capability ? "sm_" : "compute_") + std::to_string(nearest);
}

Image compile_for(const std::string& text, int capability) {
  const std::string architecture = image_architecture(capability);
  const Compilation c(text);
  compile(c, architecture);
  return {architecture.starts_with("sm_") ? machine_code_of(c) : ptx_of(c), architecture};
}

#else

bool has_nvrtc() { return false; }

namespace {

[[noreturn]] void refuse() {
  throw Unsupported("nvrtc: not in this build; install the CUDA toolkit (12 or later) and configure with -DETALON_CUDA=ON");
}

}  // namespace

std::string key_of_image(const std::string&, std::string_view) { refuse(); }
std::string compile_to_ptx(const std::string&, std::string_view) { refuse(); }
MachineCode compile_to_machine_code(const std::string&, std::string_view) { refuse(); }
std::string image_architecture(int) { refuse(); }
Image compile_for(const std::string&, int) { refuse(); }

#endif

}  // namespace etalon::cuda
