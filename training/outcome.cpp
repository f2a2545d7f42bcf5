#include "training/outcome.hpp"

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/value_type.hpp"

namespace etalon::training {

const HostTensor& Outcome::output(std::string_view name) const {
  if (status == Status::failed) throw SpecViolation(fmt::format("output {}: the run failed: {}", name, why));
  std::vector<std::string> known;
  for (const auto& [key, value] : outputs) {
    if (key == name) return value;
    known.push_back(key);
  }
  throw SpecViolation(unknown_name("output", name, known));
}

double Outcome::number(std::string_view name) const { return number_in(output(name), name); }

double number_in(const HostTensor& tensor, std::string_view name) {
  if (tensor.dims.count() == 1) {
    switch (tensor.dtype) {
      case DType::f32: return static_cast<double>(tensor.view<float>()[0]);
      case DType::f64: return tensor.view<double>()[0];
      case DType::i32: return static_cast<double>(tensor.view<std::int32_t>()[0]);
      case DType::i64: return static_cast<double>(tensor.view<std::int64_t>()[0]);
      default: break;
    }
  }
  throw SpecViolation(fmt::format("`{}` is {}, expected one number", name, spec::to_string({tensor.dtype, tensor.dims})));
}

std::string_view name_of(Outcome::Status status) {
  switch (status) {
    case Outcome::Status::completed: return "completed";
    case Outcome::Status::not_finite: return "not_finite";
    case Outcome::Status::failed: return "failed";
  }
  throw InternalError("outcome: unknown status");
}

}  // namespace etalon::training
