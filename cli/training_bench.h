// How fast training is through servers, and how fast without, on made-up images.
#ifndef TRIBUTARY_CLI_TRAINING_BENCH_H_
#define TRIBUTARY_CLI_TRAINING_BENCH_H_

#include <functional>
#include <string>
#include <vector>

#include "cli/interrupts.h"
#include "cli/launcher.h"

namespace tributary {

struct TrainingBenchOptions {
  std::string program_folder;
  std::string model = "mnist_cnn";  // a built-in model's name, or a file
  std::vector<std::string> overrides;
  int servers = 1;
  int workers = 1;
  int threads = 1;   // per worker
  int batch = 64;    // images per worker and step
  int seconds = 10;  // about how long each of the two measurements takes
  std::function<void(const std::string& line)> note;
};

struct TrainingBenchResult {
  // 0 or why there are no numbers; as in ClusterOutcome.
  int exit_code = 0;
  std::string message;

  double images_per_second = 0;        // through the servers
  double local_images_per_second = 0;  // one process, as many threads as all workers have
};

// The step's batch is `batch` * `workers`, cut into one slot per thread: what data-parallel
// programs call a batch of `batch` per rank. Without servers one process computes the same slots
// with the same number of threads. To be called from the main thread before others are started.
TrainingBenchResult RunTrainingBench(const TrainingBenchOptions& options, Interrupts& interrupts);

}  // namespace tributary

#endif  // TRIBUTARY_CLI_TRAINING_BENCH_H_
