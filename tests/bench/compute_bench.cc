// Images per second of the CPU backend, one thread:
//
//   taskset -c 0 compute_bench --benchmark_repetitions=5
//
// ComputeGradient at the sizes of a slot, Evaluate at the size of an evaluation batch.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "common/base/philox.h"
#include "common/model/initialize.h"
#include "common/model/model_plan.h"
#include "tests/worker/compute/test_models.h"
#include "worker/compute/cpu/cpu_network.h"

namespace tributary {
namespace {

struct Setup {
  Setup(const Model& model, int64_t size)
      : plan(*PlanModel(model)),
        images(size * plan.model.input.elements()),
        gradient(plan.layout.elements()) {
    const RandomStream random(1, RandomUse::kSyntheticData, 0);
    for (size_t i = 0; i < images.size(); ++i) images[i] = 2 * UnitFloat(random.At(i)[0]) - 1;
    for (int64_t n = 0; n < size; ++n) labels.push_back(static_cast<int32_t>(n % plan.classes));
    InitializeParameters(plan, 1, {0, plan.layout.elements()}, absl::MakeSpan(gradient));
    network = *CreateCpuNetwork(plan, size);
    if (!network->SetParameters(gradient).ok()) network.reset();
  }

  ModelPlan plan;
  std::vector<float> images;
  std::vector<int32_t> labels;
  std::vector<float> gradient;
  std::unique_ptr<Network> network;
};

void Gradient(benchmark::State& state, const Model& model) {
  Setup setup(model, state.range(0));
  while (state.KeepRunning()) {
    BatchStatistics statistics;
    if (!setup.network
             ->ComputeGradient({setup.images, setup.labels}, {}, absl::MakeSpan(setup.gradient),
                               statistics)
             .ok()) {
      state.SkipWithError("ComputeGradient failed");
      break;
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void Evaluation(benchmark::State& state, const Model& model) {
  Setup setup(model, state.range(0));
  while (state.KeepRunning()) {
    BatchStatistics statistics;
    if (!setup.network->Evaluate({setup.images, setup.labels}, statistics).ok()) {
      state.SkipWithError("Evaluate failed");
      break;
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK_CAPTURE(Gradient, mnist_cnn, MnistCnn())->Arg(64)->Arg(32)->Arg(16);
BENCHMARK_CAPTURE(Gradient, mnist_tf_cnn, MnistTfCnn())->Arg(64)->Arg(32)->Arg(16);
BENCHMARK_CAPTURE(Evaluation, mnist_cnn, MnistCnn())->Arg(500);
BENCHMARK_CAPTURE(Evaluation, mnist_tf_cnn, MnistTfCnn())->Arg(500);

}  // namespace
}  // namespace tributary
