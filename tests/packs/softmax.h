/* A softmax; with OVERFLOWS nothing is subtracted from exponents, which is wrong. */
#include <math.h>
#include <stddef.h>

static void softmax(const float *x, float *y, size_t outer, size_t n, size_t inner) {
  for (size_t o = 0; o < outer; ++o) {
    for (size_t i = 0; i < inner; ++i) {
      const size_t first = o * n * inner + i;
      float top = -INFINITY, sum = 0;
      for (size_t k = 0; k < n; ++k) {
        const float v = x[first + k * inner];
        if (v > top || isnan(v)) top = v;
      }
#ifdef OVERFLOWS
      top = 0;
#endif
      for (size_t k = 0; k < n; ++k) sum += y[first + k * inner] = expf(x[first + k * inner] - top);
      for (size_t k = 0; k < n; ++k) y[first + k * inner] /= sum;
    }
  }
}
