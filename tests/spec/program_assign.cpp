#include <catch2/catch.hpp>

#include <map>

#include <nlohmann/json.hpp>

#include "reference/backend.hpp"
#include "reference/evaluate.hpp"
#include "reference/host.hpp"
#include "reference/number.hpp"
#include "spec/error.hpp"
#include "spec/library/operations.hpp"
#include "spec/program/program.hpp"
#include "spec/program/trace.hpp"
#include "spec/protocol/json.hpp"

using namespace etalon;
using namespace etalon::spec;

namespace {

using Rows = std::vector<std::vector<double>>;

/// The outputs by the reference, as doubles.
[[nodiscard]] Rows run(const Program& program, const std::vector<HostTensor>& inputs) {
  verify(lower(program));
  Request request;
  request.program = program;
  request.inputs = inputs;
  const Answer answer = reference::make_reference_backend()->run(request);
  if (const auto* refusal = std::get_if<Refusal>(&answer)) throw SpecViolation(refusal->why);
  Rows values;
  for (const HostTensor& t : std::get<Numbers>(answer).outputs) {
    const auto view = t.view<double>();
    values.emplace_back(view.begin(), view.end());
  }
  return values;
}

/// The outputs and updates as numbers of type T; `instead` replaces the numbers of some inputs.
template <class T>
[[nodiscard]] std::vector<std::vector<T>> evaluated(const Program& program, const std::vector<HostTensor>& inputs,
                                                    const std::map<std::size_t, std::vector<T>>& instead = {}) {
  std::vector<reference::Array<T>> arrays;
  for (const HostTensor& input : inputs) arrays.push_back(reference::from_host<T>(input));
  for (const auto& [input, numbers] : instead) arrays.at(input).real = numbers;
  std::vector<std::vector<T>> values;
  for (const auto& output : reference::evaluate<T>(lower(program), arrays)) values.push_back(output.real);
  return values;
}

[[nodiscard]] Rows run(std::string_view text, const std::vector<HostTensor>& inputs) { return run(parse_program(text), inputs); }

[[nodiscard]] std::string refusal(const std::string& text) {
  try {
    const Program program = parse_program(text);
    verify(program);
    return "accepted";
  } catch (const SpecViolation& error) {
    return error.what();
  }
}

[[nodiscard]] HostTensor reals(const Dims& dims, std::initializer_list<double> values) { return HostTensor::of<double>(dims, values); }

const std::string vectors = "input x : f64[3]\ninput y : f64[6]\nparameter g : f64[3]\nbuffer t : f64[6]\n";
const std::vector<HostTensor> three{reals({3}, {1, 2, 3}), reals({6}, {10, 20, 30, 40, 50, 60}), reals({3}, {100, 200, 300})};

[[nodiscard]] Rows after(const std::string& steps, const std::string& outputs = "g") {
  return run(vectors + steps + "\noutput " + outputs + "\n", three);
}

}  // namespace

TEST_CASE("a buffer is set, accumulated, or reset and accumulated, worked by hand", "[program][assign]") {
  CHECK(after("g[i] = 2*x[i]") == Rows{{2, 4, 6}});
  CHECK(after("g[i] += x[i]") == Rows{{101, 202, 303}});
  CHECK(after("g[i] -= x[i]") == Rows{{99, 198, 297}});
  CHECK(after("g[i] *= x[i]") == Rows{{100, 400, 900}});
  CHECK(after("g[i] /= x[i]") == Rows{{100, 100, 100}});
  CHECK(after("g[i] max= 100*x[i] - 50*i") == Rows{{100, 200, 300}});
  CHECK(after("g[i] min= 100*x[i] - 50*i") == Rows{{100, 150, 200}});
  CHECK(after("g[i] :+= x[i]") == Rows{{1, 2, 3}});
  CHECK(after("g[i] :-= x[i]") == Rows{{-1, -2, -3}});
  CHECK(after("g[i] :*= x[i]") == Rows{{1, 2, 3}});
  CHECK(after("g[i] :/= 1/x[i]") == Rows{{1, 2, 3}});
  CHECK(after("g[i] :max= -x[i]") == Rows{{-1, -2, -3}});
  CHECK(after("g[...] = 0") == Rows{{0, 0, 0}});
  CHECK(after("g[i] = 0.5*g[i] + x[i]\ng[i] += x[i]") == Rows{{52, 104, 156}});
  CHECK(after("g[i] += sum[k] x[k]*y[2*k + (if i == 0 then 0 else 1)]") == Rows{{320, 480, 580}});
}

