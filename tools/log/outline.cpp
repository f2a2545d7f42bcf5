#include "tools/log/outline.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "spec/library/library.hpp"
#include "spec/program/number_text.hpp"
#include "spec/value_type.hpp"
#include "tools/log/operands.hpp"
#include "tools/log/segment.hpp"

namespace etalon::logging {

using spec::Equation;
using spec::System;
using spec::TensorId;

namespace {

std::string value_line(const std::string& name, const HostTensor& value) {
  return fmt::format("{} : {} = {}", name, to_string(spec::ValueType{value.dtype, value.dims}), spec::elements_text(value));
}

/// `a/b` is a section inside another.
std::vector<std::string> path_of(const std::string& section) {
  std::vector<std::string> path;
  for (std::string_view rest = section; !rest.empty();) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    if (end > 0) path.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return path;
}

/// The lines of one segment.
class Shown {
 public:
  Shown(const Log& log, const Segment& segment) : log_(log), segment_(segment), values_(segment.system.tensors.size()), operands_(segment.system, values_) {
    for (std::size_t i = 0; i < segment.sources.size(); ++i) hold(segment.system.inputs[i], segment.sources[i]);
    for (std::size_t i = 0; i < segment.targets.size(); ++i) hold(segment.system.outputs[i], segment.targets[i]);
  }

  void write(std::vector<Entry>& to) {
    for (std::size_t i = 0; i < segment_.system.equations.size(); ++i) {
      Entry entry{equation_text(segment_.system, i)};
      elements(segment_.system.equations[i], entry.inside);
      to.push_back(std::move(entry));
    }
    for (std::size_t i = 0; i < segment_.targets.size(); ++i) {
      const TensorId t = segment_.system.outputs[i];
      to.push_back({value_line(segment_.system[t].name, *values_[static_cast<std::size_t>(t)])});
    }
  }

 private:
  void hold(TensorId here, TensorId there) { values_[static_cast<std::size_t>(here)] = log_.value(there); }

  /// The first ones; what is not held is named by its equation alone.
  void elements(const Equation& e, std::vector<Entry>& to) {
    const HostTensor* target = values_[static_cast<std::size_t>(e.target)];
    if (target == nullptr) return;
    double all = 1;
    Indices indices;
    for (const spec::Binder& b : e.binders) {
      indices[b.variable] = 0;
      all *= static_cast<double>(b.extent);
    }
    const auto many = static_cast<std::size_t>(std::min(all, static_cast<double>(log_.elements)));
    for (std::size_t n = 0; n < many; ++n) {
      to.push_back({element(e, *target, indices)});
      for (std::size_t b = e.binders.size(); b-- > 0;) {
        std::int64_t& i = indices[e.binders[b].variable];
        if (++i < e.binders[b].extent) break;
        i = 0;
      }
    }
    if (all > static_cast<double>(many)) to.push_back({fmt::format("… {:.0f} more", all - static_cast<double>(many))});
  }

  std::string element(const Equation& e, const HostTensor& target, const Indices& indices) {
    const spec::TensorInfo& info = segment_.system[e.target];
    const auto at = operands_.position(e.target, e.place, indices);
    const std::string result = at ? fmt::format("{} = {}", element_name(info.name, info.dims, *at), element_text(target, *at)) : info.name;
    return result + " | " + operands_.text(e.value, indices);
  }

  const Log& log_;
  const Segment& segment_;
  std::vector<const HostTensor*> values_;
  Operands operands_;
};

/// Opens sections and steps as the assignments come.
class Nesting {
 public:
  explicit Nesting(const Log& log) : log_(log) {}

  /// The lines under the step.
  std::vector<Entry>& at(std::size_t step) {
    const spec::Source source = source_of(log_.meaning.program, step);
    const std::vector<std::string> path = path_of(source.section);
    std::vector<Entry>* lines = &all_;
    bool same = true;
    for (std::size_t depth = 0; depth < path.size(); ++depth) {
      same = same && depth < path_.size() && path_[depth] == path[depth];
      if (!same) lines->push_back({"section " + in_quotes(path[depth])});
      lines = &lines->back().inside;
    }
    same = same && path.size() == path_.size() && step == step_;
    if (!same) lines->push_back({head_of(step, source)});
    path_ = path;
    step_ = step;
    return lines->back().inside;
  }

  std::vector<Entry> take() { return std::move(all_); }

 private:
  [[nodiscard]] std::string head_of(std::size_t step, const spec::Source& source) const {
    const spec::Program& program = log_.meaning.program;
    if (step >= program.steps.size()) return "updates";
    return fmt::format("step {}: {}{}", step + 1, summary_of(program, step), place_of(source));
  }

  const Log& log_;
  std::vector<Entry> all_;
  std::vector<std::string> path_;
  std::size_t step_ = static_cast<std::size_t>(-1);
};

}  // namespace

std::string in_quotes(const std::string& text) { return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

std::string place_of(const spec::Source& source) {
  return source.file.empty() ? "" : fmt::format(" @ {}:{}", in_quotes(source.file), source.line);
}

std::string equation_text(const System& system, std::size_t equation) {
  System one;
  one.tensors = system.tensors;
  one.equations = {system.equations[equation]};
  std::string text = to_text(one);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::vector<std::string> heading(const Log& log) {
  return {"etalon log 1",
          fmt::format("program {} {}", in_quotes(log.file), digest_of(log.meaning.program)),
          "specification sha256:" + spec::Library().hash(),
          "backend " + in_quotes(log.backend),
          "contract " + to_json(log.contract),
          fmt::format("elements {}", log.elements)};
}

std::vector<std::string> program_lines(const Log& log) {
  std::vector<std::string> lines;
  const std::string text = to_text(log.meaning.program);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

std::vector<Entry> given(const Log& log) {
  std::vector<Entry> lines;
  for (std::size_t i = 0; i < log.inputs.size(); ++i) lines.push_back({value_line(log.meaning.program.inputs[i].name, log.inputs[i])});
  return lines;
}

std::vector<Entry> outline(const Log& log) {
  Nesting nesting(log);
  for (const Segment& segment : segments(log.meaning.system, log.held())) {
    Shown(log, segment).write(nesting.at(log.meaning.steps[segment.equations.back()]));
  }
  return nesting.take();
}

}  // namespace etalon::logging
