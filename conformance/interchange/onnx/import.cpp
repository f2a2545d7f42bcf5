#include "conformance/interchange/onnx/import.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "conformance/interchange/onnx/fold.hpp"
#include "conformance/interchange/onnx/write_model.hpp"
#include "spec/error.hpp"
#include "spec/quoted.hpp"

namespace etalon::conformance::onnx {
namespace {

class Importer {
 public:
  Importer(const Model& model, const ImportOptions& options) : model_(model), options_(options), writer_(options.file) {}

  [[nodiscard]] Imported run() {
    if (model_.opset < 0 || model_.opset > last_opset)
      refuse_model(fmt::format("expected version {} of ONNX's operators or an older one, found {}", last_opset, model_.opset));
    read_initializers();
    read_inputs();
    find_needed();
    for (std::size_t i = 0; i < model_.nodes.size(); ++i) {
      if (needed_nodes_.contains(i)) translate(i);
    }
    write_outputs();
    if (found_.refused.empty()) finish();
    return std::move(found_);
  }

 private:
  void refuse_model(const std::string& why) { found_.refused.push_back(fmt::format("{}: {}", options_.file, why)); }
  void refuse_node(std::size_t i, std::string_view why) {
    const Node& node = model_.nodes[i];
    const std::string name = node.name.empty() ? "" : fmt::format(" \"{}\"", as_quoted(node.name));
    refuse_model(fmt::format("node {}{} ({}): {}", i + 1, name, as_quoted(node.operation), on_one_line(why)));
  }

  /// `: else_branch has the node (Relu), then_branch has 2 nodes from "act" (Relu) on`; nothing where the node has no graphs.
  [[nodiscard]] static std::string graphs_of(const Node& node) {
    std::string graphs;
    for (const auto& [name, value] : node.attributes) {
      const auto* graph = std::get_if<NotOffered>(&value);
      if (graph != nullptr && !graph->holds.empty())
        graphs += fmt::format("{} {} has {}", graphs.empty() ? ":" : ",", as_quoted(name), graph->holds);
    }
    return graphs;
  }

  void read_initializers() {
    for (const auto& [name, tensor] : model_.initializers) {
      if (const auto* why = std::get_if<std::string>(&tensor)) {
        why_not_[name] = fmt::format("initializer \"{}\": {}", as_quoted(name), *why);
        continue;
      }
      const auto& numbers = std::get<HostTensor>(tensor);
      const Value value = known_value(numbers);
      value->name = name;
      value->role = options_.parameters && kind_of(numbers.dtype) == Kind::real ? spec::Role::parameter : spec::Role::constant;
      value->folds = value->role == spec::Role::constant;
      values_[name] = value;
    }
  }

  void read_inputs() {
    for (const ValueInfo& info : model_.inputs) {
      try {
        values_[info.name] = input(info);
      } catch (const Refused& why) {
        why_not_[info.name] = fmt::format("input \"{}\": {}", as_quoted(info.name), why.what());
      }
    }
    for (const auto& known : options_.known) {
      const auto is_it = [&](const ValueInfo& info) { return info.name == known.first; };
      if (std::none_of(model_.inputs.begin(), model_.inputs.end(), is_it)) {
        refuse_model(fmt::format("there is no input \"{}\" to be known", as_quoted(known.first)));
      }
    }
  }

  [[nodiscard]] Value input(const ValueInfo& info) const {
    auto item = std::make_shared<Item>();
    item->name = info.name;
    const auto known = options_.known.find(info.name);
    if (known != options_.known.end()) {
      require_declared(known->second, info);
      item->known = known->second;
      item->type = {known->second.dtype, known->second.dims};
      item->role = spec::Role::constant;
      return item;
    }
    const std::optional<DType> dtype = dtype_of(info.type);
    refuse(!dtype, info.type == 0 ? "it is no tensor" : fmt::format("tensors of {} are not offered", type_name(info.type)));
    refuse(!info.extents, "its extents are not said");
    refuse(info.extents->size() > Dims::max_rank,
           fmt::format("it has {} axes, and at most {} are offered", info.extents->size(), Dims::max_rank));
    item->type.dtype = *dtype;
    for (const auto& extent : *info.extents) item->type.dims.push_back(extent_of(extent));
    refuse(!addressable(item->type), "it is larger than memory");
    return item;
  }

  /// \throws Refused where the numbers have another type or other extents than the input is declared with
  void require_declared(const HostTensor& numbers, const ValueInfo& info) const {
    const std::int64_t type = type_of(numbers.dtype);
    refuse(info.type != 0 && info.type != type,
           fmt::format("{} is declared, and the numbers that are known are {}", type_name(info.type), type_name(type)));
    if (!info.extents) return;
    refuse(info.extents->size() != numbers.dims.rank,
           fmt::format("{} axes are declared, and the numbers that are known have {}", info.extents->size(), numbers.dims.rank));
    for (std::size_t i = 0; i < numbers.dims.rank; ++i) {
      const auto& extent = (*info.extents)[i];
      const auto* name = std::get_if<std::string>(&extent);
      if (name != nullptr && !options_.dims.contains(*name)) continue;  // open
      const std::int64_t declared = extent_of(extent);
      refuse(declared != numbers.dims[i],
             fmt::format("the extent {} is declared, and the numbers that are known have {}", declared, numbers.dims[i]));
    }
  }

