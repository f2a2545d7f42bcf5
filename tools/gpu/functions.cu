// Holds a function's f32 text to its f64 text, operand by operand. functions.py writes before it what stands in the texts:
//   ELEMENTS, STEP, CHUNKS, OPERANDS; single_text(x, z, y) and exact_text(x, z, y), which run the two emitted kernels over ELEMENTS elements.
// With nvcc the kernels run on the card, over all operands; with a C++ compiler on the host, over some.
#include <cstdio>
#include <cstdlib>
#include <vector>

struct Worst {
  unsigned long long key = 0;            // the error's bits above the operand's, so that the largest of them is the worst
  unsigned long long nan_mismatches = 0;
  unsigned long long infinity_mismatches = 0;
};

#ifdef __CUDACC__
#define EVERYWHERE __host__ __device__
#define KERNEL __global__ void
#define CHECK(call)                                                                  \
  if (const cudaError_t wrong = (call); wrong != cudaSuccess) {                      \
    std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(wrong));              \
    std::exit(2);                                                                    \
  }
template <class T>
T *allocated(unsigned long long count) {
  T *memory = nullptr;
  CHECK(cudaMalloc(&memory, count * sizeof(T)));
  CHECK(cudaMemset(memory, 0, count * sizeof(T)));
  return memory;
}
__device__ void add(unsigned long long *to, unsigned long long value) { atomicAdd(to, value); }
__device__ void raise(unsigned long long *to, unsigned long long value) { atomicMax(to, value); }
#define OVER(kernel, ...)                                     \
  kernel<<<(ELEMENTS + 255) / 256, 256>>>(__VA_ARGS__);       \
  CHECK(cudaGetLastError())
#else
#define EVERYWHERE
#define KERNEL void
template <class T>
T *allocated(unsigned long long count) { return static_cast<T *>(std::calloc(count, sizeof(T))); }
inline void add(unsigned long long *to, unsigned long long value) { *to += value; }
inline void raise(unsigned long long *to, unsigned long long value) { if (value > *to) *to = value; }
#define OVER(kernel, ...) over((ELEMENTS + 255) / 256, 256, [&] { kernel(__VA_ARGS__); })
#endif

EVERYWHERE inline float float_of(unsigned bits) { float x; memcpy(&x, &bits, sizeof x); return x; }
EVERYWHERE inline unsigned bits_of(float x) { unsigned bits; memcpy(&bits, &x, sizeof bits); return bits; }

// The n-th word of a generator whose words are independent of each other (SplitMix64).
EVERYWHERE inline unsigned long long word(unsigned long long n) {
  unsigned long long z = (n + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

// Every second pair of operands is of moderate size: of others most functions of two overflow.
EVERYWHERE inline unsigned moderate(unsigned bits) { return (bits & 0x807fffffu) | ((111 + ((bits >> 23) & 31)) << 23); }

// One operand: all of them in order. Two: drawn pairs. A result that nobody writes is NaN on one side.
KERNEL fill(unsigned long long chunk, float *x, float *z, float *y, double *wide_x, double *wide_z, double *exact) {
  const unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
  if (i >= ELEMENTS) return;
  const unsigned long long n = chunk * ELEMENTS + i;
  unsigned first = (unsigned)(n * STEP), second = 0;
  if (OPERANDS == 2) {
    const unsigned long long drawn = word(n);
    first = (unsigned)drawn;
    second = (unsigned)(drawn >> 32);
    if (n & 1) {
      first = moderate(first);
      second = moderate(second);
    }
  }
  x[i] = float_of(first);
  wide_x[i] = x[i];
  z[i] = float_of(second);
  wide_z[i] = z[i];
  y[i] = float_of(0x7fc00000u);
  exact[i] = 0;
}

// Units in the last place of f32 at the exact result, and below the normal numbers the unit there; what is beyond f32 counts as its first number beyond.
EVERYWHERE inline double error_of(float result, double exact) {
  const double unit = exact == 0 ? 0x1p-149 : ldexp(1.0, (fabs(exact) < 0x1p-126 ? -126 : fabs(exact) >= 0x1p127 ? 127 : ilogb(exact)) - 23);
  const double found = isinf(result) ? copysign(0x1p128, (double)result) : (double)result;
  const double wanted = fabs(exact) > 0x1p128 ? copysign(0x1p128, exact) : exact;
  return fabs(found - wanted) / unit;
}

KERNEL judge(const float *x, const float *y, const double *exact, Worst *worst) {
  const unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
  if (i >= ELEMENTS) return;
  if (isnan(y[i]) || isnan(exact[i])) {
    if (!isnan(y[i]) || !isnan(exact[i])) add(&worst->nan_mismatches, 1);
    return;
  }
  const double error = error_of(y[i], exact[i]);
  if ((isinf(y[i]) != 0) != (isinf((float)exact[i]) != 0) && error > 1) add(&worst->infinity_mismatches, 1);
  raise(&worst->key, ((unsigned long long)bits_of((float)error) << 32) | bits_of(x[i]));
}

int main() {
  float *x = allocated<float>(ELEMENTS), *z = allocated<float>(ELEMENTS), *y = allocated<float>(ELEMENTS);
  double *wide_x = allocated<double>(ELEMENTS), *wide_z = allocated<double>(ELEMENTS), *exact = allocated<double>(ELEMENTS);
  Worst *worst = allocated<Worst>(1);
  for (unsigned long long chunk = 0; chunk < CHUNKS; ++chunk) {
    OVER(fill, chunk, x, z, y, wide_x, wide_z, exact);
    single_text(x, z, y);
    exact_text(wide_x, wide_z, exact);
    OVER(judge, x, y, exact, worst);
  }
  Worst found;
#ifdef __CUDACC__
  CHECK(cudaMemcpy(&found, worst, sizeof found, cudaMemcpyDeviceToHost));
#else
  found = *worst;
#endif
  std::printf("{\"worst\": %.9g, \"operand_bits\": %llu, \"operand\": \"%.9g\", \"nan_mismatches\": %llu, \"infinity_mismatches\": %llu, \"operands\": %llu}\n",
              (double)float_of((unsigned)(found.key >> 32)), found.key & 0xffffffffull, (double)float_of((unsigned)found.key), found.nan_mismatches,
              found.infinity_mismatches, (unsigned long long)ELEMENTS * CHUNKS);
  return 0;
}
