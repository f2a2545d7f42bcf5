#include "tests/instructions/holding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "conformance/draw.hpp"
#include "conformance/judge.hpp"
#include "conformance/values.hpp"
#include "reference/answer.hpp"
#include "spec/backend.hpp"
#include "spec/error.hpp"
#include "tests/compiled/between_pages.hpp"

namespace etalon::test {

using compiled::Instruction;
using compiled::InstructionSignature;
using compiled::InstructionValue;

namespace {

using Operands = std::vector<HostTensor>;

bool is_real(DType type) { return kind_of(type) == Kind::real; }

HostTensor drawn_bytes(conformance::Draw& draw, DType type, const Dims& dims) {
  HostTensor t(type, dims);
  for (std::byte& b : t.bytes) b = static_cast<std::byte>(draw.bits());
  return t;
}

/// As cases of values have them; in every other turn special ones, of which there are few among others.
std::vector<conformance::Family> families_of(conformance::Draw& draw, std::size_t operands, std::uint64_t turn) {
  if (turn % 2 == 0) return conformance::draw_families(draw, operands, turn / 2);
  return std::vector(operands, conformance::Family::special);
}

Operands draw_operands(const InstructionSignature& signature, const std::vector<conformance::Family>& families, conformance::Draw& draw) {
  Operands operands;
  for (const InstructionValue& o : signature.operands) {
    const conformance::Family family = families[operands.size()];
    if (o.dtype == DType::boolean) operands.push_back(conformance::draw_boolean(draw, o.dims));
    else if (is_real(o.dtype)) operands.push_back(conformance::draw_real(draw, family, o.dtype, o.dims));
    else operands.push_back(drawn_bytes(draw, o.dtype, o.dims));
  }
  return operands;
}

/// What the function gives. \throws std::logic_error where it writes to an operand, or beside its result
HostTensor result_of(const Instruction& i, const InstructionSignature& signature, const AsFunction& function, const Operands& operands) {
  // Whole vectors, the longest of all, begin where they are asked to.
  constexpr std::size_t longest = 512;
  const std::size_t aligned = compiled::wants_whole_vectors(i) ? longest : 1;
  HostTensor result(signature.result.dtype, signature.result.dims);
  std::fill(result.bytes.begin(), result.bytes.end(), std::byte{0xcd});
  std::vector<std::unique_ptr<BetweenPages>> memory;
  const auto place = [&](const Bytes& bytes) {
    memory.push_back(std::make_unique<BetweenPages>(bytes, BetweenPages::At::end, std::byte{0xab}, aligned));
  };
  for (std::size_t o = 0; o < operands.size(); ++o) {
    place(operands[o].bytes);
    if (signature.operands[o].name == "old") result = operands[o];
  }
  place(result.bytes);
  std::vector<std::byte*> begins;
  for (const auto& m : memory) begins.push_back(m->begin());
  function(begins.data());
  for (std::size_t o = 0; o < operands.size(); ++o) {
    if (!std::equal(operands[o].bytes.begin(), operands[o].bytes.end(), begins[o])) throw std::logic_error("the operand " + signature.operands[o].name + " is another afterwards");
  }
  if (!std::all_of(memory.begin(), memory.end(), [](const auto& m) { return m->nothing_beside(); })) throw std::logic_error("something was written beside");
  const bool gives = i.llvm.find("%" + signature.result.name) != std::string_view::npos;
  const std::byte* from = gives ? begins.back() : begins.front();
  std::copy(from, from + result.bytes.size(), result.bytes.begin());
  return result;
}

/// The numbers in another type that has them all.
HostTensor as(const HostTensor& tensor, DType type) {
  if (tensor.dtype == type) return tensor;
  HostTensor other(type, tensor.dims);
  for (std::size_t e = 0; e < static_cast<std::size_t>(tensor.dims.count()); ++e) conformance::set_element(other, e, conformance::element(tensor, e));
  return other;
}

/// A call of the operation on all the tensors.
spec::Request call(const std::string& name, const std::string& definition, const std::vector<std::string>& operands, const Operands& tensors, const std::string& result) {
  spec::Request request;
  spec::Call one{name, {}, {}, {}, {result}, {}};
  for (std::size_t o = 0; o < operands.size(); ++o) {
    request.program.inputs.push_back({operands[o], tensors[o].dtype, tensors[o].dims, spec::Role::input, {}, {}, {}});
    one.operands.emplace_back(operands[o]);
  }
  request.program.steps.emplace_back(one);
  request.program.outputs = {result};
  request.program.definitions = {definition};
  request.inputs = tensors;
  return request;
}

bool is_subnormal(const HostTensor& t, std::size_t e) {
  const double x = std::abs(conformance::element(t, e));
  return x != 0 && x < std::ldexp(1.0, spec::format_of(t.dtype).emin);
}

void flush(HostTensor& t) {
  if (!is_real(t.dtype)) return;
  for (std::size_t e = 0; e < static_cast<std::size_t>(t.dims.count()); ++e) {
    if (is_subnormal(t, e)) conformance::set_element(t, e, std::copysign(0.0, conformance::element(t, e)));
  }
}

/// One equation after the other, each exact and rounded once; subnormal operands and results are zero where the contract says so.
HostTensor rounded_once_each(const Instruction& i, const InstructionValue& result, std::vector<std::string> names, Operands tensors, const spec::Contract& contract) {
  const spec::Library library = library_of(i);
  const spec::Definition& d = library.named(name_of(i));
  const auto rounded = [&](const spec::Request& request) {
    HostTensor answer = reference::correctly_rounded(request).outputs.at(0);
    if (contract.flush_results) flush(answer);
    return answer;
  };
  if (contract.flush_operands) std::for_each(tensors.begin(), tensors.end(), flush);
  if (d.clause_count == 1) return rounded(call(std::string(name_of(i)), std::string(i.meaning), names, tensors, result.name));
  // Each equation as an operation of its own, whose operands are also what the equations before it gave.
  for (std::size_t c = 0; c < d.clause_count; ++c) {
    std::string operands;
    for (std::size_t o = 0; o < names.size(); ++o) operands += fmt::format("{}{}[{}]", o == 0 ? "" : ", ", names[o], tensors[o].dims[0]);
    const std::string target(d.at(d.clauses[c].target));
    const std::string text = fmt::format("one_equation({}) -> {}[{}]\n  {}\n", operands, target, result.dims[0], d.at(d.clauses[c].text));
    tensors.push_back(rounded(call("one_equation", text, names, tensors, target)));
    names.push_back(target);
  }
  return tensors.back();
}

/// The first element that is another number; nothing where there is none. Which zero an extremum of two zeros is, is left open.
std::optional<std::size_t> first_other(const HostTensor& got, const HostTensor& expected, const spec::Contract& contract) {
  const bool is_extremum = contract.nan_of_extrema != spec::NanPolicy::free;
  if (!is_real(got.dtype)) return got.bytes == expected.bytes ? std::nullopt : std::optional<std::size_t>(0);
  for (std::size_t e = 0; e < static_cast<std::size_t>(got.dims.count()); ++e) {
    const double x = conformance::element(got, e), y = conformance::element(expected, e);
    if (!((x == y && (is_extremum || std::signbit(x) == std::signbit(y))) || (std::isnan(x) && std::isnan(y)))) return e;
  }
  return std::nullopt;
}

}  // namespace

Holding hold(const Instruction& i, DType type, std::int64_t lanes, const AsFunction& function, std::size_t times) {
  const InstructionSignature signature = signature_of(i, type, lanes);
  const spec::Contract contract = contract_of(i);
  std::vector<std::string> names;
  for (const InstructionValue& o : signature.operands) names.push_back(o.name);
  Holding holding;
  conformance::Draw draw(fmt::format("{} {} {}", name_of(i), name_of(type), lanes));
  for (std::uint64_t turn = 0; turn < 2 * times * conformance::families_in_turn && holding.fault.empty(); ++turn) {
    const std::vector<conformance::Family> families = families_of(draw, names.size(), turn);
    const std::string at = fmt::format("{} {} in {} lanes, {}: ", name_of(i), name_of(type), lanes, name_of(families.front()));
    Operands operands = draw_operands(signature, families, draw);
    HostTensor got;
    try {
      got = result_of(i, signature, function, operands);
    } catch (const std::logic_error& e) {
      holding.fault = at + e.what();
      break;
    }
    for (std::size_t o = 0; o < operands.size(); ++o) operands[o] = as(operands[o], signature.operands[o].mask ? DType::boolean : type);
    const spec::Request request = call(std::string(name_of(i)), std::string(i.meaning), names, operands, signature.result.name);
    const conformance::Outcome outcome = conformance::judge(request, spec::Numbers{{got}, {}, {}}, contract);
    holding.compared += outcome.comparisons;
    holding.undecided += outcome.undecided;
    if (outcome.verdict != conformance::Verdict::pass && outcome.verdict != conformance::Verdict::undecided) {
      holding.fault = at + outcome.why;
    } else if (const HostTensor expected = rounded_once_each(i, signature.result, names, operands, contract); const auto other = first_other(got, expected, contract)) {
      holding.fault = at + fmt::format("element {} is {}, of equations that are rounded once {}", *other, conformance::element(got, *other), conformance::element(expected, *other));
    }
  }
  return holding;
}

}  // namespace etalon::test
