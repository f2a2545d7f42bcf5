#include "cuda/emulator/prologue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>

#include "spec/error.hpp"

namespace etalon::cuda::emulator {

namespace {

/// As NVRTC, which has no headers: the text brings its own types. Places where threads wait are told apart by their lines.
constexpr std::string_view before = R"(#define __CUDACC_RTC__ 1
#define ET_EMULATED 1
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
struct alignas(16) float4 { float x, y, z, w; };
struct et_triple { unsigned x, y, z; };
struct et_state {
  et_triple thread, block, block_size, grid_size;
  void *shared, *scheduler;
  void (*wait_for_block)(void *, int);
  unsigned long (*exchange)(void *, unsigned, unsigned, unsigned long, int);
  void *watcher;
  void (*access)(void *, const void *, unsigned, bool, const void *);
  void (*copy)(void *, void *, const void *, unsigned, unsigned, const void *, int);
  void (*close_copies)(void *);
  void (*wait_for_copies)(void *, unsigned);
};
static et_state et_emulated;
extern "C" __attribute__((visibility("default"))) et_state *et_emulated_state() { return &et_emulated; }
#define threadIdx et_emulated.thread
#define blockIdx et_emulated.block
#define blockDim et_emulated.block_size
#define gridDim et_emulated.grid_size
#define warpSize 32

static inline void __syncthreads(int line = __builtin_LINE()) { et_emulated.wait_for_block(et_emulated.scheduler, line); }
static inline int et_lane() { return (int)((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32u); }
template <class T> static inline T et_exchange(unsigned mask, int source, T value, int line) {
  static_assert(sizeof(T) <= 8, "what lanes exchange has at most eight bytes");
  unsigned long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = et_emulated.exchange(et_emulated.scheduler, mask, (unsigned)source, bits, line);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
static inline void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE()) { (void)et_exchange(mask, -1, 0, line); }
template <class T> static inline T __shfl_sync(unsigned mask, T value, int from, int width = 32, int line = __builtin_LINE()) {
  return et_exchange(mask, (et_lane() & ~(width - 1)) | (from & (width - 1)), value, line);
}
template <class T> static inline T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, int line = __builtin_LINE()) {
  const int lane = et_lane();
  return et_exchange(mask, (lane & (width - 1)) < (int)by ? lane : lane - (int)by, value, line);
}
template <class T> static inline T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, int line = __builtin_LINE()) {
  const int lane = et_lane();
  return et_exchange(mask, (lane & (width - 1)) + (int)by < width ? lane + (int)by : lane, value, line);
}
template <class T> static inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, int line = __builtin_LINE()) {
  const int lane = et_lane(), other = lane ^ bits;
  return et_exchange(mask, other < (lane & ~(width - 1)) + width ? other : lane, value, line);
}

#define ET_COPY(name, size) \
  static inline void name(void *to, const void *from, int bytes, int line = __builtin_LINE()) { \
    et_emulated.copy(et_emulated.scheduler, to, from, size, (unsigned)bytes, __builtin_return_address(0), line); \
  }
ET_COPY(copy_by_cache_4, 4) ET_COPY(copy_by_cache_8, 8) ET_COPY(copy_past_cache_16, 16)
#undef ET_COPY
static inline void close_copies() { et_emulated.close_copies(et_emulated.scheduler); }
template <int but> static inline void wait_for_copies() { et_emulated.wait_for_copies(et_emulated.scheduler, but); }

#define memcpy __builtin_memcpy
static inline bool isnan(float x) { return __builtin_isnan(x); }
static inline bool isnan(double x) { return __builtin_isnan(x); }
static inline bool isinf(float x) { return __builtin_isinf(x) != 0; }
static inline bool isinf(double x) { return __builtin_isinf(x) != 0; }
static inline bool isfinite(float x) { return __builtin_isfinite(x); }
static inline bool isfinite(double x) { return __builtin_isfinite(x); }
static inline bool signbit(float x) { return __builtin_signbit(x) != 0; }
static inline bool signbit(double x) { return __builtin_signbit(x) != 0; }

struct et_values { void *const *next; };
template <class T> static inline T et_take(et_values &values) { return *static_cast<const T *>(*values.next++); }
template <class... P> struct et_call { et_call(void (*kernel)(P...), P... values) { kernel(values...); } };
template <class... P> static inline void et_run(void (*kernel)(P...), void *const *pointers) {
  et_values values{pointers};
  (void)values;
  et_call<P...>{kernel, et_take<P>(values)...};
}
)";