TEST_CASE("elements at no place keep what they hold, or the neutral element after a reset", "[program][assign]") {
  CHECK(after("t[i] = 1\nt[2*i] = x[i]", "t") == Rows{{1, 1, 2, 1, 3, 1}});
  CHECK(after("t[...] = y[...]\nt[2*i + 1] -= x[i]", "t") == Rows{{10, 19, 30, 38, 50, 57}});
  CHECK(after("t[2*i] :+= x[i]", "t") == Rows{{1, 0, 2, 0, 3, 0}});
  CHECK(after("t[2*i] :*= x[i]", "t") == Rows{{1, 1, 2, 1, 3, 1}});
  CHECK(after("g[1] = 7") == Rows{{100, 7, 300}});
  CHECK(after("g[i < 2] = x[i + 1]") == Rows{{2, 3, 300}});
  CHECK(after("t[2*i] = x[i]\nt[2*i + 1] = -x[i]", "t") == Rows{{1, -1, 2, -2, 3, -3}});
}

TEST_CASE("places that meet accumulate", "[program][assign]") {
  CHECK(after("g[i // 2] += y[i]") == Rows{{130, 270, 410}});
  CHECK(after("g[i // 2] :max= y[i]") == Rows{{20, 40, 60}});
  CHECK(after("t[i + j] :+= x[i]*x[j]", "t") == Rows{{1, 4, 10, 12, 9, 0}});  // a product of polynomials
  CHECK(after("g[i // 3] *= y[i]/10") == Rows{{600, 24000, 300}});
}

TEST_CASE("matrices, scalars, integers and truth values are assigned", "[program][assign]") {
  const Rows found = run(R"(input d : f64[2, 2]
input x : f64[2, 3]
input label : i64[2]
buffer w : f64[2, 3]
buffer s : f64[]
buffer n : i32[3]
buffer hit : bool[3]
w[i, j] :+= sum[k] d[k, i]*x[k, j]
s[] = 0
s[] += sum[..k] w[..k]
s += 1
n[c] :+= sum[k where label[k] == c] 1
n[c] max= 1
hit[c] = n[c] > 1
hit[0] or= true
hit[2] and= false
count = cast(n) {dtype = f64}
truth = cast(hit) {dtype = f64}
output w, s, count, truth
)", {reals({2, 2}, {1, 2, 3, 4}), reals({2, 3}, {1, 0, 2, 0, 1, 1}), HostTensor::of<std::int64_t>({2}, {2, 2})});
  CHECK(found == Rows{{1, 3, 5, 2, 4, 8}, {24}, {1, 1, 2}, {1, 0, 0}});
}

TEST_CASE("operations and derivatives see what a buffer holds where they stand", "[program][assign]") {
  // h = x·w, w doubled, then (2w)²: by x there is 2·(2w) · …; by the new w only what stands behind it.
  const Rows found = run(R"(parameter w : f64[]
input x : f64[]
h = mul(x, w)
w[] = 2*w + h
q = mul(w, w)
gx, gw, gh = vjp(q; x, w, h)
w[] += gw
output h, q, gx, gw, gh, w
)", {reals({}, {3}), reals({}, {5})});
  CHECK(found == Rows{{15}, {441}, {126}, {42}, {42}, {63}});
  CHECK(refusal("parameter w : f64[2]\nh = mul(w, w)\ns = sum(h)\nw[i] -= h[i]\ng = vjp(s; w)\n") ==
        "g = vjp(s; w): w is assigned after s was computed; differentiate before the assignment");
}

TEST_CASE("a parameter that is assigned is updated by what its assignments leave", "[program][assign]") {
  const Program program = parse_program("parameter w : f64[2]\nparameter v : f64[2]\nu = neg(v)\nw[i] += v[i]\nw[i] *= 2\nupdate v := u\n");
  CHECK(all_updates(program) == std::vector<Update>{{"v", "u"}, {"w", "w"}});
  const System system = lower(program);
  verify(system);
  REQUIRE(system.outputs.size() == 2);
  CHECK(system[system.outputs[1]].name == "w.3");
  CHECK(refusal("parameter w : f64[2]\nu = neg(w)\nw[i] += 1\nupdate w := u\n") ==
        "update w := u: the parameter is assigned, and holds what its assignments leave");
}