  [[nodiscard]] std::int64_t extent_of(const std::variant<std::int64_t, std::string>& extent) const {
    const auto* number = std::get_if<std::int64_t>(&extent);
    const std::string name = number == nullptr ? std::get<std::string>(extent) : "";
    const auto given = options_.dims.find(name);
    if (number == nullptr && given == options_.dims.end())
      throw Refused(name.empty() ? "an extent is not said"
                                 : fmt::format("the extent \"{}\" is open; give it with --dim {}=N", as_quoted(name), as_quoted(name)));
    const std::int64_t found = number == nullptr ? given->second : *number;
    refuse(found < 0, fmt::format("{} is no extent", found));
    return found;
  }

  /// The nodes that lead to what is asked.
  void find_needed() {
    std::set<std::string> needed(options_.outputs.begin(), options_.outputs.end());
    for (const ValueInfo& info : model_.outputs) {
      if (options_.outputs.empty()) needed.insert(info.name);
    }
    for (std::size_t i = model_.nodes.size(); i-- > 0;) {
      const Node& node = model_.nodes[i];
      if (std::none_of(node.outputs.begin(), node.outputs.end(), [&](const std::string& name) { return needed.contains(name); })) continue;
      needed_nodes_.insert(i);
      needed.insert(node.inputs.begin(), node.inputs.end());
      needed.erase("");  // what is left out
    }
  }

  /// The value of that name. Why it is not there has been said once, and is not said again.
  [[nodiscard]] bool look_up(const std::string& name, Value& value) {
    if (name.empty()) return true;
    const auto at = values_.find(name);
    if (at != values_.end()) {
      value = at->second;
      return true;
    }
    if (!said_.insert(name).second) return false;
    const auto why = why_not_.find(name);
    if (why != why_not_.end()) refuse_model(why->second);
    else refuse_model(fmt::format("\"{}\" is made by no earlier node", as_quoted(name)));
    return false;
  }

  void translate(std::size_t i) {
    const Node& node = model_.nodes[i];
    try {
      const bool is_own = node.domain.empty() || node.domain == "ai.onnx";
      const Row* row = is_own ? find_row(node.operation) : nullptr;
      if (row == nullptr)
        throw Refused(is_own ? std::string(why_not(node.operation)) + graphs_of(node)
                             : fmt::format("operators of \"{}\" are not offered", as_quoted(node.domain)));
      refuse(model_.opset == 0, "the model does not say of which version it is");
      Values operands(node.inputs.size());
      bool is_whole = true;
      for (std::size_t k = 0; k < node.inputs.size(); ++k) is_whole = look_up(node.inputs[k], operands[k]) && is_whole;
      if (is_whole) keep(i, results_of(*row, i, std::move(operands)));
      else drop(node);
      return;
    } catch (const Refused& why) {
      refuse_node(i, why.what());
    } catch (const SpecViolation& why) {
      refuse_node(i, why.what());
    } catch (const Unsupported& why) {
      refuse_node(i, why.what());
    }
    drop(node);
  }

  [[nodiscard]] Values results_of(const Row& row, std::size_t i, Values operands) {
    const Node& node = model_.nodes[i];
    // Trailing inputs that are left out are not there.
    while (!operands.empty() && operands.back() == nullptr) operands.pop_back();
    if (auto known = folded(row, node, model_.opset, operands)) return *known;
    writer_.at_node(i + 1, node.name);
    NodeTranslation translation(node, model_.opset, row.meaning, std::move(operands), writer_);
    Values results = row.translate(translation);
    if (const auto name = translation.unread()) throw Refused(fmt::format("attribute \"{}\" is not offered", as_quoted(*name)));
    return results;
  }

  /// The node's results have no values, which has been said.
  void drop(const Node& node) { said_.insert(node.outputs.begin(), node.outputs.end()); }

  void keep(std::size_t i, const Values& results) {
    const Node& node = model_.nodes[i];
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (k < results.size()) values_[node.outputs[k]] = results[k];
      else
        why_not_[node.outputs[k]] = fmt::format("node {} ({}): its output {}, \"{}\", is not offered", i + 1, as_quoted(node.operation),
                                                k + 1, as_quoted(node.outputs[k]));
    }
  }

  void write_outputs() {
    std::vector<std::string> names = options_.outputs;
    for (const ValueInfo& info : model_.outputs) {
      if (options_.outputs.empty()) names.push_back(info.name);
    }
    if (names.empty()) refuse_model("it has no outputs");
    std::vector<Value> answered;
    for (const std::string& name : names) {
      Value value;
      if (name.empty()) refuse_model("an output has no name");
      else if (look_up(name, value)) answered.push_back(value);
    }
    if (!found_.refused.empty()) return;
    for (std::size_t i = 0; i < names.size(); ++i) {
      writer_.at_node(0, "");
      writer_.output(answered[i], names[i]);
    }
    found_.outputs = std::move(names);
  }

  void finish() {
    try {
      found_.program = writer_.finish();
      found_.parameters = writer_.parameters();
      found_.inputs = writer_.inputs();
    } catch (const SpecViolation& why) {
      refuse_model(on_one_line(why.what()));
    }
  }

  const Model& model_;
  const ImportOptions& options_;
  Writer writer_;
  Imported found_;
  std::map<std::string, Value> values_;
  std::map<std::string, std::string> why_not_;  ///< of values that are not there
  std::set<std::string> said_;
  std::set<std::size_t> needed_nodes_;
};

}  // namespace

Imported import_model(const Model& model, const ImportOptions& options) { return Importer(model, options).run(); }

}  // namespace etalon::conformance::onnx
