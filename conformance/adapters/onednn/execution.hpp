/// \file
/// One primitive: its description, its arguments in the layouts that it chose, and its run. It knows no operation.
#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "conformance/adapters/onednn/recording.hpp"
#include "conformance/adapters/onednn/tensors.hpp"

namespace etalon::onednn {

/// A description, and its name where it is written down.
template <class Primitive>
struct Described {
  typename Primitive::primitive_desc pd;
  Recording* recording;
  std::string type, name;

  [[nodiscard]] const typename Primitive::primitive_desc* operator->() const { return &pd; }
};

template <class Primitive>
[[nodiscard]] Described<Primitive> recorded(Recording* recording, const char* type, typename Primitive::primitive_desc pd, const std::string& words) {
  Described<Primitive> made{std::move(pd), recording, type, {}};
  if (recording == nullptr) return made;
  made.name = recording->fresh("pd");
  recording->add(made.name, made.type + "::primitive_desc " + made.name + "(" + words + ", cpu);");
  return made;
}

template <class... Words>
[[nodiscard]] std::string listed_texts(const Words&... words) {
  std::string text;
  ((text += (text.empty() ? "" : ", ") + text_of(words)), ...);
  return "{" + text + "}";
}

/// \param type the name of the primitive in C++
template <class Primitive, class... Words>
[[nodiscard]] Described<Primitive> described(Recording* recording, const char* type, const Words&... words) {
  return recorded<Primitive>(recording, type, {typename Primitive::desc(words...), engine()}, recording == nullptr ? "" : listed_texts(words...));
}

/// A backward primitive's, which follows a forward one.
template <class Primitive, class Forward, class... Words>
[[nodiscard]] Described<Primitive> described_after(const Described<Forward>& hint, const char* type, const Words&... words) {
  Described<Primitive> made{{typename Primitive::desc(words...), engine(), hint.pd}, hint.recording, type, {}};
  if (made.recording == nullptr) return made;
  made.name = made.recording->fresh("pd");
  made.recording->add(made.name, made.type + "::primitive_desc " + made.name + "(" + listed_texts(words...) + ", cpu, " + hint.name + ");");
  return made;
}

class Execution {
 public:
  template <class Primitive>
  explicit Execution(const Described<Primitive>& of) : primitive_(Primitive(of.pd)), recording_(of.recording), of_(of.name) {
    if (recording_ == nullptr) return;
    name_ = recording_->fresh("run");
    made_ = of.type + "(" + of.name + ")";
    note("Arguments " + name_ + ";");
  }

  void give(int argument, const Tensor& from, const Desc& as, const Desc& wanted) {
    held_.push_back(from.data);
    dnnl::memory plain(as, engine(), held_.back().data());
    arguments_[argument] = wanted == as ? plain : reordered(plain, wanted);
    if (recording_ != nullptr)
      note(place(argument) + " = given(" + (from.name.empty() ? text_of(from.data) : from.name) + ", " + text_of(as) + ", " + text_as(wanted, argument) + ");");
  }
  void give(int argument, const Tensor& from, const Desc& wanted) { give(argument, from, desc(from.shape), wanted); }

  void room(int argument, const Desc& wanted) {
    arguments_[argument] = dnnl::memory(wanted, engine());
    if (recording_ != nullptr) note(place(argument) + " = memory(" + text_as(wanted, argument) + ", cpu);");
  }
  /// What another one has there.
  void put(int argument, const Execution& from) {
    arguments_[argument] = from.arguments_.at(argument);
    if (recording_ != nullptr) note(place(argument) + " = " + from.place(argument) + ";");
  }

  void run() {
    primitive_.execute(stream_, arguments_);
    stream_.wait();
    if (recording_ != nullptr) note("run(" + made_ + ", " + name_ + ");");
  }

  /// The argument as a dense tensor of that shape, read through the description.
  [[nodiscard]] Tensor take(int argument, const Dims& shape, const Desc& as) {
    Tensor t = zeros(shape);
    dnnl::memory plain(as, engine(), t.data.data());
    dnnl::reorder(arguments_.at(argument), plain).execute(stream_, arguments_.at(argument), plain);
    stream_.wait();
    if (recording_ != nullptr) {
      t.name = recording_->fresh("y");
      recording_->add(t.name, "const Numbers " + t.name + " = taken(" + place(argument) + ", " + text_of(as) + ");");
    }
    return t;
  }
  [[nodiscard]] Tensor take(int argument, const Dims& shape) { return take(argument, shape, desc(shape)); }

 private:
  [[nodiscard]] dnnl::memory reordered(dnnl::memory& from, const Desc& wanted) {
    dnnl::memory to(wanted, engine());
    dnnl::reorder(from, to).execute(stream_, from, to);
    stream_.wait();
    return to;
  }

  void note(std::string statement) { recording_->add(name_, std::move(statement)); }
  [[nodiscard]] std::string place(int argument) const { return name_ + "[" + argument_text(argument) + "]"; }
  /// A layout of oneDNN's own has no other name than that it is the primitive's.
  [[nodiscard]] std::string text_as(const Desc& wanted, int argument) const {
    return has_strides(wanted) ? text_of(wanted) : of_ + ".query_md(query::exec_arg_md, " + argument_text(argument) + ")";
  }

  dnnl::stream stream_{engine()};
  dnnl::primitive primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
  std::deque<std::vector<float>> held_;  // what stands in it does not move
  Recording* recording_;
  std::string of_, name_, made_;
};

}  // namespace etalon::onednn
