#include "samples.hpp"

#include <algorithm>
#include <sstream>

#include "golden_file.hpp"
#include "spec/library/library.hpp"
#include "spec/notation/attributes.hpp"

namespace etalon::test {

namespace {

struct Operand {
  std::optional<spec::ValueType> type;
  bool positive = false;
  std::vector<std::int64_t> values;
};

Operand parse(std::string text) {
  Operand o;
  if (text == "absent") return o;
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) {
    std::istringstream in(text.substr(equals + 1));
    for (std::int64_t v = 0; in >> v;) o.values.push_back(v);
    text = text.substr(0, equals);
  }
  o.positive = text.find('>') != std::string::npos;
  const std::size_t open = text.find('[');
  o.type = spec::ValueType{dtype_named(text.substr(0, open)).value(), {}};
  std::string extents = text.substr(open + 1, text.find(']') - open - 1);
  std::replace(extents.begin(), extents.end(), ',', ' ');
  std::istringstream in(extents);
  for (std::int64_t e = 0; in >> e;) o.type->dims.push_back(e);
  return o;
}

reference::Array<double> values_of(const Operand& o, Draw how, std::mt19937_64& engine) {
  if (kind_of(o.type->dtype) != Kind::real) {
    return reference::Array<double>::of_integers(o.type->dims, o.values, kind_of(o.type->dtype));
  }
  if (how != Draw::at_kinks) {
    return o.positive || how == Draw::positive ? random_reals(o.type->dims, 0.25, 2.25, engine) : random_reals(o.type->dims, -2, 2, engine);
  }
  reference::Array<double> a(Kind::real, o.type->dims);
  for (double& v : a.real) v = o.positive ? 1 + static_cast<double>(engine() % 2) : static_cast<double>(engine() % 3) - 1;
  return a;
}


/// An operand as the golden case gives it.
std::string operand_text(const golden::Case& c, const std::string& name) {
  const golden::Line* line = c.find(name);
  if (line == nullptr || line->absent) return "absent";
  std::string text = std::string(name_of(line->type.dtype)) + to_string(line->type.dims);
  if (kind_of(line->type.dtype) == Kind::real) {
    const bool positive = std::all_of(line->values.begin(), line->values.end(), [](const auto& v) { return v.value > 0; });
    return positive ? text + ">0" : text;
  }
  text += " =";
  for (const golden::Written& v : line->values) text += " " + v.value.str();
  return text;
}

/// Derivatives are compared where there are elements and all numbers of the case are finite.
bool has_derivatives(const golden::Case& c) {
  return c.rejected.empty() && std::all_of(c.lines.begin(), c.lines.end(), [](const golden::Line& line) {
    return line.absent || (!line.values.empty() && std::all_of(line.values.begin(), line.values.end(), [](const auto& v) {
                             return v.form == golden::Written::Form::finite;
                           }));
  });
}

/// The calls of an operation's golden cases, so that an operation without a row below is sampled all the same.
void add_golden_samples(const spec::Definition& d, std::vector<Sample>& all) {
  const std::string name(d.name);
  for (const golden::Case& c : golden::read_file(ETALON_SOURCE_DIR "/tests/golden/" + name + ".txt").cases) {
    if (!has_derivatives(c)) continue;
    Sample sample{name, c.attributes, {}};
    for (std::size_t i = 0; i < d.operand_count; ++i) {
      if (!d.operands[i].pack) {
        sample.operands.push_back(operand_text(c, std::string(d.at(d.operands[i].name))));
        continue;
      }
      for (int t = 0; c.find(std::string(d.at(d.operands[i].name)) + "#" + std::to_string(t)) != nullptr; ++t) {
        sample.operands.push_back(operand_text(c, std::string(d.at(d.operands[i].name)) + "#" + std::to_string(t)));
      }
    }
    all.push_back(std::move(sample));
  }
}

std::vector<Sample> rows() {
  return {
      {"abs", "", {"f64[2, 3]"}},
      {"adam", "lr=0.25", {"f64[3]", "f64[3]", "f64[3]", "f64[3]>0", "i64[] = 3"}},
      {"adam", "lr=0.25, eps_hat=true, eps=0.5", {"f64[2]", "f64[2]", "f64[2]", "f64[2]>0", "i64[] = 1"}},
      {"adamw", "lr=0.25, weight_decay=0.5", {"f64[3]", "f64[3]", "f64[3]", "f64[3]>0", "i64[] = 2"}},
      {"add", "", {"f64[2, 3]", "f64[3]"}},
      {"argmax", "axes=[1]", {"f64[2, 3]"}},
      {"broadcast_to", "shape=[2, 3]", {"f64[2, 1]"}},
      {"cast", "dtype=f32", {"f64[3]"}},
      {"concat", "axis=1", {"f64[2, 1]", "f64[2, 3]", "f64[2, 0]"}},
      {"conv", "stride=[2, 1], padding=1", {"f64[1, 2, 3, 3]", "f64[2, 2, 2, 2]", "f64[2]"}},
      {"conv1d", "padding=1, dilation=2", {"f64[1, 1, 5]", "f64[2, 1, 2]", "absent"}},
      {"conv2d", "groups=2", {"f64[1, 2, 3, 2]", "f64[2, 1, 2, 2]", "f64[2]"}},
      {"conv2d", "stride=2, padding=[1, 0]", {"f64[1, 1, 3, 4]", "f64[1, 1, 2, 3]", "absent"}},
      {"conv3d", "", {"f64[1, 1, 2, 3, 2]", "f64[1, 1, 2, 2, 1]", "absent"}},
      {"cross_entropy", "", {"f64[3, 4]", "i64[3] = 1 0 3", "absent"}},
      {"cross_entropy", "reduction=none, label_smoothing=0.125", {"f64[2, 3]", "i64[2] = 2 -100", "f64[3]>0"}},
      {"cross_entropy", "reduction=sum", {"f64[2, 3]", "i64[2] = 0 2", "f64[3]>0"}},
      {"div", "", {"f64[2, 1]", "f64[3]>0"}},
      {"dropout", "p=0.5, stream=3", {"f64[6]", "i64[] = 42", "i64[] = 7"}},
      {"exp", "", {"f64[3]"}},
      {"gather", "axis=0", {"f64[3, 2]", "i64[4] = 2 0 2 5"}},
      {"gather", "axis=1", {"f64[2, 3]", "i64[2, 2] = 0 1 1 -1"}},
      {"gelu", "", {"f64[3]"}},
      {"gelu", "approximate=tanh", {"f64[3]"}},
      {"hinge", "", {"f64[4]", "f64[4]"}},
      {"hinge", "reduction=none", {"f64[4]", "f64[4]"}},
      {"hinge", "reduction=sum", {"f64[4]", "f64[4]"}},
      {"layer_norm", "", {"f64[2, 3]", "f64[3]", "f64[3]"}},
      {"layer_norm", "axes=[1, 2], eps=0.5", {"f64[2, 2, 2]", "f64[2, 2]", "f64[2, 2]"}},
      {"linear", "", {"f64[2, 3]", "f64[2, 3]", "f64[2]"}},
      {"linear", "", {"f64[3]", "f64[2, 3]", "absent"}},
      {"log", "", {"f64[3]>0"}},
      {"log_softmax", "axis=0", {"f64[3, 2]"}},
      {"logsumexp", "axes=[1], keepdims=true", {"f64[2, 3]"}},
      {"logsumexp", "", {"f64[2, 2]"}},
      {"matmul", "", {"f64[2, 3]", "f64[3, 2]"}},
      {"matmul", "", {"f64[2, 1, 1, 2]", "f64[2, 2, 1]"}},
      {"max", "axes=[1]", {"f64[2, 3]"}},
      {"max", "axes=[0, 2], keepdims=true", {"f64[2, 2, 2]"}},
      {"max_pool", "kernel=[2, 2], stride=[1, 2], padding=[1, 0]", {"f64[1, 1, 3, 4]"}},
      {"max_pool1d", "kernel=3, stride=2, padding=1", {"f64[1, 2, 5]"}},
      {"max_pool2d", "kernel=[2, 2], stride=[2, 2]", {"f64[1, 1, 4, 4]"}},
      {"max_pool2d", "kernel=3, stride=1, padding=1", {"f64[1, 1, 3, 3]"}},
      {"max_pool3d", "kernel=2, stride=1", {"f64[1, 1, 2, 3, 2]"}},
      {"maximum", "", {"f64[2, 3]", "f64[2, 1]"}},
      {"mean", "axes=[0]", {"f64[2, 3]"}},
      {"mse", "", {"f64[2, 2]", "f64[2, 2]"}},
      {"mse", "reduction=none", {"f64[3]", "f64[3]"}},
      {"mse", "reduction=sum", {"f64[3]", "f64[3]"}},
      {"mul", "", {"f64[2, 3]", "f64[]"}},
      {"neg", "", {"f64[3]"}},
      {"normal", "shape=[3]", {"i64[] = 1", "i64[] = 2"}},
      {"relu", "", {"f64[5]"}},
      {"reshape", "shape=[3, 2]", {"f64[2, 3]"}},
      {"sgd", "lr=0.25, momentum=0.5, dampening=0.25, weight_decay=0.125", {"f64[3]", "f64[3]", "f64[3]", "i64[] = 2"}},
      {"sgd", "lr=0.25, momentum=0.5, nesterov=true", {"f64[3]", "f64[3]", "f64[3]", "i64[] = 1"}},
      {"sigmoid", "", {"f64[4]"}},
      {"slice", "start=[1, 2], stop=[3, 0], step=[1, -1]", {"f64[4, 3]"}},
      {"softmax", "", {"f64[2, 3]"}},
      {"softmax", "axis=0", {"f64[3]"}},
      {"sqrt", "", {"f64[3]>0"}},
      {"stack", "axis=1", {"f64[2]", "f64[2]", "f64[2]"}},
      {"sub", "", {"f64[3]", "f64[2, 1]"}},
      {"sum", "", {"f64[2, 3]"}},
      {"sum", "axes=[-1], keepdims=true", {"f64[2, 3]"}},
      {"tanh", "", {"f64[3]"}},
      {"transpose", "permutation=[2, 0, 1]", {"f64[2, 1, 3]"}},
      {"uniform", "shape=[3]", {"i64[] = 1", "i64[] = 2"}},
      {"where", "", {"bool[2, 1] = 1 0", "f64[2, 2]", "f64[2]"}},
  };
}

}  // namespace

const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    std::vector<Sample> found = rows();
    for (const spec::Definition* d : spec::library()) {
      const bool has_row = std::any_of(found.begin(), found.end(), [&](const Sample& s) { return s.operation == d->name; });
      if (!has_row) add_golden_samples(*d, found);
    }
    return found;
  }();
  return all;
}

Drawn draw(const Sample& sample, Draw how, std::mt19937_64& engine) {
  const spec::Definition& d = spec::definition_named(sample.operation);
  std::vector<std::optional<spec::ValueType>> types;
  Drawn drawn;
  for (const std::string& text : sample.operands) {
    const Operand o = parse(text);
    types.push_back(o.type);
    if (!o.type) continue;
    if (kind_of(o.type->dtype) == Kind::real) drawn.wrt.push_back(drawn.point.size());
    drawn.point.push_back(values_of(o, how, engine));
  }
  drawn.instance = spec::instantiate(d, types, {}, spec::attributes_from_text(d, sample.attributes));
  const auto& results = drawn.instance.results;
  if (std::none_of(results.begin(), results.end(), [](const auto& r) { return kind_of(r.dtype) == Kind::real; })) {
    drawn.wrt.clear();
  }
  return drawn;
}

}  // namespace etalon::test
