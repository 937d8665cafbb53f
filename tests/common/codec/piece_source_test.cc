#include "common/codec/piece_source.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "common/codec/decode.h"
#include "common/codec/encode.h"
#include "common/codec/sparse.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

constexpr int64_t kElements = 203;  // the last int8 block has 11

std::string EncodedWave(WireType type) {
  std::vector<float> values(kElements);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i * i));
  if (type == WireType::kTopK) {
    std::string bytes;
    for (uint32_t i = 3; i < kElements; i += 7) {
      const SparseEntry entry{i, values[i]};
      bytes.append(reinterpret_cast<const char*>(&entry), sizeof(entry));
    }
    return bytes;
  }
  std::string bytes(static_cast<size_t>(EncodedBytes(type, kElements)), 'x');
  Encode(type, values, bytes.data());
  return bytes;
}

// Each piece in memory of its own, so that reading past one is found.
class Pieces {
 public:
  void Add(const std::string& bytes) {
    memory_.push_back(std::make_unique<char[]>(bytes.size()));
    if (!bytes.empty()) std::memcpy(memory_.back().get(), bytes.data(), bytes.size());
    views_.emplace_back(memory_.back().get(), bytes.size());
  }
  const std::vector<absl::string_view>& views() const { return views_; }

 private:
  std::vector<std::unique_ptr<char[]>> memory_;
  std::vector<absl::string_view> views_;
};

class PieceSourceTest : public testing::TestWithParam<WireType> {
 protected:
  void SetUp() override {
    encoded_ = EncodedWave(GetParam());
    expected_.resize(kElements, 0);
    if (GetParam() != WireType::kTopK) {
      Decode(GetParam(), encoded_.data(), absl::MakeSpan(expected_));
      return;
    }
    for (size_t at = 0; at < encoded_.size(); at += 8) {
      SparseEntry entry;
      std::memcpy(&entry, encoded_.data() + at, 8);
      expected_[entry.index] = entry.value;
    }
  }

  void ExpectReadsAs(const Pieces& pieces) {
    auto source = ReadPieces(GetParam(), kElements, pieces.views());
    ASSERT_TRUE(source.ok()) << source.status();
    for (const int64_t first : {0, 64, 128, 192}) {
      for (const int64_t count : {kElements - first, int64_t{64}, int64_t{0}}) {
        if (first + count > kElements) continue;
        std::vector<float> out(static_cast<size_t>(count), -3);
        (*source)->CopyTo(first, absl::MakeSpan(out));
        std::vector<float> sum(out.size(), 2);
        (*source)->AddTo(first, absl::MakeSpan(sum));
        for (size_t i = 0; i < out.size(); ++i) {
          ASSERT_EQ(out[i], expected_[static_cast<size_t>(first) + i]) << first << '+' << i;
          ASSERT_EQ(sum[i], 2 + expected_[static_cast<size_t>(first) + i]) << first << '+' << i;
        }
      }
    }
  }

  std::string encoded_;
  std::vector<float> expected_;
};

TEST_P(PieceSourceTest, EveryCutInTwoGivesTheSameElements) {
  for (size_t cut = 0; cut <= encoded_.size(); ++cut) {
    Pieces pieces;
    pieces.Add(encoded_.substr(0, cut));
    pieces.Add(encoded_.substr(cut));
    ExpectReadsAs(pieces);
    if (HasFatalFailure()) FAIL() << "cut at " << cut;
  }
}

TEST_P(PieceSourceTest, EveryLengthOfPiecesGivesTheSameElements) {
  for (size_t length = 1; length <= 150; ++length) {
    Pieces pieces;
    for (size_t at = 0; at < encoded_.size(); at += length) {
      pieces.Add(encoded_.substr(at, length));
      pieces.Add("");
    }
    ExpectReadsAs(pieces);
    if (HasFatalFailure()) FAIL() << "pieces of " << length;
  }
}

TEST_P(PieceSourceTest, AnotherNumberOfBytesIsRefusedWithBothNumbers) {
  for (const int64_t off : {-1, 1}) {
    const std::string bytes(static_cast<size_t>(static_cast<int64_t>(encoded_.size()) + off), 'x');
    const auto source = ReadPieces(GetParam(), kElements, {bytes});
    ASSERT_FALSE(source.ok());
    EXPECT_EQ(source.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(source.status().message()),
                testing::HasSubstr("found " + std::to_string(bytes.size()) + " bytes, expected"));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, PieceSourceTest,
                         testing::Values(WireType::kFp32, WireType::kBf16, WireType::kFp16,
                                         WireType::kInt8, WireType::kTopK),
                         [](const auto& type) { return std::string(WireTypeName(type.param)); });

}  // namespace
}  // namespace tributary
