#include "common/codec/encoded_vector.h"

#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

TEST(EncodedVector, Fp32IsTheMemoryItself) {
  // 1.0 is 0x3f800000, -2.5 is 0xc0200000 (IEEE 754).
  auto values = std::make_shared<const std::vector<float>>(std::vector<float>{1, -2.5F});
  const EncodedVector vector = EncodedVector::Fp32(*values, values);
  EXPECT_EQ(vector.type(), WireType::kFp32);
  const SharedBytes part = vector.Part({0, 2});
  EXPECT_EQ(part.bytes, absl::string_view("\x00\x00\x80\x3f\x00\x00\x20\xc0", 8));
  EXPECT_EQ(static_cast<const void*>(part.bytes.data()), values->data());
  EXPECT_EQ(part.owner, values);
}

// 130 elements: two whole blocks of 64 and two elements. The table in wire_type.h by hand.
TEST(EncodedVector, PartsOfADenseTypeLieBehindOneAnother) {
  struct Case {
    WireType type;
    size_t bytes_of_64;
    size_t bytes_of_2;
  };
  for (const Case& test : {Case{WireType::kBf16, 128, 4}, Case{WireType::kFp16, 128, 4},
                           Case{WireType::kInt8, 68, 6}}) {
    std::string bytes(2 * test.bytes_of_64 + test.bytes_of_2, '\0');
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
    const EncodedVector vector =
        EncodedVector::Dense(test.type, std::make_shared<const std::string>(bytes));
    EXPECT_EQ(vector.Part({0, 64}).bytes, bytes.substr(0, test.bytes_of_64));
    EXPECT_EQ(vector.Part({64, 128}).bytes, bytes.substr(test.bytes_of_64, test.bytes_of_64));
    EXPECT_EQ(vector.Part({128, 130}).bytes, bytes.substr(2 * test.bytes_of_64));
    EXPECT_EQ(vector.Part({64, 130}).bytes, bytes.substr(test.bytes_of_64));
    EXPECT_EQ(vector.Part({64, 64}).bytes, "");
  }
}

TEST(EncodedVector, EntriesAreCountedFromTheStartOfThePart) {
  constexpr int64_t kFar = int64_t{1} << 40;
  const EncodedVector vector =
      EncodedVector::Sparse({{3, 1}, {63, 2}, {64, 3}, {kFar + 5, 4}, {kFar + 63, 5}});
  const auto entries = [&](ElementRange range) {
    const SharedBytes part = vector.Part(range);
    std::vector<std::pair<uint32_t, float>> found(part.bytes.size() / 8);
    for (size_t i = 0; i < found.size(); ++i) {
      std::memcpy(&found[i].first, part.bytes.data() + 8 * i, 4);
      std::memcpy(&found[i].second, part.bytes.data() + 8 * i + 4, 4);
    }
    return found;
  };
  using testing::ElementsAre;
  using testing::Pair;
  EXPECT_THAT(entries({0, 64}), ElementsAre(Pair(3, 1), Pair(63, 2)));
  EXPECT_THAT(entries({64, 128}), ElementsAre(Pair(0, 3)));
  EXPECT_THAT(entries({128, 192}), testing::IsEmpty());
  EXPECT_THAT(entries({kFar, kFar + 64}), ElementsAre(Pair(5, 4), Pair(63, 5)));
  EXPECT_THAT(entries({kFar, kFar + 63}), ElementsAre(Pair(5, 4)));
}

}  // namespace
}  // namespace tributary
