// For every constraint of every definition a call that violates it; typing must refuse it and name the constraint.
#include <catch2/catch.hpp>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "conformance/case.hpp"
#include "conformance/draw.hpp"
#include "conformance/shapes.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/typing.hpp"

using namespace etalon;
using conformance::CallTypes;
using conformance::Draw;
using spec::Definition;

namespace {

std::string refusal(const Definition& d, const CallTypes& call) {
  const spec::Bindings bound = spec::bind_attributes(d, call.attributes);
  return std::string(spec::type_call(d, call.operands, call.packs, bound).diagnosis.message());
}

std::optional<CallTypes> sound_call(const Definition& d, Draw& draw) {
  for (const std::int64_t elements : {24, 100, 400}) {
    const auto assignment = conformance::draw_assignment(d, draw, {.elements = elements, .edges = false}, DType::f32);
    if (assignment) return conformance::call_of(d, *assignment, DType::f32);
  }
  return std::nullopt;
}

spec::AttributeValue other_value(const spec::AttributeText& a, const Definition& d, const spec::AttributeValue& now,
                                 Draw& draw) {
  using Kind = spec::AttributeKind;
  switch (a.kind) {
    case Kind::integer:
      return draw.integer(-4, 8);
    case Kind::real:
      return draw.pick(std::vector<double>{-2, -0.5, 0, 0.25, 1, 1.5, 3, std::numeric_limits<double>::infinity()});
    case Kind::boolean:
      return draw.chance(0.5);
    case Kind::value:
      return draw.integer(0, 1);
    case Kind::integers:
    case Kind::axes: {
      const auto* list = std::get_if<std::vector<std::int64_t>>(&now);
      std::vector<std::int64_t> other = list != nullptr ? *list : std::vector<std::int64_t>{draw.integer(-3, 6)};
      for (std::int64_t& x : other) x = draw.chance(0.6) ? draw.integer(-3, 6) : x;
      if (!other.empty() && draw.chance(0.2)) other.pop_back();
      return other;
    }
    case Kind::dtype:
      return draw.pick<std::string>({"f16", "bf16", "f32", "f64", "i32", "i64", "bool"});
    case Kind::symbol: {
      std::vector<std::string> offered;
      std::string word;
      for (const char c : std::string(d.at(a.choices)) + "|") {
        if (c == '|') offered.push_back(std::exchange(word, {}));
        if (c != '|' && c != ' ') word += c;
      }
      return draw.pick(offered);
    }
  }
  return now;
}

/// The call without members in any of its packs.
void empty_packs(CallTypes& call, const Definition& d) {
  std::vector<std::optional<spec::ValueType>> kept;
  std::size_t next = 0, pack = 0;
  for (std::size_t i = 0; i < d.operand_count; ++i) {
    const std::size_t members = d.operands[i].pack ? call.packs[pack] : 1;
    for (std::size_t m = 0; m < members && !d.operands[i].pack; ++m) kept.push_back(call.operands[next + m]);
    next += members;
    if (d.operands[i].pack) call.packs[pack++] = 0;
  }
  call.operands = kept;
}

void vary(CallTypes& call, const Definition& d, Draw& draw) {
  if (!call.packs.empty() && draw.chance(0.1)) empty_packs(call, d);
  for (std::int64_t changes = draw.integer(1, 3); changes > 0; --changes) {
    if (d.attribute_count > 0 && (call.operands.empty() || draw.chance(0.5))) {
      const auto& a = d.attributes[static_cast<std::size_t>(draw.integer(0, d.attribute_count - 1))];
      auto& value = call.attributes[std::string(d.at(a.name))];
      value = other_value(a, d, value, draw);
    } else if (!call.operands.empty()) {
      auto& operand = call.operands[static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(call.operands.size()) - 1))];
      if (!operand || operand->dims.rank == 0) continue;
      Dims& dims = operand->dims;
      dims[static_cast<std::size_t>(draw.integer(0, static_cast<std::int64_t>(dims.rank) - 1))] = draw.integer(0, 7);
    }
  }
}

