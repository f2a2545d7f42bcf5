/// \file
/// `etalon train`: runs a shipped task, shows its progress, and leaves plots behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "training/run/ending.hpp"
#include "training/shadow/computation.hpp"
#include "training/shadow/policy.hpp"

namespace etalon::compiled {
class Device;
}

namespace etalon::training {

struct TrainOptions {
  std::string task = "digits";                  ///< digits or moons
  std::string model = "mlp";                    ///< of digits: mlp or cnn
  std::uint64_t seed = 1;
  std::int64_t epochs = 0;                      ///< 0: the task's own number
  std::int64_t every = 0;                       ///< print every that many steps; 0: once an epoch or rarer
  std::int64_t batch = 0;                       ///< rows of a step; 0: the task's own number
  std::int64_t grain = 0;                       ///< rows of a leaf, which divide the batch; 0: the batch
  unsigned devices = 1;                         ///< that compute leaves at the same time
  bool plan = false;                            ///< print who would compute and send what, and run nothing
  unsigned threads = 1;
  bool progress = false;                        ///< a progress bar, for a terminal
  std::size_t columns = 84;                     ///< of the terminal
  bool plots = true;                            ///< in the terminal
  std::filesystem::path data;                   ///< digits.csv.gz; empty: the shipped file
  std::filesystem::path svg;                    ///< folder for the SVG plots; empty: none
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
  double test_accuracy = 0;     ///< of digits; of moons, the share of training points on their side
  double seconds = 0;
  std::vector<double> validation_accuracy{};  ///< of digits, after each epoch
  Ending ending{};              ///< of a run in a folder; unless it is finished, nothing was tested
};

/// Trains, writing to `console`, or writes the plan; then the result is empty. \throws SpecViolation for an unknown task or
/// model (with the nearest name), IoError for data, run or plot files.
TrainResult train(const TrainOptions& options, std::ostream& console);
/// Goes on with the run in a folder: task, model, seed, epochs, interval and start are its own, whatever the options say.
/// \throws SpecViolation for other data or another step than the run's, or where another process trains it, IoError
TrainResult resume(const TrainOptions& options, std::ostream& console);

}  // namespace etalon::training
