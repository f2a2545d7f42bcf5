#include "spec/notation/attributes.hpp"
#include "spec/program/trace.hpp"

namespace etalon::spec {

Attributes merged_attributes(const Definition& definition, std::string_view text, const Attributes& set) {
  Attributes attributes = set;
  if (!text.empty()) attributes.merge(attributes_from_text(definition, text));
  return attributes;
}

}  // namespace etalon::spec
