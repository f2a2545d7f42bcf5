/// \file
/// `etalon train`: runs a shipped task or trains on data of one's own, shows its progress, and leaves plots behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/plot/page.hpp"
#include "training/ranks/meeting.hpp"
#include "training/run/declaration.hpp"
#include "training/run/ending.hpp"
#include "training/run/own_task.hpp"
#include "training/shadow/computation.hpp"
#include "training/shadow/policy.hpp"

namespace etalon::compiled {
class Device;
}

namespace etalon::training {

struct TrainOptions {
  std::string task = "digits";                  ///< a shipped one, or own
  std::string model;                            ///< of the task; empty: its first
  std::uint64_t seed = 1;
  std::int64_t epochs = 0;                      ///< 0: the task's own number
  std::int64_t every = 0;                       ///< print every that many steps; 0: once an epoch or rarer
  std::int64_t batch = 0;                       ///< rows of a step; 0: the task's own number
  std::int64_t grain = 0;                       ///< rows of a leaf, which divide the batch; 0: the batch
  unsigned devices = 1;                         ///< that compute leaves at the same time
  bool plan = false;                            ///< print who would compute and send what, and run nothing
  int ranks = 1;                                ///< processes of which the plan is
  std::shared_ptr<Meeting> meeting;             ///< with the other processes that compute leaves; null: there are none
  unsigned threads = 1;
  bool progress = false;                        ///< a progress bar, for a terminal
  std::size_t columns = 84;                     ///< of the terminal
  bool plots = true;                            ///< in the terminal
  std::filesystem::path data;                   ///< digits.csv.gz, empty: the shipped file; or one's own, of a run empty: where it was
  std::filesystem::path labels;                 ///< of one's own npy or idx file: its targets
  OwnTask own;                                  ///< how one's own data is read, and the model; its files and classes come from the data
  std::int64_t patience = 0;                    ///< epochs without a lower validation loss after which training ends; 0: it does not
  bool best = false;                            ///< keep the checkpoint after the epoch with the lowest validation loss
  std::filesystem::path metrics;                ///< file of a line of JSON per epoch; empty: none
  std::filesystem::path tensorboard;            ///< folder of the same for TensorBoard; empty: none
  std::filesystem::path svg;                    ///< folder for the SVG plots; empty: none
  std::filesystem::path html;                   ///< file for the same as one page, with what was reached; empty: none
  std::filesystem::path cache;                  ///< folder that keeps compiled code for the next run; empty: none
  std::shared_ptr<compiled::Device> device;     ///< where steps run; null: the processor
  std::filesystem::path run;                    ///< folder that keeps the run; empty: none
  std::int64_t interval = 0;                    ///< steps between checkpoints; 0: a hundredth of all
  std::filesystem::path from;                   ///< safetensors or npz file of the parameters to start with; empty: drawn ones
  std::vector<std::string> maps;                ///< of names in that file
  std::function<bool()> should_stop;            ///< of a run in a folder, asked after each step
  ShadowPolicy shadow;                          ///< of a run in a folder: which steps are checked
  bool checks = true;                           ///< steps are checked as the run says; else none is
  StepJudgeMaker judges;                        ///< who judges steps; empty where none is to be judged
};

/// What a run reached.
struct TrainResult {
  std::int64_t steps = 0;
  double last_epoch_loss = 0;   ///< sum over the last epoch
  double test_accuracy = 0;     ///< of digits; of moons, the share of training points on their side;
                                ///< of one's own classes that of the rows judged
  double seconds = 0;
  std::vector<double> validation_accuracy{};  ///< after each epoch that ran here, where it is validated
  Ending ending{};              ///< of a run in a folder; unless it is finished, nothing was tested
  std::optional<double> test_perplexity{}, bigram_perplexity{};  ///< of the next symbols, and what the counts of pairs come to
  std::optional<double> mean_squared_error{};  ///< where numbers are learned, of the rows judged
  Page page{};                  ///< pictures and classes, where plots are kept
};

/// Trains, writing to `console`, or writes the plan; then the result is empty. \throws SpecViolation for an unknown task or
/// model (with the nearest name), IoError for data, run or plot files.
TrainResult train(const TrainOptions& options, std::ostream& console);
/// What a run's declaration asks for, and of `here` the rest: where it is computed.
[[nodiscard]] TrainOptions options_of(const Declaration& declared, TrainOptions here);
/// Goes on with the run in a folder: task, model, seed, epochs, interval and start are its own, whatever the options say.
/// \throws SpecViolation for other data or another step than the run's, or where another process trains it, IoError
TrainResult resume(const TrainOptions& options, std::ostream& console);

}  // namespace etalon::training
