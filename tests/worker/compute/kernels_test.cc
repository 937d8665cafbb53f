// The kernels of every instruction set that this processor has, against plain loops, to the bit.
#include "worker/compute/cpu/kernels.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tests/worker/compute/compute_test_support.h"

namespace tributary {
namespace {

struct Set {
  std::string name;
  const Kernels* kernels;
};

std::vector<Set> Sets() {
  std::vector<Set> sets = {{"baseline", &kBaselineKernels}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) sets.push_back({"avx2", &kAvx2Kernels});
  if (&BestKernels() == &kAvx512Kernels) sets.push_back({"avx512", &kAvx512Kernels});
#endif
  return sets;
}

class KernelSet : public testing::TestWithParam<Set> {
 protected:
  const Kernels& kernels_ = *GetParam().kernels;
};

// Small whole numbers: many equal ones.
std::vector<float> Coarse(uint64_t seed, int64_t count) {
  std::vector<float> values = RandomFloats(seed, count);
  for (float& value : values) value = static_cast<float>(static_cast<int>(value * 3));
  return values;
}

TEST_P(KernelSet, MaxPoolTakesTheFirstLargestAndNanAboveAll) {
  const struct {
    Shape input, output;
    Size2d kernel, stride, padding;
  } cases[] = {
      {{10, 6, 6}, {10, 3, 3}, {2, 2}, {2, 2}, {0, 0}},
      {{1, 7, 5}, {1, 4, 3}, {3, 3}, {2, 2}, {1, 1}},
      {{37, 5, 4}, {37, 3, 5}, {3, 2}, {2, 1}, {1, 1}},
  };
  constexpr int64_t kBatch = 3;
  for (const auto& c : cases) {
    std::vector<float> input = Coarse(1, kBatch * c.input.elements() + kPoolBlock);
    input[11] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> output(kBatch * c.output.elements() + kPoolBlock);
    std::vector<int32_t> origin(output.size());
    kernels_.max_pool({c.input, c.output, c.kernel, c.stride, c.padding}, kBatch, input.data(),
                      output.data(), origin.data());
    int64_t at = 0;
    for (int64_t n = 0; n < kBatch; ++n) {
      for (int64_t oy = 0; oy < c.output.height; ++oy) {
        for (int64_t ox = 0; ox < c.output.width; ++ox) {
          for (int64_t ch = 0; ch < c.input.channels; ++ch, ++at) {
            float best = -std::numeric_limits<float>::infinity();
            int64_t best_at = -1;
            for (int64_t ky = 0; ky < c.kernel.height; ++ky) {
              for (int64_t kx = 0; kx < c.kernel.width; ++kx) {
                const int64_t y = oy * c.stride.height - c.padding.height + ky;
                const int64_t x = ox * c.stride.width - c.padding.width + kx;
                if (y < 0 || y >= c.input.height || x < 0 || x >= c.input.width) continue;
                const int64_t pixel = y * c.input.width + x;
                const float value =
                    input[(n * c.input.height * c.input.width + pixel) * c.input.channels + ch];
                if (best_at < 0 || value > best || value != value) {
                  best = value;
                  best_at = pixel;
                }
              }
            }
            ASSERT_EQ(std::memcmp(&output[at], &best, sizeof(best)), 0) << at;
            ASSERT_EQ(origin[at], best_at) << at;
          }
        }
      }
    }
  }
}

TEST_P(KernelSet, AddWeightedRowsAddsTheTermsInTheirOrder) {
  for (int64_t vectors = 1; vectors <= 30; ++vectors) {
    for (int64_t count = 1; count <= 7; ++count) {
      const int64_t row = vectors * kRowVector;
      const Rows rows{
          .count = count, .vectors = vectors, .source_stride = row + 3, .target_stride = row + 5};
      const std::vector<float> source = RandomFloats(1, (count + 3) * (row + 3));
      const std::vector<Weighted> terms = {{0.3f, 1}, {-1.7f, 0}, {0.9f, 7}};
      std::vector<float> target = RandomFloats(2, count * (row + 5));
      std::vector<float> expected = target;
      for (int64_t r = 0; r < count; ++r) {
        for (int64_t i = 0; i < row; ++i) {
          for (const Weighted& term : terms) {
            const float product = term.weight * source[term.offset + r * (row + 3) + i];
            expected[r * (row + 5) + i] += product;
          }
        }
      }
      kernels_.add_weighted_rows(terms.data(), 3, source.data(), rows, target.data());
      ASSERT_EQ(std::memcmp(target.data(), expected.data(), target.size() * sizeof(float)), 0)
          << vectors << " vectors, " << count << " rows";
    }
  }
}

TEST_P(KernelSet, InterleaveAndBack) {
  for (const int64_t count : {int64_t{1}, int64_t{5}, kLanes}) {
    constexpr int64_t kElements = 21;
    const std::vector<float> images = RandomFloats(1, count * kElements);
    std::vector<float> lanes(kElements * kLanes, 9.0f);
    kernels_.interleave(images.data(), count, kElements, lanes.data());
    std::vector<int32_t> numbers(lanes.size());
    for (int64_t e = 0; e < kElements; ++e) {
      for (int64_t i = 0; i < kLanes; ++i) {
        ASSERT_EQ(lanes[e * kLanes + i], i < count ? images[i * kElements + e] : 0.0f);
        numbers[e * kLanes + i] = static_cast<int32_t>(100 * i + e);
      }
    }
    std::vector<float> back(images.size());
    std::vector<int32_t> shifted(images.size());
    kernels_.deinterleave(lanes.data(), kLanes, kElements, count, kElements, back.data());
    kernels_.deinterleave_shifted(numbers.data(), kLanes, kElements, count, kElements, 7,
                                  shifted.data());
    EXPECT_EQ(back, images);
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t e = 0; e < kElements; ++e) {
        ASSERT_EQ(shifted[i * kElements + e], 100 * i + e + 7);
      }
    }
  }
}

