#include "tools/robust/certify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "reference/bounds/ranges.hpp"
#include "spec/error.hpp"

namespace etalon::robust {
namespace {

using reference::Box;
using reference::Combination;
using reference::OutputRange;
using reference::bounds::Narrowing;

std::optional<double> number_in(std::string_view text) {
  double x = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(x)) return std::nullopt;
  return x;
}

/// A row's numbers, each within the radius and not beyond what numbers may be. Rounded outwards.
Box box_of(const Classifier& model, std::int64_t row, double radius, const Question& question) {
  const auto count = static_cast<std::size_t>(model.inputs[model.points].dims.count());
  const auto features = static_cast<std::size_t>(model.rows.features);
  Box box{std::vector<double>(count, 0), std::vector<double>(count, 0)};
  constexpr double out = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < features; ++i) {
    const auto x = static_cast<double>(model.rows.inputs[static_cast<std::size_t>(row) * features + i]);
    const double low = question.least ? std::max(x - radius, *question.least) : x - radius;
    const double high = question.most ? std::min(x + radius, *question.most) : x + radius;
    box.lower[i] = radius > 0 ? std::nextafter(std::min(low, x), -out) : x;
    box.upper[i] = radius > 0 ? std::nextafter(std::max(high, x), out) : x;
  }
  return box;
}

std::vector<OutputRange> ranges_of(const Classifier& model, Box box, const spec::Contract& contract, const std::vector<Combination>& wanted,
                             Narrowing narrowing) {
  std::vector<std::optional<Box>> boxes(model.inputs.size());
  boxes[model.points] = std::move(box);
  return reference::ranges(model.system, model.inputs, boxes, contract, wanted, narrowing);
}

std::size_t classes_of(const Classifier& model) {
  return static_cast<std::size_t>(model.system[model.system.outputs.front()].dims[1]);
}

/// The class whose answer to the row itself is the largest.
std::int64_t answer_to(const Classifier& model, std::int64_t row, const Question& question, const spec::Contract& contract) {
  std::vector<Combination> each;
  for (std::size_t k = 0; k < classes_of(model); ++k) each.push_back({{0, k, 1}});
  const std::vector<OutputRange> answers = ranges_of(model, box_of(model, row, 0, question), contract, each, Narrowing::sweep);
  const auto middle = [](const OutputRange& r) { return r.lower / 2 + r.upper / 2; };
  const auto below = [&](const OutputRange& a, const OutputRange& b) { return middle(a) < middle(b); };
  return std::max_element(answers.begin(), answers.end(), below) - answers.begin();
}

double margin_of(const Classifier& model, std::int64_t row, double radius, const Question& question, const spec::Contract& contract,
                 Narrowing narrowing) {
  const auto label = static_cast<std::size_t>(model.rows.labels[static_cast<std::size_t>(row)]);
  std::vector<Combination> differences;
  for (std::size_t k = 0; k < classes_of(model); ++k) {
    if (k != label) differences.push_back({{0, label, 1}, {0, k, -1}});
  }
  double least = std::numeric_limits<double>::infinity();
  for (const OutputRange& r : ranges_of(model, box_of(model, row, radius, question), contract, differences, narrowing)) {
    least = std::min(least, r.lower);
  }
  return least;
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> all{
      {"ibp", Narrowing::intervals}, {"sweep", Narrowing::sweep}, {"crown", Narrowing::lines}, {"best", Narrowing::both}};
  return all;
}

Radius radius_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  const auto first = number_in(std::string_view(text).substr(0, slash));
  const auto second = slash == std::string::npos ? std::optional<double>(1) : number_in(std::string_view(text).substr(slash + 1));
  if (!first || !second || !(*first >= 0) || !(*second > 0) || !std::isfinite(*first / *second)) {
    throw SpecViolation(fmt::format("--epsilon: expected a number from 0 on, as 0.01 or 1/64, found '{}'", text));
  }
  // Not below what was asked for.
  const double quotient = *first / *second;
  const bool enough = *second == 1 || std::fma(quotient, *second, -*first) >= 0;
  return {text, enough ? quotient : std::nextafter(quotient, std::numeric_limits<double>::infinity())};
}

std::vector<Certified> certify(const Classifier& model, const Question& question, const spec::Contract& contract,
                               const std::function<void(const Certified&)>& after_row) {
  std::vector<Certified> all;
  for (std::int64_t row = question.first; row < question.end; ++row) {
    Certified one;
    one.row = row;
    one.label = model.rows.labels[static_cast<std::size_t>(row)];
    one.answer = answer_to(model, row, question, contract);
    for (const Radius& radius : question.radii) {
      for (const Method& method : question.methods) {
        one.margins.push_back(margin_of(model, row, radius.value, question, contract, method.narrowing));
      }
    }
    after_row(one);
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace etalon::robust