/// Products of small matrices by a warp, from where PTX's manual says that elements are: of A (row i, step k), of B (step k, column j), of C
/// (row i, column j) each has a lane, a register and a place in it. Products are exact; a sum's terms are aligned to the largest, and cut off
/// below the last of its 24 bits, as is the sum.
constexpr std::string_view tensor_cores = R"(
struct et_bf16 {
  static const int steps = 16;
  static double of(unsigned bits) { float x; bits <<= 16; __builtin_memcpy(&x, &bits, 4); return x; }
};
struct et_f16 {
  static const int steps = 16;
  static double of(unsigned bits) {
    const int exponent = (int)(bits >> 10 & 31u), fraction = (int)(bits & 1023u);
    const double size = exponent == 31 ? (fraction != 0 ? __builtin_nan("") : __builtin_inf())
                        : exponent == 0 ? __builtin_ldexp(fraction, -24) : __builtin_ldexp(1024 + fraction, exponent - 25);
    return (bits & 0x8000u) != 0 ? -size : size;
  }
};
struct et_tf32 {
  static const int steps = 8;
  static double of(unsigned bits) { float x; bits &= 0xffffe000u; __builtin_memcpy(&x, &bits, 4); return x; }
};
// Step k of a register of eight halves of a row: lanes hold two neighbours, or one number.
template <class T> static inline double et_step(const unsigned long (&held)[4][2], int half_row, int k, int halves) {
  const int packed = T::steps / 8, lane = k / packed % 4, later = k / (4 * packed);
  const unsigned long both = held[lane][later];
  const unsigned bits = (unsigned)(halves == 1 ? both : both >> (32 * half_row));
  return T::of(packed == 1 ? bits : bits >> (16 * (k % 2)) & 0xffffu);
}
template <int n> static inline float et_added(const double (&terms)[n]) {
  double largest = 0, plain = 0;
  bool finite = true;
  for (double t : terms) {
    plain += t;
    finite = finite && __builtin_isfinite(t);
    largest = __builtin_fabs(t) > largest ? __builtin_fabs(t) : largest;
  }
  if (!finite || largest == 0) return (float)plain;
  const int last = __builtin_ilogb(largest) - 23;
  double sum = 0;
  for (double t : terms) sum += __builtin_trunc(__builtin_ldexp(t, -last));
  const double exact = __builtin_ldexp(sum, last);
  const float near = (float)exact;
  if (!__builtin_isfinite(near) || __builtin_fabs((double)near) <= __builtin_fabs(exact)) return near;
  return __builtin_nextafterf(near, 0.0f);
}
template <class T> static inline void et_mma(float *(&d)[4], const unsigned *a, const unsigned *b, int line) {
  const int lane = et_lane(), group = lane / 4, member = lane % 4;
  unsigned long rows[4][2], columns[2][4][2];
  for (int q = 0; q < 4; ++q) {
    // Registers 0 and 1 are rows `group` and `group + 8` of the first steps, 2 and 3 of the later ones.
    for (int later = 0; later < 2; ++later)
      rows[q][later] = et_exchange(0xffffffffu, group * 4 + q, (unsigned long)a[2 * later] | (unsigned long)a[2 * later + 1] << 32, line);
    for (int c = 0; c < 2; ++c)
      for (int later = 0; later < 2; ++later) columns[c][q][later] = et_exchange(0xffffffffu, (2 * member + c) * 4 + q, (unsigned long)b[later], line);
  }
  for (int half = 0; half < 2; ++half) {
    for (int c = 0; c < 2; ++c) {
      double terms[T::steps + 1];
      for (int k = 0; k < T::steps; ++k) terms[k] = et_step<T>(rows, half, k, 2) * et_step<T>(columns[c], 0, k, 1);
      terms[T::steps] = *d[2 * half + c];
      *d[2 * half + c] = et_added(terms);
    }
  }
}
#define ET_MMA(name, type) \
  static inline void name(float &d0, float &d1, float &d2, float &d3, const unsigned *a, const unsigned *b, int line = __builtin_LINE()) { \
    float *d[4] = {&d0, &d1, &d2, &d3}; \
    et_mma<type>(d, a, b, line); \
  }
ET_MMA(mma_m16n8k16_bf16, et_bf16)
ET_MMA(mma_m16n8k16_f16, et_f16)
ET_MMA(mma_m16n8k8_tf32, et_tf32)
#undef ET_MMA
)";

/// What the compiler's instrumentation for thread sanitizers calls, ours instead of theirs.
constexpr std::string_view telling = R"(
#define ET_CALLED(name, ...) \
  extern "C" void et_##name(__VA_ARGS__) __asm__("__tsan_" #name); \
  extern "C" __attribute__((no_sanitize("thread"), noinline, used)) void et_##name(__VA_ARGS__)
#define ET_TOLD(name, bytes, writes) \
  ET_CALLED(name, void *at) { if (et_emulated.access) et_emulated.access(et_emulated.watcher, at, bytes, writes, __builtin_return_address(0)); }
