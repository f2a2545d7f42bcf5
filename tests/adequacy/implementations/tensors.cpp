#include "tests/adequacy/implementations/tensors.hpp"

#include <algorithm>
#include <cstring>

#include "tests/mutants/answers.hpp"

namespace etalon::adequacy {
namespace {

using spec::Answer;
using spec::Numbers;
using spec::Request;

bool same_form(const std::vector<std::optional<HostTensor>>& a, const std::vector<std::optional<HostTensor>>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.has_value() == y.has_value() && (!x || same_type(*x, *y));
  });
}

bool same_form(const Numbers& a, const Numbers& b) {
  return std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(), same_type) &&
         same_form(a.tangents, b.tangents) && same_form(a.cotangents, b.cotangents);
}

}  // namespace

std::size_t elements(const HostTensor& t) { return static_cast<std::size_t>(t.dims.count()); }

bool same_type(const HostTensor& a, const HostTensor& b) { return a.dtype == b.dtype && a.dims == b.dims; }

void copy_element(const HostTensor& from, std::size_t i, HostTensor& to, std::size_t k) {
  const std::size_t size = size_of(to.dtype);
  std::memcpy(to.bytes.data() + k * size, from.bytes.data() + i * size, size);
}

void gather(HostTensor& t, const std::function<std::size_t(std::size_t)>& from) {
  const HostTensor before = t;
  const std::size_t n = elements(t);
  for (std::size_t i = 0; i < n; ++i) copy_element(before, from(i) % n, t, i);
}

Defect of_answers(std::string family, std::string what, OfTensor change) {
  return {std::move(family), std::move(what),
          [change = std::move(change)](const Request& r, const Sound& sound, Past&) {
            Answer answer = sound(r);
            if (Numbers* numbers = mutants::numbers_of(answer)) mutants::for_each_tensor(*numbers, change);
            return answer;
          }};
}

Answer answer_or_sound(const Request& spoilt, const Request& request, const Sound& sound) {
  Answer right = sound(request);
  const Numbers* wanted = mutants::numbers_of(right);
  if (wanted == nullptr) return right;
  Answer answer = sound(spoilt);
  const Numbers* numbers = mutants::numbers_of(answer);
  return numbers != nullptr && same_form(*numbers, *wanted) ? answer : right;
}

Defect of_requests(std::string family, std::string what, std::function<void(Request&)> change) {
  return {std::move(family), std::move(what),
          [change = std::move(change)](const Request& r, const Sound& sound, Past&) {
            Request spoilt = r;
            change(spoilt);
            return answer_or_sound(spoilt, r, sound);
          }};
}

Defect of_inputs(std::string family, std::string what, OfTensor change) {
  return of_requests(std::move(family), std::move(what), [change = std::move(change)](Request& r) {
    for (HostTensor& t : r.inputs) change(t);
    for (auto* list : {&r.tangents, &r.cotangents, &r.cotangent_tangents}) {
      for (auto& t : *list) {
        if (t) change(*t);
      }
    }
  });
}

std::vector<Defect> defects(const std::string& operation) {
  std::vector<Defect> all;
  for (auto&& family : {defects_of_extents(), defects_of_layouts(), defects_of_numbers(operation), defects_of_memory(), defects_of_derivatives()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

}  // namespace etalon::adequacy
