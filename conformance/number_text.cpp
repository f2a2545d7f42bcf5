#include "conformance/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "conformance/values.hpp"
#include "spec/contract/contract.hpp"

namespace etalon::conformance {
namespace {

constexpr int fewest = 6;
constexpr int most = 17;  // enough for every double

double read(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

std::string digits(double value, int precision) { return fmt::format("{:.{}g}", value, precision); }

int side(double a, double b) { return a < b ? -1 : (a > b ? 1 : 0); }

// The end's shortest text from this precision on that stands to `got` in digits as the end does in truth, and about as far.
std::string end_text(double end, double got, const std::string& got_text, int from) {
  if (end == got) return got_text;
  if (std::isnan(got)) return digits(end, from);
  const double shown = read(got_text);
  for (int p = from; p < most; ++p) {
    const std::string text = digits(end, p);
    const bool near = !std::isfinite(end - got) || std::abs(read(text) - end) <= std::abs(end - got) / 4;
    if (near && side(read(text), shown) == side(end, got)) return text;
  }
  return digits(end, most);
}

}  // namespace

std::string shortest(double value, DType dtype) {
  if (std::isnan(value)) return "nan";
  if (dtype == DType::f32) return fmt::format("{}", static_cast<float>(value));
  if (std::isinf(value) || (dtype != DType::f16 && dtype != DType::bf16)) return fmt::format("{}", value);
  HostTensor element_of(dtype, {});
  for (int p = 1; p < most; ++p) {
    std::string text = digits(value, p);
    set_element(element_of, 0, read(text));
    if (element(element_of, 0) == value) return text;
  }
  return digits(value, most);
}

Compared told_apart(double lower, double upper, double got, DType dtype) {
  std::string got_text = shortest(got, dtype);
  // The type's few digits may lie beyond an end that the number itself does not reach.
  const auto misleads = [&](double end) { return end != got && side(end, read(got_text)) != side(end, got); };
  if (!std::isnan(got) && (misleads(lower) || misleads(upper))) got_text = shortest(got);
  Compared all{end_text(lower, got, got_text, fewest), end_text(upper, got, got_text, fewest), got_text};
  for (int p = fewest; p <= most && lower < upper && read(all.lower) >= read(all.upper); ++p) {
    all.lower = end_text(lower, got, got_text, p);
    all.upper = end_text(upper, got, got_text, p);
  }
  return all;
}

std::pair<std::string, std::string> told_apart(double a, double b) {
  for (int p = fewest; p < most; ++p) {
    std::pair texts{digits(a, p), digits(b, p)};
    if (a == b || texts.first != texts.second) return texts;
  }
  return {shortest(a), shortest(b)};
}

std::optional<double> ulps(double got, double exact, DType dtype) {
  if (kind_of(dtype) != Kind::real || !std::isfinite(got) || !std::isfinite(exact)) return std::nullopt;
  const spec::Format format = spec::format_of(dtype);
  const int exponent = exact == 0 ? format.emin : std::max(format.emin, std::ilogb(exact));
  // Scaled first: the difference of two large numbers may be none.
  const int last = exponent - (format.precision - 1);
  return std::abs(std::ldexp(got, -last) - std::ldexp(exact, -last));
}

std::string distance_text(double distance) {
  return distance >= 1e6 ? fmt::format("{:.1e}", distance) : distance >= 100 ? fmt::format("{:.0f}", distance) : fmt::format("{:.3g}", distance);
}

}  // namespace etalon::conformance
