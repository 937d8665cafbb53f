#include "tests/worker/compute/compute_test_support.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <utility>

#include "common/base/philox.h"
#include "common/model/initialize.h"
#include "worker/compute/cpu/cpu_network.h"

namespace tributary {
namespace {

template <typename T>
T ValueOrDie(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::cerr << value.status() << "\n";
    std::abort();
  }
  return *std::move(value);
}

}  // namespace

ModelPlan PlanOrDie(const Model& model) {
  return ValueOrDie(PlanModel(model));
}

std::unique_ptr<Network> NetworkOrDie(const ModelPlan& plan, int64_t max_batch) {
  return ValueOrDie(CreateCpuNetwork(plan, max_batch));
}

std::vector<float> RandomFloats(uint64_t seed, int64_t count) {
  const RandomStream random(seed, RandomUse::kSyntheticData, 0);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(2 * UnitFloat(random.At(i)[0]) - 1);
  return values;
}

std::vector<int32_t> RandomLabels(uint64_t seed, int64_t count, int64_t classes) {
  const RandomStream random(seed, RandomUse::kSyntheticData, 1);
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < count; ++i) {
    labels.push_back(static_cast<int32_t>(random.At(i)[0] % static_cast<uint64_t>(classes)));
  }
  return labels;
}

std::vector<float> RandomParameters(const ModelPlan& plan, uint64_t seed) {
  std::vector<float> parameters(plan.layout.elements());
  InitializeParameters(plan, seed, {0, plan.layout.elements()}, absl::MakeSpan(parameters));
  return parameters;
}

TestBatch RandomBatch(const ModelPlan& plan, uint64_t seed, int64_t size) {
  return {RandomFloats(seed, size * plan.model.input.elements()),
          RandomLabels(seed, size, plan.classes)};
}

GradientResult GradientOf(Network& network, const ModelPlan& plan, const Batch& batch,
                          const DropoutKey& key) {
  GradientResult result;
  result.gradient.assign(plan.layout.elements(), std::numeric_limits<float>::quiet_NaN());
  const absl::Status status =
      network.ComputeGradient(batch, key, absl::MakeSpan(result.gradient), result.statistics);
  EXPECT_TRUE(status.ok()) << status;
  return result;
}

std::vector<double> FlatFromArrays(const Layout& layout, const ReferenceArrays& arrays,
                                   const std::string& prefix) {
  std::vector<double> flat(layout.elements(), 0.0);
  for (const ParameterTensor& tensor : layout.tensors()) {
    const auto found = arrays.find(prefix + tensor.name);
    if (found == arrays.end() || found->second.shape != tensor.shape) {
      ADD_FAILURE() << "the reference has no " << prefix << tensor.name << " of the right shape";
      continue;
    }
    std::copy(found->second.values.begin(), found->second.values.end(),
              flat.begin() + tensor.offset);
  }
  return flat;
}

void ExpectClose(absl::Span<const float> found, absl::Span<const double> expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  double largest = 0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], tolerance * largest) << what << "[" << i << "]";
  }
}

void ExpectTensorsClose(const Layout& layout, absl::Span<const float> found,
                        absl::Span<const double> expected, double tolerance) {
  ASSERT_EQ(static_cast<int64_t>(found.size()), layout.elements());
  std::vector<bool> in_tensor(found.size(), false);
  for (const ParameterTensor& tensor : layout.tensors()) {
    ExpectClose(found.subspan(tensor.offset, tensor.elements),
                expected.subspan(tensor.offset, tensor.elements), tolerance, tensor.name);
    std::fill_n(in_tensor.begin() + tensor.offset, tensor.elements, true);
  }
  for (size_t i = 0; i < found.size(); ++i) {
    if (!in_tensor[i]) {
      ASSERT_EQ(found[i], 0.0f) << "padding at " << i;
    }
  }
}

}  // namespace tributary
