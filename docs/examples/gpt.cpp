// A GPT, from its layers to what it answers. Usage: gpt [TEXT [EPOCHS]]
#include <boost/hana/define_struct.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "spec/file.hpp"
#include "spec/library/operations.hpp"
#include "training/data/sequences.hpp"
#include "training/layers.hpp"
#include "training/tasks/classifier.hpp"
#include "training/trainer.hpp"
using namespace etalon;
using namespace etalon::training;

template <template <class> class V>
struct Gpt {
  using Characters = layers::Embedding<V, ascii, 32>;
  using Places = V<Shape<32, 32>>;
  using Blocks = std::array<layers::EncoderBlock<V, 32, 128, "heads=4, causal=true">, 2>;
  using Norm = layers::LayerNorm<V, 32>;
  BOOST_HANA_DEFINE_STRUCT(Gpt, (Characters, characters), (Places, places), (Blocks, blocks), (Norm, last));
};

Traced answers(const Gpt<Untyped>& gpt, const Traced& text, const Noise<Untyped>*) {
  Traced x = gpt.characters(ops::cast.with<"dtype=i64">(text)) + gpt.places;
  for (const auto& block : gpt.blocks) x = block(x);
  return gpt.characters.likeness(gpt.last(x));
}

int main(int argc, char** argv) {
  const std::string file = argc > 1 ? argv[1] : "/usr/share/common-licenses/GPL-3";
  const Dataset rows = windows_of(read_file(file), 32, file);
  Task task = classifier("my GPT", 0.003, 0.01);
  use_model(task, started<Gpt<Declared>>("xavier_uniform"), answers);

  Trainer trainer(task, rows, {.seed = 1, .epochs = argc > 2 ? std::atoi(argv[2]) : 1, .batch = 16});
  const double before = trainer.loss(rows);
  trainer.run([](const StepRecord& step) { if (step.batch == 0) std::printf("epoch %d: %.3f\n", static_cast<int>(step.epoch), step.loss); });
  const double after = trainer.loss(rows);
  std::printf("perplexity %.1f, then %.1f\n", std::exp(before), std::exp(after));
  return after < before - 1 ? 0 : 1;
}
