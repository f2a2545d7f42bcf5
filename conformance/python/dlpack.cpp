#include "conformance/python/dlpack.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/python/strided.hpp"

namespace etalon::python {
namespace {

namespace py = pybind11;

// As the standard lays them out; only what it says of these versions is read.
struct DeviceOfDlpack {
  std::int32_t kind;
  std::int32_t number;
};

struct TypeOfDlpack {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct TensorOfDlpack {
  void* data;
  DeviceOfDlpack device;
  std::int32_t rank;
  TypeOfDlpack type;
  std::int64_t* extents;
  std::int64_t* strides;  ///< in elements; none where it is dense
  std::uint64_t offset;   ///< in bytes
};

struct ManagedTensorOfDlpack {
  TensorOfDlpack tensor;
  void* owner;
  void (*free)(ManagedTensorOfDlpack*);
};

constexpr std::int32_t host = 1;
constexpr std::uint8_t integers = 0, reals = 2, brain_floats = 4, truth_values = 6;

[[nodiscard]] std::optional<DType> dtype_of(const TypeOfDlpack& type) {
  if (type.lanes != 1) return std::nullopt;
  switch (type.code) {
    case integers:
      return type.bits == 32 ? std::optional(DType::i32) : type.bits == 64 ? std::optional(DType::i64) : std::nullopt;
    case reals:
      return type.bits == 16   ? std::optional(DType::f16)
             : type.bits == 32 ? std::optional(DType::f32)
             : type.bits == 64 ? std::optional(DType::f64)
                               : std::nullopt;
    case brain_floats:
      return type.bits == 16 ? std::optional(DType::bf16) : std::nullopt;
    case truth_values:
      return type.bits == 8 ? std::optional(DType::boolean) : std::nullopt;
    default:
      return std::nullopt;
  }
}

[[nodiscard]] HostTensor read(const TensorOfDlpack& given, const std::string& name) {
  if (given.device.kind != host)
    throw py::type_error(
        fmt::format("{}: expected a tensor of host memory, found one of DLPack's device {}", name, given.device.kind));
  const auto dtype = dtype_of(given.type);
  if (!dtype) {
    throw py::type_error(fmt::format("{}: expected an element type among {}, found DLPack's code {} of {} bits", name,
                                     element_types, given.type.code, given.type.bits));
  }
  Strided strided{*dtype, dims_of(given.extents, static_cast<std::size_t>(given.rank), name), {}, nullptr};
  strided.origin = static_cast<const std::byte*>(given.data) + given.offset;
  std::int64_t dense = 1;
  strided.strides.resize(strided.dims.rank);
  for (std::size_t axis = strided.dims.rank; axis-- > 0;) {
    strided.strides[axis] =
        (given.strides != nullptr ? given.strides[axis] : dense) * static_cast<std::int64_t>(size_of(*dtype));
    dense *= strided.dims[axis];
  }
  return dense_of(strided);
}

}  // namespace

bool has_dlpack(py::handle given) { return py::hasattr(given, "__dlpack__"); }

HostTensor tensor_from_dlpack(py::handle given, const std::string& name) {
  const py::object capsule = given.attr("__dlpack__")();
  auto* managed = static_cast<ManagedTensorOfDlpack*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (managed == nullptr) throw py::error_already_set();
  // The capsule's own destructor frees what nobody has taken over.
  return read(managed->tensor, name);
}

}  // namespace etalon::python