ET_TOLD(read1, 1, false) ET_TOLD(read2, 2, false) ET_TOLD(read4, 4, false) ET_TOLD(read8, 8, false) ET_TOLD(read16, 16, false)
ET_TOLD(write1, 1, true) ET_TOLD(write2, 2, true) ET_TOLD(write4, 4, true) ET_TOLD(write8, 8, true) ET_TOLD(write16, 16, true)
ET_TOLD(unaligned_read2, 2, false) ET_TOLD(unaligned_read4, 4, false) ET_TOLD(unaligned_read8, 8, false) ET_TOLD(unaligned_read16, 16, false)
ET_TOLD(unaligned_write2, 2, true) ET_TOLD(unaligned_write4, 4, true) ET_TOLD(unaligned_write8, 8, true) ET_TOLD(unaligned_write16, 16, true)
ET_CALLED(read_range, void *at, unsigned long bytes) { if (et_emulated.access) et_emulated.access(et_emulated.watcher, at, (unsigned)bytes, false, __builtin_return_address(0)); }
ET_CALLED(write_range, void *at, unsigned long bytes) { if (et_emulated.access) et_emulated.access(et_emulated.watcher, at, (unsigned)bytes, true, __builtin_return_address(0)); }
ET_CALLED(func_entry, void *) {}
ET_CALLED(func_exit, void *) {}
ET_CALLED(init, void *) {}
)";

/// What texts call of <math.h>, for both real types.
constexpr std::array<std::string_view, 20> of_one{"sqrt", "fabs", "floor", "ceil", "trunc", "rint", "exp",  "exp2", "expm1", "log",
                                                  "log2", "log1p", "sin",  "cos",  "tan",   "sinh", "cosh", "tanh", "erf",   "cbrt"};
constexpr std::array<std::string_view, 4> of_two{"pow", "atan2", "fmod", "copysign"};

std::string declarations() {
  std::string text = "extern \"C\" {\n";
  for (const std::string_view f : of_one) text += fmt::format("float {0}f(float);\ndouble {0}(double);\n", f);
  for (const std::string_view f : of_two) text += fmt::format("float {0}f(float, float);\ndouble {0}(double, double);\n", f);
  return text + "float fmaf(float, float, float);\ndouble fma(double, double, double);\n}\n";
}

/// Shared memory is a pointer; what it holds is fresh for each block.
std::string with_shared_pointers(const std::string& text) {
  if (text.find("__shared__") == std::string::npos) return text;
  const std::regex declared(R"(extern\s+__shared__\s+([\w ]+?)\s*(\w+)\s*\[\s*\]\s*;)");
  std::string found = std::regex_replace(text, declared, "$1 *const $2 = ($1 *)et_emulated.shared;");
  if (found.find("__shared__") != std::string::npos)
    throw SpecViolation("emulator: shared memory is declared otherwise than as `extern __shared__ T name[];`");
  return found;
}

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

/// The name stands before the first parenthesis, that of the bounds aside.
std::vector<std::string> kernels_in(std::string_view text) {
  constexpr std::string_view head = "__global__ void ", bounds = "__launch_bounds__(";
  std::vector<std::string> names;
  for (std::size_t at = text.find(head); at != std::string_view::npos; at = text.find(head, at)) {
    at += head.size();
    if (text.substr(at).starts_with(bounds)) at = std::min(text.find(')', at), text.size() - 1) + 1;
    while (at < text.size() && !is_of_word(text[at])) ++at;
    std::size_t end = at;
    while (end < text.size() && is_of_word(text[end])) ++end;
    names.emplace_back(text.substr(at, end - at));
  }
  return names;
}

bool has_waiting_threads(std::string_view text) {
  constexpr std::array<std::string_view, 5> words{"__syncthreads", "__syncwarp", "__shfl_", "mma_m", "_copies"};
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::string caller_symbol(std::size_t text, std::string_view kernel) { return fmt::format("et_call_{}_{}", text, kernel); }

std::string host_text(std::span<const std::string> texts, bool told) {
  std::string all = std::string(before) + (told ? std::string(telling) : "") + declarations() + std::string(tensor_cores);
  for (std::size_t n = 0; n < texts.size(); ++n) {
    // Kernels have C's linkage, and so one name for the same one in two namespaces.
    const std::vector<std::string> kernels = kernels_in(texts[n]);
    for (const std::string& k : kernels) all += fmt::format("#define {1} et_{0}_{1}\n", n, k);
    all += fmt::format("namespace et_text_{} {{\n#line 1 \"program.cu\"\n{}\n", n, with_shared_pointers(texts[n]));
    for (const std::string& k : kernels) {
      all += fmt::format("extern \"C\" __attribute__((visibility(\"default\"))) void {}(void *const *values) {{ et_run({}, values); }}\n",
                         caller_symbol(n, k), k);
    }
    all += "}\n";
    for (const std::string& k : kernels) all += fmt::format("#undef {}\n", k);
  }
  return all;
}

}  // namespace etalon::cuda::emulator