/// Whether some variation of sound calls is refused with this text.
bool refused_with(const Definition& d, const std::string& text, Draw& draw) {
  for (int attempt = 0; attempt < 3000; ++attempt) {
    auto call = sound_call(d, draw);
    if (!call) continue;
    for (int variation = 0; variation < 20; ++variation) {
      CallTypes varied = *call;
      vary(varied, d, draw);
      if (refusal(d, varied).find(text) != std::string::npos) return true;
    }
  }
  return false;
}

std::string first_part(std::string text) {
  // A long condition is cut at the end of a diagnosis; its beginning tells which one it is.
  return text.substr(0, 60);
}

}  // namespace

TEST_CASE("every requirement of every definition has a call that violates it", "[violations]") {
  std::size_t violated = 0;
  for (const Definition* d : spec::library()) {
    Draw draw(std::string(d->name) + " requirements");
    for (std::size_t c = 0; c < d->clause_count; ++c) {
      if (d->clauses[c].form != spec::ClauseText::Form::require) continue;
      const std::string condition(d->at(d->clauses[c].text));
      INFO(d->name << ": " << condition);
      const bool refused = refused_with(*d, "violated: " + first_part(condition), draw);
      CHECK(refused);
      violated += refused ? 1 : 0;
    }
  }
  CHECK(violated > 0);
}

TEST_CASE("a wrong element type, rank or number of operands is refused by name", "[violations]") {
  std::size_t refused = 0;
  for (const Definition* d : spec::library()) {
    Draw draw(std::string(d->name) + " operands");
    const auto call = sound_call(*d, draw);
    INFO(d->name);
    REQUIRE(call);
    if (!call->operands.empty()) {
      CallTypes more = *call;
      more.operands.resize(more.operands.size() + 13);
      CHECK(refusal(*d, more) != "");
    }
    const bool packs = !call->packs.empty();
    for (std::size_t i = 0; i < call->operands.size() && !packs; ++i) {
      if (!call->operands[i]) continue;
      const std::string name(d->at(d->operands[i].name));
      INFO("operand " << name);
      CallTypes wrong = *call;
      if (d->operands[i].range != spec::Range::any) {
        wrong.operands[i]->dtype = d->operands[i].range == spec::Range::boolean ? DType::f32 : DType::boolean;
        CHECK_THAT(refusal(*d, wrong), Catch::Contains(name));
        ++refused;
      }
      if (!d->operands[i].optional) {
        wrong = *call;
        wrong.operands[i].reset();
        CHECK_THAT(refusal(*d, wrong), Catch::Contains(name));
        ++refused;
      }
    }
  }
  CHECK(refused > 0);
}

TEST_CASE("every attribute refuses a value of another kind, and asks for itself where it has no default",
          "[violations]") {
  std::size_t refused = 0;
  for (const Definition* d : spec::library()) {
    Draw draw(std::string(d->name) + " attributes");
    const auto call = sound_call(*d, draw);
    INFO(d->name);
    REQUIRE(call);
    for (std::size_t i = 0; i < d->attribute_count; ++i) {
      const std::string name(d->at(d->attributes[i].name));
      INFO("attribute " << name);
      CallTypes wrong = *call;
      wrong.attributes[name] = std::string("unheard_of");
      CHECK_THAT(refusal(*d, wrong), Catch::Contains("attribute " + name + " wants"));
      ++refused;
      if (!d->attributes[i].has_default) {
        wrong = *call;
        wrong.attributes.erase(name);
        CHECK_THAT(refusal(*d, wrong), Catch::Contains("attribute " + name + " is missing"));
        ++refused;
      }
    }
    CallTypes unknown = *call;
    unknown.attributes["no_such_attribute"] = std::int64_t{1};
    CHECK_THAT(refusal(*d, unknown), Catch::Contains("no attribute no_such_attribute"));
    ++refused;
  }
  CHECK(refused > 0);
}
