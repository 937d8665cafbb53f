#include "common/model/layout.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;

ParameterTensor Tensor(std::string name, std::vector<int64_t> shape) {
  return {.name = std::move(name), .shape = std::move(shape)};
}

// One tensor of so many times 16 elements.
Layout LayoutOf(int64_t sixteens) {
  return Layout::Create({Tensor("t", {sixteens * kLayoutAlignment})}).value();
}

TEST(Layout, TensorsLieEndToEndEachAtAMultipleOfSixtyFourBytes) {
  const Layout layout =
      Layout::Create({Tensor("a", {2, 3}), Tensor("b", {16}), Tensor("c", {17}), Tensor("d", {})})
          .value();
  EXPECT_EQ(layout.tensors()[0].range(), (ElementRange{0, 6}));
  EXPECT_EQ(layout.tensors()[1].range(), (ElementRange{16, 32}));
  EXPECT_EQ(layout.tensors()[2].range(), (ElementRange{32, 49}));
  EXPECT_EQ(layout.tensors()[3].range(), (ElementRange{64, 65}));
  EXPECT_EQ(layout.elements(), 80);
  EXPECT_EQ(layout.parameters(), 6 + 16 + 17 + 1);
}

TEST(Layout, OfNothingIsEmpty) {
  const Layout layout = Layout::Create({}).value();
  EXPECT_EQ(layout.elements(), 0);
  EXPECT_TRUE(layout.ShardRange(0, 1).empty());
  EXPECT_TRUE(layout.ShardRange(4, 5).empty());
}

TEST(Layout, ShardsCoverItExactlyOnceInWholeUnitsAndEqualToWithinOne) {
  for (int64_t sixteens = 0; sixteens <= 160; sixteens += sixteens % 8 == 0 ? 1 : 3) {
    const Layout layout = sixteens == 0 ? Layout() : LayoutOf(sixteens);
    // The last unit may be shorter.
    const int64_t units = (sixteens + 3) / 4;
    for (ShardId shards = 1; shards <= 50; ++shards) {
      int64_t position = 0;
      for (ShardId shard = 0; shard < shards; ++shard) {
        const ElementRange range = layout.ShardRange(shard, shards);
        ASSERT_EQ(range.begin, position);
        ASSERT_EQ(range.begin == layout.elements() ? 0 : range.begin % 64, 0);
        const int64_t size = (range.size() + 63) / 64;
        ASSERT_TRUE(size == units / shards || size == (units + shards - 1) / shards);
        position = range.end;
      }
      ASSERT_EQ(position, layout.elements());
    }
  }
}

TEST(Layout, ShardsOfTheLargestOneDoNotOverflow) {
  const Layout layout = Layout::Create({Tensor("t", {kMaxLayoutElements})}).value();
  constexpr ShardId kShards = 1 << 16;
  EXPECT_EQ(layout.ShardRange(kShards - 1, kShards),
            (ElementRange{kMaxLayoutElements - kMaxLayoutElements / kShards, kMaxLayoutElements}));
}

TEST(Layout, FingerprintIsOfNamesShapesAndOffsets) {
  // FNV-1a by hand: length of the name, name, number of dimensions, dimensions, offset.
  EXPECT_EQ(Layout::Create({Tensor("a.weight", {2, 3}), Tensor("a.bias", {5})})->fingerprint(),
            0x38eb6c6fb467f9f9);
  std::vector<uint64_t> fingerprints;
  for (const std::vector<ParameterTensor>& tensors : std::vector<std::vector<ParameterTensor>>{
           {Tensor("a", {2, 3}), Tensor("b", {5})},
           {Tensor("b", {5}), Tensor("a", {2, 3})},
           {Tensor("a", {3, 2}), Tensor("b", {5})},
           {Tensor("a", {6}), Tensor("b", {5})},
           {Tensor("ab", {2, 3}), Tensor("", {5})},
           {Tensor("a", {2, 3})},
       }) {
    fingerprints.push_back(Layout::Create(tensors)->fingerprint());
  }
  std::sort(fingerprints.begin(), fingerprints.end());
  EXPECT_EQ(std::unique(fingerprints.begin(), fingerprints.end()), fingerprints.end());
}

TEST(Layout, RefusesWhatCannotBe) {
  const auto message = [](std::vector<ParameterTensor> tensors) {
    return std::string(Layout::Create(std::move(tensors)).status().message());
  };
  EXPECT_EQ(message({Tensor("a", {2, 0})}), "tensor a: found dimension 0, allowed at least 1");
  EXPECT_EQ(message({Tensor("a", {-1})}), "tensor a: found dimension -1, allowed at least 1");
  EXPECT_EQ(message({Tensor("a", {1}), Tensor("a", {2})}), "tensor a: the name occurs twice");
  EXPECT_EQ(message({Tensor("a", {kMaxLayoutElements, 2})}),
            "tensor a: more than 1099511627776 elements");
  EXPECT_EQ(message({Tensor("a", {INT64_MAX, INT64_MAX, INT64_MAX})}),
            "tensor a: more than 1099511627776 elements");
  EXPECT_EQ(message({Tensor("a", {kMaxLayoutElements}), Tensor("b", {1})}),
            "the model has more than 1099511627776 parameters");
}

TEST(Chunks, CoverARangeExactlyOnce) {
  for (int64_t begin : {0, 1, 160}) {
    for (int64_t size = 1; size <= 40; ++size) {
      for (int64_t chunk = 1; chunk <= 45; ++chunk) {
        int64_t position = begin;
        for (const ElementRange& range : CutIntoChunks({begin, begin + size}, chunk)) {
          ASSERT_EQ(range.begin, position);
          ASSERT_LE(range.size(), chunk);
          position = range.end;
          ASSERT_TRUE(range.size() == chunk || range.end == begin + size);
        }
        ASSERT_EQ(position, begin + size);
      }
    }
  }
}

TEST(Chunks, AnEmptyRangeIsOneEmptyChunk) {
  EXPECT_THAT(CutIntoChunks({32, 32}, 16), ElementsAre(ElementRange{32, 32}));
}

}  // namespace
}  // namespace tributary
