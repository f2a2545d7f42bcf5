// What is found again by less than it depends on, and buffers of several owners.
#include <algorithm>
#include <cstdio>

#include "conformance/values.hpp"
#include "tests/adequacy/implementations/tensors.hpp"
#include "tests/mutants/answers.hpp"

namespace etalon::adequacy {
namespace {

using spec::Answer;
using spec::Numbers;
using spec::Request;

// What a key leaves out.
struct Left {
  bool real_attributes = false, attributes = false, absences = false, packs = false, wrt = false;
};

std::string text_of(const spec::AttributeValue& value, const Left& out) {
  if (const auto* x = std::get_if<double>(&value)) {
    char text[64];
    std::snprintf(text, sizeof text, out.real_attributes ? "real" : "%.17g", *x);
    return text;
  }
  std::string text = std::to_string(value.index());
  if (const auto* i = std::get_if<std::int64_t>(&value)) text += std::to_string(*i);
  if (const auto* b = std::get_if<bool>(&value)) text += *b ? "true" : "false";
  if (const auto* s = std::get_if<std::string>(&value)) text += *s;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) {
    for (const std::int64_t i : *list) text += "," + std::to_string(i);
  }
  if (const auto* list = std::get_if<std::vector<double>>(&value)) {
    for (const double x : *list) text += "," + text_of(x, out);
  }
  return text;
}

std::string key_of(const Request& r, const Left& out) {
  std::string key(name_of(r.mode));
  for (const auto& step : r.program.steps) {
    const auto* call = std::get_if<spec::Call>(&step);
    if (call == nullptr) continue;
    key += ";" + call->operation;
    for (const auto& operand : call->operands) {
      if (operand || !out.absences) key += operand ? " " + *operand : " -";
    }
    for (const std::size_t p : call->packs) key += out.packs ? "" : "/" + std::to_string(p);
    for (const auto& [name, value] : call->attributes)
      key += out.attributes ? "" : " " + name + "=" + text_of(value, out);
    for (const std::string& result : call->results) key += " " + result;
  }
  for (const HostTensor& t : r.inputs) key += " " + std::string(name_of(t.dtype)) + to_string(t.dims);
  for (const bool w : r.wrt) key += out.wrt ? "" : w ? "1" : "0";
  return key;
}

// The program of the first request with this key serves all later ones.
Defect remembered_program(std::string what, const Left& out) {
  return {"remembered", std::move(what), [out](const Request& r, const Sound& sound, Past& past) {
            const auto [first, added] = past.requests.try_emplace(key_of(r, out), nullptr);
            if (added) first->second = std::make_shared<const Request>(r);
            if (added || first->second->program.inputs.size() != r.program.inputs.size()) return sound(r);
            Request spoilt = r;
            spoilt.program = first->second->program;
            return answer_or_sound(spoilt, r, sound);
          }};
}

// In a program, the attributes of an operation's first call serve its later ones.
void first_attributes(Request& r) {
  std::map<std::string, spec::Attributes> first;
  for (auto& step : r.program.steps) {
    if (auto* call = std::get_if<spec::Call>(&step))
      call->attributes = first.try_emplace(call->operation, call->attributes).first->second;
  }
}

using OfKey = void (*)(const Request&, std::string& key);

void add_bytes(const HostTensor& t, std::string& key) {
  key.append(reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size());
}

// The answer to the first request with the same program and this of its numbers serves all later ones.
Defect remembered_answer(std::string what, OfKey numbers) {
  return {"remembered", std::move(what), [numbers](const Request& r, const Sound& sound, Past& past) -> Answer {
            std::string key = key_of(r, {});
            numbers(r, key);
            const auto [first, added] = past.answers.try_emplace(std::move(key), nullptr);
            if (added) first->second = std::make_shared<const Answer>(sound(r));
            return *first->second;
          }};
}

void first_operand(const Request& r, std::string& key) {
  if (!r.inputs.empty()) add_bytes(r.inputs.front(), key);
}
void all_operands(const Request& r, std::string& key) {
  for (const HostTensor& t : r.inputs) add_bytes(t, key);
}
void operands_but_the_last(const Request& r, std::string& key) {
  for (std::size_t i = 0; i + 1 < r.inputs.size(); ++i) add_bytes(r.inputs[i], key);
  for (const auto* list : {&r.tangents, &r.cotangents, &r.cotangent_tangents}) {
    for (const auto& t : *list) {
      if (t) add_bytes(*t, key);
    }
  }
}
void sums(const Request& r, std::string& key) {
  for (const HostTensor& t : r.inputs) {
    double sum = 0;
    for (std::size_t i = 0; i < elements(t); ++i) sum += conformance::element(t, i);
    key += std::to_string(sum);
  }
}

// A buffer of the last answer of this type, which the defect reads: `spoil` gets the new tensor and what was there.
Defect with_leftovers(std::string what, void (*spoil)(HostTensor& now, const HostTensor& before)) {
  return {"buffers", std::move(what), [spoil](const Request& r, const Sound& sound, Past& past) {
            Answer answer = sound(r);
            Numbers* numbers = mutants::numbers_of(answer);
            if (numbers == nullptr) return answer;
            mutants::for_each_tensor(*numbers, [&](HostTensor& t) {
              const std::string key = std::string(name_of(t.dtype)) + to_string(t.dims);
              const HostTensor right = t;
              const auto before = past.answers.find(key);
              if (before != past.answers.end()) spoil(t, std::get<Numbers>(*before->second).outputs.front());
              past.answers[key] = std::make_shared<const Answer>(Numbers{{right}, {}, {}});
            });
            return answer;
          }};
}

void zeros_not_written(HostTensor& now, const HostTensor& before) {
  for (std::size_t i = 0; i < elements(now); ++i) {
    if (conformance::element(now, i) == 0) copy_element(before, i, now, i);
  }
}
void nan_stays(HostTensor& now, const HostTensor& before) {
  for (std::size_t i = 0; mutants::is_real(now) && i < elements(now); ++i) {
    if (conformance::element(before, i) != conformance::element(before, i)) copy_element(before, i, now, i);
  }
}
void added_to(HostTensor& now, const HostTensor& before) {
  for (std::size_t i = 0; mutants::is_real(now) && i < elements(now); ++i)
    conformance::set_element(now, i, conformance::element(now, i) + conformance::element(before, i));
}

// Tensors of one type hold what the last of them should.
void share(std::vector<HostTensor*> tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (std::size_t k = i + 1; k < tensors.size(); ++k) {
      if (same_type(*tensors[i], *tensors[k])) tensors[i]->bytes = tensors[k]->bytes;
    }
  }
}

