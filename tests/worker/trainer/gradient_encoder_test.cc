#include "worker/trainer/gradient_encoder.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "common/codec/piece_source.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

using testing::ElementsAreArray;

// a has elements 0 to 9, b element 16, c elements 32 to 131; the rest is padding.
constexpr int64_t kElements = 144;

Layout ThreeTensors() {
  return Layout::Create({{.name = "a", .shape = {2, 5}},
                         {.name = "b", .shape = {1}},
                         {.name = "c", .shape = {100}}})
      .value();
}

// What a server reads.
std::vector<float> Read(const EncodedVector& vector) {
  const SharedBytes part = vector.Part({0, kElements});
  const auto source = ReadPieces(vector.type(), kElements, {part.bytes});
  EXPECT_TRUE(source.ok()) << source.status();
  std::vector<float> values(kElements);
  if (source.ok()) (*source)->CopyTo(0, absl::MakeSpan(values));
  return values;
}

std::vector<float> RandomGradient(uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> gradient(kElements);
  const Layout layout = ThreeTensors();
  for (const ParameterTensor& tensor : layout.tensors()) {
    for (int64_t i = tensor.offset; i < tensor.offset + tensor.elements; ++i) {
      gradient[static_cast<size_t>(i)] = normal(random);
    }
  }
  return gradient;
}

class GradientEncoderTest : public testing::Test {
 protected:
  GradientEncoder Encoder(WireType push, bool error_feedback, double ratio = 0.1) {
    return {{.push = push, .error_feedback = error_feedback, .top_k_ratio = ratio}, layout_};
  }
  const Layout layout_ = ThreeTensors();
  BatchStatistics statistics_;
};

TEST_F(GradientEncoderTest, TheLargestOfEachTensorAreSent) {
  std::vector<float> gradient(kElements);
  // A tenth of a, b and c: one of ten, one of one (rounded up), ten of a hundred.
  gradient[3] = 5;
  gradient[7] = -6;
  gradient[16] = 0.001F;
  std::vector<float> expected(kElements);
  expected[7] = -6;
  expected[16] = 0.001F;
  for (size_t i = 0; i < 100; ++i) {
    gradient[32 + i] = (i % 2 == 0 ? 1.0F : -1.0F) * (1 + static_cast<float>(i));
    if (i >= 90) expected[32 + i] = gradient[32 + i];
  }
  GradientEncoder encoder = Encoder(WireType::kTopK, false);
  EXPECT_THAT(Read(encoder.Encode(0, 0, gradient, statistics_)), ElementsAreArray(expected));
  EXPECT_FALSE(statistics_.not_finite);
}

// Over the steps what has arrived and what is still to come is what there was: in float64, to
// within the rounding of the additions.
TEST_F(GradientEncoderTest, WithErrorFeedbackNothingIsLost) {
  for (const WireType type : {WireType::kBf16, WireType::kFp16, WireType::kInt8, WireType::kTopK}) {
    SCOPED_TRACE(std::string(WireTypeName(type)));
    const auto missing = [&](bool error_feedback) {
      GradientEncoder encoder = Encoder(type, error_feedback);
      std::vector<double> there_was(kElements);
      std::vector<double> arrived(kElements);
      constexpr Step kSteps = 50;
      for (Step step = 0; step < kSteps; ++step) {
        // The same direction in each step with something around it, as in training.
        const std::vector<float> gradient = RandomGradient(1);
        const std::vector<float> noise = RandomGradient(static_cast<uint32_t>(100 + step));
        std::vector<float> sum(kElements);
        for (size_t i = 0; i < sum.size(); ++i) sum[i] = 0.3F * gradient[i] + 0.05F * noise[i];
        const std::vector<float> read = Read(encoder.Encode(step, 4, sum, statistics_));
        for (size_t i = 0; i < sum.size(); ++i) {
          there_was[i] += sum[i];
          arrived[i] += read[i];
        }
      }
      double total = 0;
      for (size_t i = 0; i < there_was.size(); ++i) total += std::abs(there_was[i] - arrived[i]);
      return total;
    };
    EXPECT_LT(missing(true), missing(false) / 3);
  }
}

