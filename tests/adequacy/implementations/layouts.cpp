// Tensors that are not dense, read as if they lay otherwise.
#include <cstdlib>

#include "tests/adequacy/implementations/tensors.hpp"

namespace etalon::adequacy {
namespace {

using spec::Placement;

std::vector<std::int64_t> dense(const Dims& dims) {
  std::vector<std::int64_t> strides(dims.rank, 1);
  for (std::size_t a = dims.rank; a-- > 1;) strides[a - 1] = strides[a] * dims[a];
  return strides;
}

// The tensor as who takes its place for `wrong` reads it; places wrap in the buffer.
HostTensor read_wrongly(const HostTensor& t, const Placement& right, const Placement& wrong) {
  if (elements(t) == 0 || right.elements <= 0) return t;
  const HostTensor buffer = spec::buffer_of(t, right);
  HostTensor read(t.dtype, t.dims);
  for (std::size_t i = 0; i < elements(t); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), place = wrong.offset;
    for (std::size_t a = t.dims.rank; a-- > 0; rest /= t.dims[a]) place += rest % t.dims[a] * wrong.strides[a];
    place = (place % right.elements + right.elements) % right.elements;
    copy_element(buffer, static_cast<std::size_t>(place), read, i);
  }
  return read;
}

using Misreading = void (*)(Placement&, const Dims&);

Defect misread(std::string what, Misreading how) {
  return of_requests("layouts", std::move(what), [how](spec::Request& r) {
    const auto one = [&](HostTensor& t, const std::optional<Placement>& right) {
      if (!right) return;
      Placement wrong = *right;
      how(wrong, t.dims);
      t = read_wrongly(t, *right, wrong);
    };
    for (std::size_t i = 0; i < r.inputs.size() && i < r.placements.inputs.size(); ++i)
      one(r.inputs[i], r.placements.inputs[i]);
    const auto list = [&](auto& tensors, const auto& places) {
      for (std::size_t i = 0; i < tensors.size() && i < places.size(); ++i) {
        if (tensors[i]) one(*tensors[i], places[i]);
      }
    };
    list(r.tangents, r.placements.tangents);
    list(r.cotangents, r.placements.cotangents);
  });
}

void exchange_where_square(Placement& p, const Dims& dims) {
  for (std::size_t a = 1; a < dims.rank; ++a) {
    if (dims[a] == dims[a - 1]) std::swap(p.strides[a], p.strides[a - 1]);
  }
}

}  // namespace

std::vector<Defect> defects_of_layouts() {
  return {
      misread("strides are taken for those of a dense tensor",
              [](Placement& p, const Dims& d) { p.strides = dense(d); }),
      misread("offsets are ignored", [](Placement& p, const Dims&) { p.offset = 0; }),
      misread("negative strides are taken for positive ones",
              [](Placement& p, const Dims&) {
                for (auto& s : p.strides) s = std::abs(s);
              }),
      misread("strides of 0 are taken for 1",
              [](Placement& p, const Dims&) {
                for (auto& s : p.strides) s = s == 0 ? 1 : s;
              }),
      misread("the last stride is taken for 1",
              [](Placement& p, const Dims&) {
                if (!p.strides.empty()) p.strides.back() = 1;
              }),
      misread("strides are exchanged where extents agree", exchange_where_square),
  };
}

}  // namespace etalon::adequacy