Defect shared(std::string what, bool derivatives) {
  return {"buffers", std::move(what), [derivatives](const Request& r, const Sound& sound, Past&) {
            Answer answer = sound(r);
            Numbers* numbers = mutants::numbers_of(answer);
            if (numbers == nullptr) return answer;
            std::vector<HostTensor*> outputs, others;
            for (HostTensor& t : numbers->outputs) outputs.push_back(&t);
            for (auto* list : {&numbers->tangents, &numbers->cotangents}) {
              for (auto& t : *list) {
                if (t) others.push_back(&*t);
              }
            }
            share(derivatives ? others : outputs);
            return answer;
          }};
}

// The first result is written over the first operand of its type before what else reads that operand.
Answer in_place(const Request& r, const Sound& sound, Past&) {
  Answer answer = sound(r);
  Numbers* numbers = mutants::numbers_of(answer);
  if (numbers == nullptr || numbers->outputs.empty()) return answer;
  const HostTensor& written = numbers->outputs.front();
  const auto over =
      std::find_if(r.inputs.begin(), r.inputs.end(), [&](const HostTensor& t) { return same_type(t, written); });
  if (over == r.inputs.end()) return answer;
  Request later = r;
  later.inputs[static_cast<std::size_t>(over - r.inputs.begin())] = written;
  Answer second = answer_or_sound(later, r, sound);
  if (Numbers* after = mutants::numbers_of(second)) after->outputs.front() = written;
  return second;
}

}  // namespace

std::vector<Defect> defects_of_memory() {
  return {
      remembered_program("programs are found again without real attributes", {.real_attributes = true}),
      remembered_program("programs are found again without attributes", {.attributes = true}),
      remembered_program("programs are found again by the operands that are there, not by which", {.absences = true}),
      remembered_program("programs are found again without the lengths of packs", {.packs = true}),
      of_requests("remembered", "the attributes of an operation's first call serve all of a program", first_attributes),
      remembered_answer("answers are found again by the first operand", first_operand),
      remembered_answer("answers are found again by all but the last operand", operands_but_the_last),
      remembered_answer("answers are found again by the operands without directions", all_operands),
      remembered_answer("answers are found again by sums of operands", sums),
      with_leftovers("zeros are not written", zeros_not_written),
      with_leftovers("a NaN that was in a buffer stays", nan_stays),
      with_leftovers("results are added to those of the last run", added_to),
      shared("results of one type share a buffer", false),
      shared("derivatives of one type share a buffer", true),
      {"buffers", "the first result is written over an operand that is read on", in_place},
  };
}

}  // namespace etalon::adequacy
