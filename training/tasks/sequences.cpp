#include <boost/hana/define_struct.hpp>
#include <array>

#include "spec/library/operations.hpp"
#include "training/data/sequences.hpp"
#include "training/layers.hpp"
#include "training/tasks/classifier.hpp"
#include "training/tasks/sequences.hpp"

namespace etalon::training {

namespace {

using namespace layers;

/// What comes next by the symbol before: a row of answers for each.
template <template <class> class V>
struct Bigram {
  using Table = Embedding<V, ascii, ascii>;
  BOOST_HANA_DEFINE_STRUCT(Bigram, (Table, next));
};

/// Three letters side by side → 64 → the next.
template <template <class> class V>
struct NamesMlp {
  using Letters = Embedding<V, alphabet, 10>;
  using Hidden = Linear<V, 10 * names_context, 64>;
  using Output = Linear<V, 64, alphabet>;
  BOOST_HANA_DEFINE_STRUCT(NamesMlp, (Letters, letters), (Hidden, hidden), (Output, output));
};

/// Blocks of causal attention over symbols and their places.
template <template <class> class V, std::int64_t symbols, std::int64_t length, std::int64_t width, std::int64_t depth>
struct Transformer {
  using Symbols = Embedding<V, symbols, width>;
  using Places = V<Shape<length, width>>;
  using Blocks = std::array<EncoderBlock<V, width, 4 * width, "heads=4, causal=true">, depth>;
  using Norm = LayerNorm<V, width>;
  BOOST_HANA_DEFINE_STRUCT(Transformer, (Symbols, symbols_in), (Places, places), (Blocks, blocks), (Norm, last));

  template <class T>
  [[nodiscard]] auto operator()(const T& t) const {
    auto x = symbols_in(t) + places;
    for (const auto& block : blocks) x = block(x);
    return last(x);
  }
};

template <template <class> class V>
struct Gpt {
  using Body = Transformer<V, ascii, window_length, 32, 2>;
  BOOST_HANA_DEFINE_STRUCT(Gpt, (Body, body));
};

template <template <class> class V>
struct RegisterTransformer {
  using Body = Transformer<V, register_values + 1, register_length, 16, 1>;
  using Output = Linear<V, 16, register_values>;
  BOOST_HANA_DEFINE_STRUCT(RegisterTransformer, (Body, body), (Output, output));
};

template <template <class> class V>
struct RegisterGru {
  using Symbols = Embedding<V, register_values + 1, 16>;
  using Cell = Gru<V, 16, 16>;
  using Output = Linear<V, 16, register_values>;
  BOOST_HANA_DEFINE_STRUCT(RegisterGru, (Symbols, symbols), (Cell, cell), (Output, output));
};

template <template <class> class V>
struct RegisterLstm {
  using Symbols = Embedding<V, register_values + 1, 16>;
  using Cell = Lstm<V, 16, 16>;
  using Output = Linear<V, 16, register_values>;
  BOOST_HANA_DEFINE_STRUCT(RegisterLstm, (Symbols, symbols), (Cell, cell), (Output, output));
};

/// Symbols as they are looked up: rows hold them as numbers.
Traced whole(const Traced& x) { return ops::cast.with<"dtype=i64">(x); }

Traced place(const Traced& x, std::int64_t n) {
  return ops::select.set("axis", std::int64_t{1}).set("index", n)(x);
}

Traced names_forward(const NamesMlp<Untyped>& m, const Traced& x, const Noise<Untyped>*) {
  const Traced side_by_side = ops::flatten.with<"start=1">(m.letters(whole(x)));
  return m.output(ops::tanh(m.hidden(side_by_side)));
}

Traced gpt_forward(const Gpt<Untyped>& m, const Traced& x, const Noise<Untyped>*) { return m.body.symbols_in.likeness(m.body(whole(x))); }

Traced transformer_forward(const RegisterTransformer<Untyped>& m, const Traced& x, const Noise<Untyped>*) {
  return m.output(m.body(whole(x)));
}

/// What a recurrent layer has at each place, as [rows, length, width]. \param next of the symbol at a place
template <class Next>
Traced over_places(const Traced& symbols, Next next) {
  std::vector<Traced> states;
  for (std::int64_t n = 0; n < symbols.dims()[1]; ++n) states.push_back(next(place(symbols, n)));
  return ops::stack.with<"axis=1">(states);
}

/// The state before the first place.
Traced nothing_yet(const Traced& symbols) { return 0 * place(symbols, 0); }

Traced gru_forward(const RegisterGru<Untyped>& m, const Traced& x, const Noise<Untyped>*) {
  const Traced symbols = m.symbols(whole(x));
  Traced h = nothing_yet(symbols);
  return m.output(over_places(symbols, [&](const Traced& symbol) { return h = m.cell(symbol, h); }));
}

Traced lstm_forward(const RegisterLstm<Untyped>& m, const Traced& x, const Noise<Untyped>*) {
  const Traced symbols = m.symbols(whole(x));
  Traced h = nothing_yet(symbols), c = h;
  return m.output(over_places(symbols, [&](const Traced& symbol) {
    const auto [next, kept] = m.cell(symbol, h, c);
    c = kept;
    return h = next;
  }));
}

Traced bigram_forward(const Bigram<Untyped>& m, const Traced& x, const Noise<Untyped>*) { return m.next(whole(x)); }

constexpr const char* drawn = "xavier_uniform";

struct Pace {
  double peak = 0, decay = 0;
};

template <template <template <class> class> class Model, class Forward>
Task sequences(std::string name, const Pace& pace, const char* weights, Forward forward) {
  Task task = classifier(std::move(name), pace.peak, pace.decay);
  use_model(task, started<Model<Declared>>(weights), forward);
  return task;
}

}  // namespace

Task text_bigram() { return sequences<Bigram>("text (bigram)", {0.05, 0}, "zeros", bigram_forward); }
Task text_gpt() { return sequences<Gpt>("text (GPT)", {0.003, 0.01}, drawn, gpt_forward); }
Task names_mlp() { return sequences<NamesMlp>("names (MLP)", {0.005, 0.1}, drawn, names_forward); }
Task register_transformer() {
  return sequences<RegisterTransformer>("register (transformer)", {0.003, 0.01}, drawn, transformer_forward);
}
Task register_gru() { return sequences<RegisterGru>("register (GRU)", {0.005, 0.01}, drawn, gru_forward); }
Task register_lstm() { return sequences<RegisterLstm>("register (LSTM)", {0.005, 0.01}, drawn, lstm_forward); }

}  // namespace etalon::training
