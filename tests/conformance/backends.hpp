/// \file
/// Wrong backends for the suite to convict: each wraps a conforming one and breaks one promise.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "spec/backend.hpp"

namespace etalon::tests {

/// Passes requests on and lets a function spoil the answers.
class Spoiled final : public spec::Backend {
 public:
  using Spoil = std::function<spec::Answer(const spec::Request&, spec::Answer)>;
  Spoiled(spec::Backend& inner, Spoil spoil) : inner_(inner), spoil_(std::move(spoil)) {}
  [[nodiscard]] spec::Description describe() const override { return inner_.describe(); }
  [[nodiscard]] spec::Answer run(const spec::Request& request) override { return spoil_(request, inner_.run(request)); }

 private:
  spec::Backend& inner_;
  Spoil spoil_;
};

/// Answers like another one, but describes itself otherwise.
class Described final : public spec::Backend {
 public:
  using Change = std::function<void(spec::Description&)>;
  Described(spec::Backend& inner, Change change) : inner_(inner), change_(std::move(change)) {}
  [[nodiscard]] spec::Description describe() const override {
    spec::Description description = inner_.describe();
    change_(description);
    return description;
  }
  [[nodiscard]] spec::Answer run(const spec::Request& request) override { return inner_.run(request); }

 private:
  spec::Backend& inner_;
  Change change_;
};

/// Applies a change to every tensor of an answer.
[[nodiscard]] inline spec::Answer each_tensor(spec::Answer answer, const std::function<void(HostTensor&)>& change) {
  if (auto* numbers = std::get_if<spec::Numbers>(&answer)) {
    for (HostTensor& t : numbers->outputs) change(t);
    for (auto* group : {&numbers->tangents, &numbers->cotangents}) {
      for (auto& t : *group) {
        if (t) change(*t);
      }
    }
  }
  return answer;
}

}  // namespace etalon::tests