// By hand: of 1 + 2^-9 bf16 keeps 1, and the second time 1 + 2 * 2^-9 = 1 + 2^-8, a tie to even: 1.
// The third time 1 + 3 * 2^-9 is nearer to 1 + 2^-7, and 2^-9 too much has been sent.
TEST_F(GradientEncoderTest, TheErrorIsAddedToTheNextStep) {
  const float x = 1 + std::ldexp(1.0F, -9);
  const std::vector<float> gradient(kElements, x);
  GradientEncoder encoder = Encoder(WireType::kBf16, true);
  const float expected[] = {1, 1, 1 + std::ldexp(1.0F, -7), 1};
  for (Step step = 0; step < 4; ++step) {
    EXPECT_THAT(Read(encoder.Encode(step, 0, gradient, statistics_)), testing::Each(expected[step]))
        << step;
  }
}

TEST_F(GradientEncoderTest, EachSlotHasItsOwnErrorAndOnlyOfTheStepBefore) {
  const float x = 1 + std::ldexp(1.0F, -9);
  const std::vector<float> gradient(kElements, x);
  const float third = 1 + std::ldexp(1.0F, -7);
  GradientEncoder encoder = Encoder(WireType::kBf16, true);
  const auto sent = [&](Step step, int32_t slot) {
    return Read(encoder.Encode(step, slot, gradient, statistics_))[0];
  };
  EXPECT_EQ(sent(0, 0), 1);
  EXPECT_EQ(sent(1, 0), 1);
  EXPECT_EQ(sent(1, 1), 1);
  EXPECT_EQ(sent(2, 0), third);
  EXPECT_EQ(sent(2, 1), 1);
  // Slot 1 was elsewhere in step 3: it begins anew.
  EXPECT_EQ(sent(4, 1), 1);
  EXPECT_EQ(sent(5, 1), 1);
  EXPECT_EQ(sent(6, 1), third);
}

TEST_F(GradientEncoderTest, WhatIsTooLargeForFp16IsToldOf) {
  std::vector<float> gradient(kElements);
  gradient[131] = 65519;  // rounds to 65504, the largest
  Encoder(WireType::kFp16, false).Encode(0, 0, gradient, statistics_);
  EXPECT_FALSE(statistics_.not_finite);
  gradient[131] = 65520;  // a tie, to infinity
  for (const bool error_feedback : {false, true}) {
    statistics_.not_finite = false;
    Encoder(WireType::kFp16, error_feedback).Encode(0, 0, gradient, statistics_);
    EXPECT_TRUE(statistics_.not_finite);
  }
}

TEST_F(GradientEncoderTest, AStepThatIsNotFiniteLeavesTheErrorFinite) {
  std::vector<float> bad(kElements, 1);
  bad[5] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> good(kElements, 1);
  for (const WireType type : {WireType::kBf16, WireType::kFp16, WireType::kInt8, WireType::kTopK}) {
    SCOPED_TRACE(std::string(WireTypeName(type)));
    GradientEncoder encoder = Encoder(type, true, 1);
    BatchStatistics statistics{.not_finite = true};
    encoder.Encode(0, 0, bad, statistics);
    EXPECT_TRUE(statistics.not_finite);
    statistics.not_finite = false;
    const std::vector<float> read = Read(encoder.Encode(1, 0, good, statistics));
    EXPECT_FALSE(statistics.not_finite);
    EXPECT_NEAR(read[5], 1, 0.01);
  }
}

TEST_F(GradientEncoderTest, TopKOfEverythingIsTheGradient) {
  const std::vector<float> gradient = RandomGradient(7);
  GradientEncoder encoder = Encoder(WireType::kTopK, true, 1);
  for (Step step = 0; step < 3; ++step) {
    EXPECT_THAT(Read(encoder.Encode(step, 0, gradient, statistics_)), ElementsAreArray(gradient));
  }
}

}  // namespace
}  // namespace tributary
