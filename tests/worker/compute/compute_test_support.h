// Networks, parameters and comparisons for the tests of the compute backend.
#ifndef TRIBUTARY_TESTS_WORKER_COMPUTE_COMPUTE_TEST_SUPPORT_H_
#define TRIBUTARY_TESTS_WORKER_COMPUTE_COMPUTE_TEST_SUPPORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/model/model_plan.h"
#include "tests/support/reference_file.h"
#include "tests/worker/compute/test_models.h"
#include "worker/compute/backend.h"

namespace tributary {

// These end the test program when the model is refused: a mistake of the test.
ModelPlan PlanOrDie(const Model& model);
std::unique_ptr<Network> NetworkOrDie(const ModelPlan& plan, int64_t max_batch);

// Uniform in [-1, 1), a function of the seed.
std::vector<float> RandomFloats(uint64_t seed, int64_t count);
std::vector<int32_t> RandomLabels(uint64_t seed, int64_t count, int64_t classes);
// Parameters of a reasonable size, from InitializeParameters.
std::vector<float> RandomParameters(const ModelPlan& plan, uint64_t seed);

// The images and labels of a random batch.
struct TestBatch {
  std::vector<float> images;
  std::vector<int32_t> labels;
  Batch batch() const { return {images, labels}; }
};
TestBatch RandomBatch(const ModelPlan& plan, uint64_t seed, int64_t size);

// What ComputeGradient gives; the gradient is filled with NaN before the call.
struct GradientResult {
  std::vector<float> gradient;
  BatchStatistics statistics;
};
GradientResult GradientOf(Network& network, const ModelPlan& plan, const Batch& batch,
                          const DropoutKey& key = {});

// The flat vector whose tensors are arrays[prefix + name]; padding is zero.
std::vector<double> FlatFromArrays(const Layout& layout, const ReferenceArrays& arrays,
                                   const std::string& prefix);

// Expects |found - expected| <= tolerance * (largest |expected|) for each element.
void ExpectClose(absl::Span<const float> found, absl::Span<const double> expected, double tolerance,
                 const std::string& what);
// ExpectClose for each tensor by itself, and zeros in the padding.
void ExpectTensorsClose(const Layout& layout, absl::Span<const float> found,
                        absl::Span<const double> expected, double tolerance);

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_WORKER_COMPUTE_COMPUTE_TEST_SUPPORT_H_
