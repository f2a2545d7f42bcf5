#include "training/outcome.hpp"

#include <fmt/format.h>

#include "spec/error.hpp"
#include "spec/nearest.hpp"
#include "spec/value_type.hpp"

namespace etalon::training {

namespace {

const HostTensor& value_in(const NamedValues& values, std::string_view what, std::string_view name, const Outcome& outcome) {
  if (outcome.status == Outcome::Status::failed) throw SpecViolation(fmt::format("{} {}: the run failed: {}", what, name, outcome.why));
  std::vector<std::string> known;
  for (const auto& [key, value] : values) {
    if (key == name) return value;
    known.push_back(key);
  }
  throw SpecViolation(unknown_name(what, name, known));
}

}  // namespace

const HostTensor& Outcome::output(std::string_view name) const { return value_in(outputs, "output", name, *this); }

const HostTensor& Outcome::captured(std::string_view name) const { return value_in(captures, "capture", name, *this); }

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
    case Outcome::Status::aborted: return "aborted";
    case Outcome::Status::failed: return "failed";
  }
  throw InternalError("outcome: unknown status");
}

}  // namespace etalon::training
