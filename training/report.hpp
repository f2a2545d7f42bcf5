/// \file
/// `etalon train`: runs a shipped task, shows its progress, and leaves plots behind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

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
};

/// What a run reached.
struct TrainResult {
  std::int64_t steps = 0;
  double last_epoch_loss = 0;   ///< sum over the last epoch
  double test_accuracy = 0;     ///< of digits; of moons, the share of training points on their side
  double seconds = 0;
  std::vector<double> validation_accuracy{};  ///< of digits, after each epoch
};

/// Trains, writing to `console`, or writes the plan; then the result is empty. \throws SpecViolation for an unknown task or model (with the nearest name), IoError
/// for data or plot files.
TrainResult train(const TrainOptions& options, std::ostream& console);

}  // namespace etalon::training
