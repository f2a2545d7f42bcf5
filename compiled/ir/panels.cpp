#include "compiled/ir/panels.hpp"

#include <cstring>

namespace etalon::compiled {

namespace {

/// A tensor seen as [before, axis, after], which is how panels see it.
struct Folded {
  std::size_t before = 1;
  std::size_t length = 1;
  std::size_t after = 1;
};

Folded fold(const Dims& dims, std::size_t axis) {
  Folded f;
  for (std::size_t a = 0; a < dims.rank; ++a) {
    std::size_t& part = a < axis ? f.before : a == axis ? f.length : f.after;
    part *= static_cast<std::size_t>(dims[a]);
  }
  return f;
}

/// Calls visit(row-major element, element in panels) for each element, in the order of the panels.
template <class Visit>
void each_element(const Dims& dims, const Panels& panels, Visit&& visit) {
  const Folded f = fold(dims, panels.axis);
  const auto width = static_cast<std::size_t>(panels.width);
  std::size_t there = 0;
  for (std::size_t panel = 0; panel < f.length / width; ++panel) {
    for (std::size_t b = 0; b < f.before; ++b) {
      for (std::size_t a = 0; a < f.after; ++a) {
        for (std::size_t w = 0; w < width; ++w) visit((b * f.length + panel * width + w) * f.after + a, there++);
      }
    }
  }
}

}  // namespace

Dims in_panels(const Dims& dims, const Panels& panels) {
  Dims out{dims[panels.axis] / panels.width};
  for (std::size_t a = 0; a < dims.rank; ++a) {
    if (a != panels.axis) out.push_back(dims[a]);
  }
  out.push_back(panels.width);
  return out;
}

void to_panels(const std::byte* from, std::byte* to, const Dims& dims, std::size_t element_bytes, const Panels& panels) {
  each_element(dims, panels, [&](std::size_t row_major, std::size_t there) {
    std::memcpy(to + there * element_bytes, from + row_major * element_bytes, element_bytes);
  });
}

void from_panels(const std::byte* from, std::byte* to, const Dims& dims, std::size_t element_bytes, const Panels& panels) {
  each_element(dims, panels, [&](std::size_t row_major, std::size_t there) {
    std::memcpy(to + row_major * element_bytes, from + there * element_bytes, element_bytes);
  });
}

}  // namespace etalon::compiled