TEST_CASE("descent with momentum as assignments gives the bits of the operation", "[program][assign]") {
  const std::string inputs = "parameter w : f64[4]\ninput g : f64[4]\nparameter m : f64[4]\nindex t : i64[] in 1..9\n";
  const std::string rest = " {lr = 0.1, momentum = 0.9, dampening = 0.3, weight_decay = 0.01}\n";
  const Program operation = parse_program(inputs + "w1, m1 = sgd(w, g, m, t)" + rest + "output w1, m1\n");
  const Program assignments = parse_program(inputs + R"(buffer d : f64[4]
d[i] = g[i]
d[i] += 0.01*w[i]
m[i] = if t == 1 then d[i] else 0.9*m[i] + (1 - 0.3)*d[i]
w[i] -= 0.1*m[i]
output w, m
)");
  for (const std::int64_t t : {1, 2}) {
    const std::vector<HostTensor> values{reals({4}, {0.1, -1.7, 3e-5, 12345.678}), reals({4}, {1.1, 2.3, -0.7, 1e-9}),
                                         reals({4}, {-0.3, 1e3, 0.7, 0.123}), HostTensor::of<std::int64_t>({}, {t})};
    const auto expected = evaluated<double>(operation, values);
    const auto found = evaluated<double>(assignments, values);
    REQUIRE(found.size() == 4);  // outputs, and the same as updates
    CHECK(found[0] == expected.at(0));
    CHECK(found[1] == expected.at(1));
    CHECK(found[2] == expected.at(0));
  }
}

TEST_CASE("gradients over two batches add up to the gradient over both", "[program][assign]") {
  const std::string model = "p = matmul(x, w)\nq = mul(p, p)\nloss = sum(q)\ngw = vjp(loss; w)\n";
  const Program zero = parse_program("parameter acc : f64[2, 1]\nacc[...] = 0\noutput acc\n");
  const Program batch = parse_program("parameter w : f64[2, 1]\nparameter acc : f64[2, 1]\ninput x : f64[2, 2]\n" + model +
                                      "acc[...] += gw[...]\noutput acc\n");
  const Program both = parse_program("parameter w : f64[2, 1]\ninput x : f64[4, 2]\n" + model + "output gw\n");
  using Exact = reference::Rational;
  const HostTensor w = reals({2, 1}, {0.3, -1e-7}), one = reals({2, 2}, {0.1, 2, 3, 1e9}), two = reals({2, 2}, {5, 1e-9, -7, 0.7});
  const HostTensor shape = reals({2, 1}, {99, 98});
  std::vector<Exact> sum = evaluated<Exact>(zero, {shape})[0];
  CHECK(sum == std::vector<Exact>{0, 0});
  sum = evaluated<Exact>(batch, {w, shape, one}, {{1, sum}})[0];
  sum = evaluated<Exact>(batch, {w, shape, two}, {{1, sum}})[0];
  CHECK(sum == evaluated<Exact>(both, {w, reals({4, 2}, {0.1, 2, 3, 1e9, 5, 1e-9, -7, 0.7})})[0]);
  // Whole numbers stay exact through the store: 2 xᵀ(x w).
  const auto acc = [](const Rows& rows) { return reals({2, 1}, {rows[0][0], rows[0][1]}); };
  HostTensor kept = acc(run(zero, {reals({2, 1}, {99, 98})}));
  kept = acc(run(batch, {reals({2, 1}, {3, -1}), kept, reals({2, 2}, {1, 2, 3, 4})}));
  kept = acc(run(batch, {reals({2, 1}, {3, -1}), kept, reals({2, 2}, {5, 6, -7, 8})}));
  CHECK(kept == reals({2, 1}, {528, -312}));
}

TEST_CASE("a wrong assignment is an error of one line", "[program][assign]") {
  const auto wrong = [](const std::string& steps) { return refusal(vectors + steps + "\n"); };
  CHECK(wrong("t[i] += y[i] @ \"net.cpp\":7") ==
        "t[i] += y[i] at net.cpp:7: t is read, but not each of its elements is written; set it, or reset it by :+=");
  CHECK(wrong("t[i] = t[i]") == "t[i] = t[i]: t is read, but not each of its elements is written; set it, or reset it by :+=");
  CHECK(wrong("t[2*i] = x[i]\nz = neg(t)") == "z = neg(t): t is read, but not each of its elements is written");
  CHECK(wrong("output t") == "output t: t is read, but not each of its elements is written");
  CHECK(wrong("g[i] = t[i]") == "g[i] = t[i]: t is read, but not each of its elements is written");
  CHECK(wrong("g[i // 2] = y[i]") ==
        "g[i // 2] = y[i]: it is not proved that each element of g is written at most once; accumulate them, as += does, "
        "or reduce on the right side");
  CHECK(wrong("g[i + 1] = x[i]") == "g[i + 1] = x[i]: g: axis 0 has places 1 to 3, its extent is 3");
  CHECK(wrong("x[i] += 1") == "x[i] += 1: only a parameter or a buffer is assigned, x is none");
  CHECK(wrong("h = neg(x)\nh[i] += 1") == "h[i] += 1: only a parameter or a buffer is assigned, h is none");
  CHECK(wrong("gg[i] += 1") == "gg[i] += 1: unknown value 'gg'; did you mean 'g'?");
  CHECK(wrong("g[i] and= x[i]") == "g[i] and= x[i]: and= does not accumulate elements of type f64");
  CHECK(wrong("g[i] += x[k]") == "g[i] += x[k]: unknown name 'k'; did you mean 'i'? (column 11)");
  CHECK(wrong("g[i] += x[i] *").find("g[i] += x[i] *: ") == 0);
  CHECK(wrong("g[i] += x[i] h[i] = 3").find("expected one expression on the right side") != std::string::npos);
  CHECK(wrong("g[i] += y[i + 1]") == "accepted");
  CHECK(wrong("g[i] += y[i + 4]").find("g[i] += y[i + 4]: ") == 0);
  CHECK(wrong("buffer x : f64[3]") == "buffer x: x is named a second time; each value is named once");
  CHECK(wrong("g[i = 1") == "program: line 5, column 2: the bracket is not closed");
  CHECK(wrong("g[i] := 1") == "program: line 5, column 6: expected one of = += -= *= /= max= min= and= or=, perhaps after ':', found ':'");
  CHECK(wrong("g[i] =  # nothing") == "program: line 5, column 9: expected what is assigned, found nothing");
}

