// Three training steps of both models, gradient, mean and optimizer together, against PyTorch in
// float64 (tests/worker/compute/make_reference.py).
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "server/shard/optimizer.h"
#include "tests/e2e/cluster_jobs.h"
#include "tests/support/reference_file.h"
#include "worker/compute/cpu/cpu_network.h"

namespace tributary {
namespace {

struct Case {
  const char* model;
  const char* rules;
  double learning_rate;
};

class ThreeSteps : public testing::TestWithParam<Case> {};

TEST_P(ThreeSteps, EndWherePyTorchEnds) {
  const Case& test = GetParam();
  const LoadedJob loaded =
      SyntheticJob(ModelText(test.model) + test.rules + "training { epochs: 1 global_batch: 8 }");
  const ModelPlan& plan = loaded.job.model;
  const auto arrays = ReadReferenceFile(std::string("tests/data/reference_") + test.model + ".bin");
  ASSERT_TRUE(arrays.ok()) << arrays.status();

  std::vector<float> parameters(static_cast<size_t>(plan.layout.elements()));
  for (const ParameterTensor& tensor : plan.layout.tensors()) {
    const std::vector<float> values = arrays->at("parameter/" + tensor.name).AsFloats();
    std::copy(values.begin(), values.end(), parameters.begin() + tensor.offset);
  }
  const auto network = CreateCpuNetwork(plan, 8);
  ASSERT_TRUE(network.ok()) << network.status();
  const ElementRange all{0, plan.layout.elements()};
  const std::unique_ptr<Optimizer> optimizer =
      CreateOptimizer(loaded.job.optimizer, plan.layout, all);
  const std::vector<float> images = arrays->at("images").AsFloats();
  const std::vector<int32_t> labels = arrays->at("labels").AsInts();
  const size_t batch = labels.size() / 3;

  for (size_t step = 0; step < 3; ++step) {
    ASSERT_TRUE((*network)->SetParameters(parameters).ok());
    std::vector<float> gradient(parameters.size());
    BatchStatistics statistics;
    ASSERT_TRUE((*network)
                    ->ComputeGradient({absl::MakeConstSpan(images).subspan(step * images.size() / 3,
                                                                           images.size() / 3),
                                       absl::MakeConstSpan(labels).subspan(step * batch, batch)},
                                      {}, absl::MakeSpan(gradient), statistics)
                    .ok());
    std::vector<float> after(parameters.size());
    optimizer->Apply(all, gradient, statistics.samples, test.learning_rate,
                     static_cast<int64_t>(step), parameters, absl::MakeSpan(after));
    parameters = after;
  }

  for (const ParameterTensor& tensor : plan.layout.tensors()) {
    const std::vector<double>& expected = arrays->at("after_step/" + tensor.name).values;
    const std::vector<double>& before = arrays->at("parameter/" + tensor.name).values;
    double moved = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      moved = std::max(moved, std::abs(expected[i] - before[i]));
    }
    // What the three steps changed is right to a thousandth, and the parameters to the rounding of
    // fp32 (values below 1, three additions).
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(parameters[static_cast<size_t>(tensor.offset) + i], expected[i],
                  1e-3 * moved + 3 * 0x1p-24)
          << tensor.name << "[" << i << "]";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, ThreeSteps,
    testing::Values(Case{"mnist_cnn",
                         "optimizer { sgd { momentum: 0.5 } } learning_rate { base: 0.01 }", 0.01},
                    Case{"mnist_tf_cnn",
                         "optimizer { adam { keras_epsilon: true epsilon: 1e-7 } } "
                         "learning_rate { base: 1e-3 }",
                         1e-3}),
    [](const auto& test) { return test.param.model; });

}  // namespace
}  // namespace tributary
