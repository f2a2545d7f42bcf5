#include "spec/library/library.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "spec/error.hpp"
#include "spec/library/operations.hpp"
#include "spec/nearest.hpp"

namespace etalon::spec {

namespace {

/// Parsed when first asked for: 8 kB each, and a program names few.
template <class Op>
const Definition& entry() {
  static const Definition definition = parsed<Op>();
  return definition;
}

std::vector<const Definition*> make_library() {
  std::vector<const Definition*> all{
      &entry<ops::AbsText>(),
      &entry<ops::AdamText>(),
      &entry<ops::AdamwText>(),
      &entry<ops::AddText>(),
      &entry<ops::ArgmaxText>(),
      &entry<ops::BroadcastToText>(),
      &entry<ops::CastText>(),
      &entry<ops::ConcatText>(),
      &entry<ops::ConvText>(),
      &entry<ops::Conv1dText>(),
      &entry<ops::Conv2dText>(),
      &entry<ops::Conv3dText>(),
      &entry<ops::CrossEntropyText>(),
      &entry<ops::DivText>(),
      &entry<ops::DropoutText>(),
      &entry<ops::ExpText>(),
      &entry<ops::GatherText>(),
      &entry<ops::GeluText>(),
      &entry<ops::HingeText>(),
      &entry<ops::LayerNormText>(),
      &entry<ops::LinearText>(),
      &entry<ops::LogText>(),
      &entry<ops::LogSoftmaxText>(),
      &entry<ops::LogsumexpText>(),
      &entry<ops::MatmulText>(),
      &entry<ops::MaxText>(),
      &entry<ops::MaxPoolText>(),
      &entry<ops::MaxPool1dText>(),
      &entry<ops::MaxPool2dText>(),
      &entry<ops::MaxPool3dText>(),
      &entry<ops::MaximumText>(),
      &entry<ops::MeanText>(),
      &entry<ops::MseText>(),
      &entry<ops::MulText>(),
      &entry<ops::NegText>(),
      &entry<ops::NormalText>(),
      &entry<ops::ReluText>(),
      &entry<ops::ReshapeText>(),
      &entry<ops::SgdText>(),
      &entry<ops::SigmoidText>(),
      &entry<ops::SliceText>(),
      &entry<ops::SoftmaxText>(),
      &entry<ops::SqrtText>(),
      &entry<ops::StackText>(),
      &entry<ops::SubText>(),
      &entry<ops::SumText>(),
      &entry<ops::TanhText>(),
      &entry<ops::TransposeText>(),
      &entry<ops::UniformText>(),
      &entry<ops::WhereText>(),
  };
  std::sort(all.begin(), all.end(), [](const Definition* a, const Definition* b) { return a->name < b->name; });
  return all;
}

}  // namespace

std::span<const Definition* const> library() {
  static const std::vector<const Definition*> all = make_library();
  return all;
}

const Definition* find_definition(std::string_view name) {
  const auto all = library();
  const auto at = std::lower_bound(all.begin(), all.end(), name,
                                   [](const Definition* d, std::string_view n) { return d->name < n; });
  return at != all.end() && (*at)->name == name ? *at : nullptr;
}

const Definition& definition_named(std::string_view name) {
  if (const Definition* d = find_definition(name)) return *d;
  std::vector<std::string> names;
  for (const Definition* d : library()) names.emplace_back(d->name);
  throw SpecViolation(unknown_name("operation", name, names));
}

}  // namespace etalon::spec