TEST_CASE("a buffer may begin where it is first written", "[program][assign]") {
  const Program program = parse_program(vectors + R"(buffer s[] = sum[i] x[i]
buffer outer[i, j] = x[i]*g[j]
buffer at[i < 3] = i
buffer big[i] = x[i] > 1.5
buffer flat[k < 2] = s*k
outer[0, j] -= if big[j] then s else real(at[j])
output s, outer, flat
)");
  const auto types = types_of(program);
  CHECK(types.at("s") == ValueType{DType::f64, {}});
  CHECK(types.at("outer") == ValueType{DType::f64, {3, 3}});
  CHECK(types.at("big") == ValueType{DType::boolean, {3}});
  CHECK(types.at("flat") == ValueType{DType::f64, {2}});
  CHECK(run(program, three) == Rows{{6}, {100, 194, 294, 200, 400, 600, 300, 600, 900}, {0, 6}});
  const std::string nothing = "input e : f64[0]\nbuffer h[i] = 2*e[i]\nbuffer s[] = sum[i] h[i]\nbuffer z : f64[0, 2]\nz[i, j] :+= e[i]\ns[] += 1\n";
  CHECK(run(nothing + "output s, z\n", {reals({0}, {})}) == Rows{{1}, {}});
  Program broken;
  broken.buffers.push_back({"t", DType::f64, {2}, {}});
  Assign step;
  for (const char* name : {"h) -> q", "", "9", "h.2"}) {
    step.buffer = name;
    step.declares = true;
    step.value = "1";
    broken.steps = {step};
    CHECK_THROWS_AS(verify(broken), SpecViolation);
  }
  for (const char* places : {"i] when 1 > 2 and t[0", "i] = 1 u[j", "]", "[", "i, i", "i, j"}) {
    step.buffer = "t";
    step.declares = false;
    step.places = places;
    broken.steps = {step};
    CHECK_THROWS_AS(verify(broken), SpecViolation);
    step.buffer = "fresh";
    step.declares = true;
    broken.steps = {step};
    CHECK_THROWS_AS(verify(broken), SpecViolation);
  }
  CHECK(refusal(vectors + "buffer h[i] += x[i]\n") == "buffer h[i] += x[i]: a buffer begins with =, found +=");
  CHECK(refusal(vectors + "buffer x[i] = y[i]\n") == "buffer x[i] = y[i]: x is named a second time; each value is named once");
  CHECK(refusal(vectors + "buffer h[i] = x[k]\n").find("(column ") != std::string::npos);
}

TEST_CASE("assignments have a JSON form and can be traced", "[program][assign]") {
  Tracer tracer(DType::f64);
  const Traced x = tracer.input("x", DType::f64, {3});
  const Traced w = tracer.parameter("w", DType::f64, {3});
  const Traced t = tracer.buffer("t", DType::f64, {3});
  const Traced y = ops::mul(x, w).named("y");
  tracer.assign("t[i] :+= y[i]*x[i]");
  tracer.assign("w[i] -= 0.5*t[i]");
  y.named("product");
  tracer.output("s", ops::sum(w));
  const Program program = tracer.finish();
  CHECK(std::get<Assign>(program.steps[1]).value == "product[i]*x[i]");
  CHECK(std::get<Assign>(program.steps[1]).source.line > 0);
  CHECK(program_from_json(program_to_json(program), "program") == program);
  CHECK(parse_program(to_text(program)) == program);
  CHECK(run(program, {reals({3}, {1, 2, 3}), reals({3}, {2, 2, 2})}) == Rows{{1 - 2 - 7}});
  CHECK_THROWS_WITH(tracer.assign("t[i] += z[i]"), Catch::Matchers::Contains("z"));
}
