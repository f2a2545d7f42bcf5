// Cotangents that are lost on the way, and directions that are not given.
#include <algorithm>
#include <set>

#include "tests/adequacy/implementations/tensors.hpp"
#include "tests/mutants/answers.hpp"

namespace etalon::adequacy {
namespace {

using spec::Call;
using spec::Request;

template <class Visit>
void for_each_call(Request& r, const Visit& visit) {
  for (auto& step : r.program.steps) {
    if (auto* call = std::get_if<Call>(&step)) visit(*call);
  }
}

// The cotangent of an output that another call reads is what comes from there alone.
void outputs_read_on(Request& r) {
  std::set<std::string> read;
  for_each_call(r, [&](const Call& call) {
    for (const auto& operand : call.operands) {
      if (operand) read.insert(*operand);
    }
  });
  for (std::size_t o = 0; o < r.cotangents.size() && o < r.program.outputs.size(); ++o) {
    if (read.contains(r.program.outputs[o])) r.cotangents[o].reset();
  }
}

// The cotangent of an input that is read several times is what the last reader (in the order of the program, or against
// it) says: others read a copy that nobody differentiates by.
void assigned(Request& r, bool keep_first) {
  if (r.mode != spec::Mode::vjp && r.mode != spec::Mode::jvp_of_vjp) return;
  const std::size_t inputs = r.program.inputs.size();
  for (std::size_t i = 0; i < inputs; ++i) {
    const std::string name = r.program.inputs[i].name;
    std::vector<std::optional<std::string>*> uses;
    for_each_call(r, [&](Call& call) {
      for (auto& operand : call.operands) {
        if (operand == name) uses.push_back(&operand);
      }
    });
    if (uses.size() < 2) continue;
    uses.erase(keep_first ? uses.begin() : uses.end() - 1);
    spec::Input copy = r.program.inputs[i];
    copy.name += ".copy";
    for (auto* use : uses) *use = copy.name;
    r.program.inputs.push_back(copy);
    r.inputs.push_back(r.inputs[i]);
    if (!r.wrt.empty()) r.wrt.push_back(false);
    if (!r.tangents.empty()) r.tangents.push_back(r.tangents[i]);
  }
}

// Its cotangents behind those of the program's own inputs are of copies.
Defect not_accumulated(std::string what, bool keep_first) {
  return {"derivatives", std::move(what), [keep_first](const Request& r, const Sound& sound, Past&) {
            Request spoilt = r;
            assigned(spoilt, keep_first);
            spec::Answer answer = sound(spoilt);
            spec::Numbers* numbers = mutants::numbers_of(answer);
            if (numbers == nullptr) return sound(r);
            if (numbers->cotangents.size() > r.inputs.size()) numbers->cotangents.resize(r.inputs.size());
            if (r.mode == spec::Mode::jvp_of_vjp && numbers->tangents.size() > r.inputs.size())
              numbers->tangents.resize(r.inputs.size());
            return answer;
          }};
}

using Directions = std::vector<std::optional<HostTensor>>;

// Where no direction is given, one of ones.
void ones(Directions& directions, const std::vector<HostTensor>& like) {
  for (std::size_t i = 0; i < directions.size() && i < like.size(); ++i) {
    if (directions[i] || !mutants::is_real(like[i])) continue;
    directions[i] = HostTensor(like[i].dtype, like[i].dims);
    mutants::fill(*directions[i], 1);
  }
}

spec::Answer ones_for_absent_cotangents(const Request& r, const Sound& sound, Past&) {
  spec::Answer answer = sound(r);
  const spec::Numbers* numbers = mutants::numbers_of(answer);
  if (numbers == nullptr || r.cotangents.empty()) return answer;
  Request spoilt = r;
  ones(spoilt.cotangents, numbers->outputs);
  return answer_or_sound(spoilt, r, sound);
}

}  // namespace

std::vector<Defect> defects_of_derivatives() {
  return {
      of_requests("derivatives", "the cotangent given for an output that is read on is lost", outputs_read_on),
      not_accumulated("the cotangent of an input is what its first reader says", true),
      not_accumulated("the cotangent of an input is what its last reader says", false),
      of_requests("derivatives", "tangents that are not given are 1",
                  [](Request& r) {
                    if (r.mode == spec::Mode::jvp) ones(r.tangents, r.inputs);
                  }),
      {"derivatives", "cotangents that are not given are 1", ones_for_absent_cotangents},
      of_requests("derivatives", "the tangents of cotangents are not read",
                  [](Request& r) { r.cotangent_tangents.clear(); }),
      of_requests("derivatives", "the tangents of operands are not read in a second derivative",
                  [](Request& r) {
                    if (r.mode != spec::Mode::jvp_of_vjp) return;
                    for (auto& t : r.tangents) t.reset();
                  }),
  };
}

}  // namespace etalon::adequacy
