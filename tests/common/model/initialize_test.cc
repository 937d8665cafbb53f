#include "common/model/initialize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "common/base/philox.h"
#include "gtest/gtest.h"
#include "tests/common/model/example_models.h"

namespace tributary {
namespace {

std::vector<float> InitialRange(const ModelPlan& plan, uint64_t seed, ElementRange range) {
  std::vector<float> values(static_cast<size_t>(range.size()), NAN);
  InitializeParameters(plan, seed, range, absl::MakeSpan(values));
  return values;
}

std::vector<float> Initial(const ModelPlan& plan, uint64_t seed) {
  return InitialRange(plan, seed, {0, plan.layout.elements()});
}

std::vector<float> OfTensor(const std::vector<float>& all, const ParameterTensor& tensor) {
  return {all.begin() + tensor.offset, all.begin() + tensor.offset + tensor.elements};
}

// A model of one dense layer, 300 to 1000.
ModelPlan DensePlan(Initializer initializer) {
  return PlanModel({"m", {300, 1, 1}, {Dense("fc", 1000, initializer), Loss()}}).value();
}

TEST(Initialize, AnyRangeIsThatSliceOfTheWhole) {
  const ModelPlan plan = PlanModel(MnistCnn()).value();
  const std::vector<float> whole = Initial(plan, 7);
  const int64_t elements = plan.layout.elements();
  for (const int64_t begin : {0, 1, 2, 3, 5, 249, 250, 256, 265, 266, 5280, 5299, 21900}) {
    for (const int64_t size : {0, 1, 2, 3, 4, 7, 16, 300, 6000, 21904}) {
      const int64_t end = std::min(begin + size, elements);
      EXPECT_EQ(InitialRange(plan, 7, {begin, end}),
                std::vector<float>(whole.begin() + begin, whole.begin() + end))
          << begin << " " << end;
    }
  }
}

TEST(Initialize, ShardsTogetherAreTheWhole) {
  const ModelPlan plan = PlanModel(MnistTfCnn()).value();
  const std::vector<float> whole = Initial(plan, 7);
  for (const ShardId shards : {1, 2, 3, 5, 7}) {
    std::vector<float> joined;
    for (ShardId shard = 0; shard < shards; ++shard) {
      const std::vector<float> part = InitialRange(plan, 7, plan.layout.ShardRange(shard, shards));
      joined.insert(joined.end(), part.begin(), part.end());
    }
    EXPECT_EQ(joined, whole) << shards;
  }
}

TEST(Initialize, AnElementIsItsOwnNumberOfItsTensorsStream) {
  const ModelPlan plan = PlanModel(MnistCnn()).value();
  const std::vector<float> whole = Initial(plan, 7);
  for (size_t k = 0; k < plan.layout.tensors().size(); ++k) {
    const ParameterTensor& tensor = plan.layout.tensors()[k];
    // PyTorch: 1 / sqrt(fan_in), for weight and bias.
    const double fan_in[] = {25, 25, 250, 250, 320, 320, 50, 50};
    const auto bound = static_cast<float>(1 / std::sqrt(fan_in[k]));
    const RandomStream stream(7, RandomUse::kInitialization, k);
    for (int64_t i = 0; i < tensor.elements; ++i) {
      const float u = UnitFloat(stream.At(static_cast<uint64_t>(i / 4))[i % 4]);
      ASSERT_EQ(whole[tensor.offset + i], -bound + (bound - -bound) * u) << tensor.name << " " << i;
    }
  }
}

TEST(Initialize, PaddingIsZero) {
  const ModelPlan plan = PlanModel(MnistCnn()).value();
  std::vector<float> whole = Initial(plan, 7);
  for (const ParameterTensor& tensor : plan.layout.tensors()) {
    std::fill_n(whole.begin() + tensor.offset, tensor.elements, 0.0f);
  }
  EXPECT_EQ(whole, std::vector<float>(whole.size(), 0.0f));
}

TEST(Initialize, BoundsAreThoseOfTheInitializer) {
  struct Case {
    Initializer initializer;
    double weight_bound;
    double bias_bound;
  };
  for (const Case& c :
       {Case{Initializer::kPytorchDefault, 1 / std::sqrt(300.0), 1 / std::sqrt(300.0)},
        Case{Initializer::kGlorotUniform, std::sqrt(6 / 1300.0), 0},
        Case{Initializer::kHeUniform, std::sqrt(6 / 300.0), 0}, Case{Initializer::kZeros, 0, 0}}) {
    const ModelPlan plan = DensePlan(c.initializer);
    const std::vector<float> whole = Initial(plan, 3);
    const double bounds[] = {c.weight_bound, c.bias_bound};
    for (const size_t k : {0, 1}) {
      const std::vector<float> values = OfTensor(whole, plan.layout.tensors()[k]);
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      EXPECT_GE(*least, -bounds[k] * 1.000001);
      EXPECT_LE(*most, bounds[k] * 1.000001);
      // Of n uniform numbers the extremes are about bound * 2 / n from the bounds.
      const double near = bounds[k] * (1 - 20.0 / static_cast<double>(values.size()));
      EXPECT_LE(*least, -near);
      EXPECT_GE(*most, near);
    }
  }
}

TEST(Initialize, WeightsAreUniform) {
  const ModelPlan plan = DensePlan(Initializer::kPytorchDefault);
  const std::vector<float> weight = OfTensor(Initial(plan, 3), plan.layout.tensors()[0]);
  const double bound = 1 / std::sqrt(300.0);
  const auto n = static_cast<double>(weight.size());
  double sum = 0;
  double squares = 0;
  double neighbours = 0;
  std::vector<int> counts(20);
  for (size_t i = 0; i < weight.size(); ++i) {
    const double u = weight[i] / bound;  // in [-1, 1)
    sum += u;
    squares += u * u;
    neighbours += i > 0 ? u * weight[i - 1] / bound : 0;
    ++counts[std::min(static_cast<size_t>((u + 1) * 10), size_t{19})];
  }
  // Four deviations of each mean: u has mean 0 and variance 1/3, u^2 mean 1/3 and variance 4/45,
  // the product of two neighbours mean 0 and variance 1/9.
  EXPECT_NEAR(sum / n, 0, 4 * std::sqrt(1 / 3.0 / n));
  EXPECT_NEAR(squares / n, 1 / 3.0, 4 * std::sqrt(4 / 45.0 / n));
  EXPECT_NEAR(neighbours / n, 0, 4 * std::sqrt(1 / 9.0 / n));
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - n / 20) * (count - n / 20) / (n / 20);
  EXPECT_LT(chi_square, 43.82);  // 99.9% quantile, 19 degrees of freedom
}

TEST(Initialize, SeedsAndTensorsDiffer) {
  const ModelPlan plan =
      PlanModel({"m", {20, 1, 1}, {Dense("a", 20), Dense("b", 20), Loss()}}).value();
  const std::vector<float> one = Initial(plan, 1);
  const std::vector<float> two = Initial(plan, 2);
  const std::vector<ParameterTensor>& tensors = plan.layout.tensors();
  EXPECT_NE(OfTensor(one, tensors[0]), OfTensor(two, tensors[0]));
  EXPECT_NE(OfTensor(one, tensors[0]), OfTensor(one, tensors[2]));
  EXPECT_NE(OfTensor(one, tensors[1]), OfTensor(one, tensors[3]));
}

}  // namespace
}  // namespace tributary