TEST_P(KernelSet, FillColumnsCopiesPatchesAndZerosOutsideTheImage) {
  const LanePatches p{.image = {2, 7, 6},
                      .kernel = {3, 2},
                      .dilation = {2, 1},
                      .window_step = {2, 3},
                      .origin = {-1, -2},
                      .windows_per_row = 3,
                      .first_window = 2,
                      .windows = 5};
  const std::vector<float> lanes = RandomFloats(1, 2 * 7 * 6 * kLanes);
  std::vector<float> columns(2 * 3 * 2 * 5 * kLanes);
  kernels_.fill_columns(p, lanes.data(), columns.data());
  const float* found = columns.data();
  for (int64_t c = 0; c < 2; ++c) {
    for (int64_t ky = 0; ky < 3; ++ky) {
      for (int64_t kx = 0; kx < 2; ++kx) {
        for (int64_t w = 2; w < 7; ++w) {
          const int64_t y = w / 3 * 2 - 1 + ky * 2;
          const int64_t x = w % 3 * 3 - 2 + kx;
          const bool inside = y >= 0 && y < 7 && x >= 0 && x < 6;
          for (int64_t i = 0; i < kLanes; ++i, ++found) {
            ASSERT_EQ(*found, inside ? lanes[((y * 6 + x) * 2 + c) * kLanes + i] : 0.0f);
          }
        }
      }
    }
  }
}

TEST_P(KernelSet, TakeLargerKeepsTheFirstOfEqualOnesAndLetsNanWin) {
  constexpr int64_t kElements = 6 * kLanes;
  const std::vector<float> before = Coarse(1, kElements);
  std::vector<float> values = Coarse(2, kElements);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> best = before;
  best[9] = std::numeric_limits<float>::quiet_NaN();
  std::vector<int32_t> at(kElements, 3);
  kernels_.take_larger(values.data(), kElements, 8, best.data(), at.data());
  for (int64_t i = 0; i < kElements; ++i) {
    if (i == 9) {
      EXPECT_TRUE(best[i] != best[i]);
      EXPECT_EQ(at[i], 3);
      continue;
    }
    const bool wins = i == 5 || values[i] > before[i];
    EXPECT_EQ(at[i], wins ? 8 : 3) << i;
    EXPECT_EQ(std::memcmp(&best[i], wins ? &values[i] : &before[i], sizeof(float)), 0) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, KernelSet, testing::ValuesIn(Sets()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tributary
