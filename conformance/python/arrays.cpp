#include "conformance/python/arrays.hpp"

#include <fmt/format.h>

#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "conformance/python/dlpack.hpp"
#include "conformance/python/strided.hpp"

namespace etalon::python {
namespace {

namespace py = pybind11;

/// By kind and size, as NumPy and buffers tell them.
[[nodiscard]] std::optional<DType> dtype_of(char kind, py::ssize_t size) {
  switch (kind) {
    case 'f':
      return size == 2   ? std::optional(DType::f16)
             : size == 4 ? std::optional(DType::f32)
             : size == 8 ? std::optional(DType::f64)
                         : std::nullopt;
    case 'i':
      return size == 4 ? std::optional(DType::i32) : size == 8 ? std::optional(DType::i64) : std::nullopt;
    case 'b':
      return size == 1 ? std::optional(DType::boolean) : std::nullopt;
    default:
      return std::nullopt;
  }
}

[[noreturn]] void wrong_type(const std::string& name, const std::string& found) {
  throw py::type_error(fmt::format("{}: expected an element type among {}, found {}", name, element_types, found));
}

[[nodiscard]] bool is_native(char order) {
  return order == '=' || order == '|' || order == '@' ||
         order == (std::endian::native == std::endian::little ? '<' : '>');
}

[[nodiscard]] HostTensor from_numpy(const py::array& given, const std::string& name) {
  const py::dtype type = given.dtype();
  const auto dtype = dtype_of(type.kind(), type.itemsize());
  if (!dtype || !is_native(type.byteorder())) wrong_type(name, py::repr(type).cast<std::string>());
  Strided strided{*dtype, dims_of(given.shape(), static_cast<std::size_t>(given.ndim()), name), {}, nullptr};
  strided.strides.assign(given.strides(), given.strides() + given.ndim());
  strided.origin = static_cast<const std::byte*>(given.data());
  return dense_of(strided);
}

[[nodiscard]] char kind_of_format(char letter) {
  constexpr std::string_view reals = "efd", integers = "ilq";
  return reals.find(letter) != std::string_view::npos      ? 'f'
         : integers.find(letter) != std::string_view::npos ? 'i'
         : letter == '?'                                   ? 'b'
                                                           : ' ';
}

[[nodiscard]] HostTensor from_buffer(const py::buffer& given, const std::string& name) {
  const py::buffer_info info = given.request();
  const bool prefixed = info.format.size() == 2;
  const bool plain = info.format.size() == 1 || (prefixed && is_native(info.format[0]));
  const auto dtype = plain ? dtype_of(kind_of_format(info.format.back()), info.itemsize) : std::nullopt;
  if (!dtype) wrong_type(name, "a buffer of format '" + info.format + "'");
  const std::vector<std::int64_t> extents(info.shape.begin(), info.shape.end());
  Strided strided{*dtype,
                  dims_of(extents.data(), extents.size(), name),
                  {info.strides.begin(), info.strides.end()},
                  static_cast<const std::byte*>(info.ptr)};
  return dense_of(strided);
}

[[nodiscard]] py::dtype numpy_type(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return py::dtype("float16");
    case DType::bf16:
      return py::dtype::of<std::int16_t>();
    case DType::f32:
      return py::dtype::of<float>();
    case DType::f64:
      return py::dtype::of<double>();
    case DType::i32:
      return py::dtype::of<std::int32_t>();
    case DType::i64:
      return py::dtype::of<std::int64_t>();
    case DType::boolean:
      return py::dtype::of<bool>();
  }
  throw py::type_error("an element type without a name");
}

/// The array keeps the tensor whose bytes it shows.
[[nodiscard]] py::array showing(HostTensor buffer, const Dims& dims, const std::vector<std::int64_t>& strides,
                                std::int64_t offset) {
  const auto size = static_cast<std::int64_t>(size_of(buffer.dtype));
  auto kept = std::make_unique<HostTensor>(std::move(buffer));
  HostTensor* const tensor = kept.get();
  const py::capsule owner(kept.release(), [](void* held) { delete static_cast<HostTensor*>(held); });
  std::vector<py::ssize_t> shape(dims.begin(), dims.end()), steps;
  for (const std::int64_t stride : strides) steps.push_back(stride * size);
  // An empty tensor has no memory; NumPy wants some.
  const void* data = tensor->bytes.empty() ? static_cast<const void*>(tensor)
                                           : reinterpret_cast<const std::byte*>(tensor->bytes.data()) + offset * size;
  return {numpy_type(tensor->dtype), std::move(shape), std::move(steps), data, owner};
}

}  // namespace

HostTensor tensor_of(py::handle given, const std::string& name) {
  if (py::isinstance<py::array>(given)) return from_numpy(py::reinterpret_borrow<py::array>(given), name);
  if (has_dlpack(given)) return tensor_from_dlpack(given, name);
  if (PyObject_CheckBuffer(given.ptr()) != 0) return from_buffer(py::reinterpret_borrow<py::buffer>(given), name);
  if (py::hasattr(given, "dtype") && py::hasattr(given, "__array__"))
    return from_numpy(py::array(py::reinterpret_borrow<py::object>(given)), name);
  throw py::type_error(fmt::format("{}: expected an array (NumPy, a buffer or DLPack), found {}", name,
                                   py::str(py::type::handle_of(given).attr("__name__")).cast<std::string>()));
}

py::array array_of(HostTensor tensor) {
  std::vector<std::int64_t> strides(tensor.dims.rank);
  std::int64_t dense = 1;
  for (std::size_t axis = tensor.dims.rank; axis-- > 0; dense *= tensor.dims[axis]) strides[axis] = dense;
  const Dims dims = tensor.dims;
  return showing(std::move(tensor), dims, strides, 0);
}

py::array array_of(const HostTensor& tensor, const spec::Placement& placement) {
  return showing(spec::buffer_of(tensor, placement), tensor.dims, placement.strides, placement.offset);
}

}  // namespace etalon::python
