// The safetensors format, against bytes that others wrote down.
#include "common/formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

class Safetensors : public ::testing::Test {
 protected:
  Safetensors() {
    std::string name = std::filesystem::temp_directory_path() / "tributary-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~Safetensors() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ / name; }

  std::string Content(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  size_t Files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                             std::filesystem::directory_iterator()));
  }

  std::filesystem::path folder_;
};

std::string Bytes(std::initializer_list<int> bytes) {
  std::string text;
  for (const int byte : bytes) text.push_back(static_cast<char>(byte));
  return text;
}

// A whole file: the length, the header as it is, the data.
std::string File(const std::string& header, const std::string& data = "") {
  std::string text;
  for (int i = 0; i < 8; ++i) text.push_back(static_cast<char>(header.size() >> (8 * i) & 0xff));
  return text + header + data;
}

// 0, 1, 2, 3, 4, 5 as the reference implementation's own tests write them.
const std::vector<float> kSixValues = {0, 1, 2, 3, 4, 5};
std::string SixValues() {
  return Bytes(
      {0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64, 0, 0, 160, 64});
}

// The four files of the reference implementation's tests (tensor.rs: test_serialization,
// test_serialization_forced_alignement, test_empty), byte for byte.
TEST_F(Safetensors, WritesTheReferencesBytes) {
  ASSERT_TRUE(WriteSafetensors(Path("a"), {{"attn.0", {1, 2, 3}, kSixValues}}, {}).ok());
  EXPECT_EQ(Content("a"),
            Bytes({64, 0, 0, 0, 0, 0, 0, 0}) +
                R"({"attn.0":{"dtype":"F32","shape":[1,2,3],"data_offsets":[0,24]}})" +
                SixValues());
  ASSERT_TRUE(WriteSafetensors(Path("b"), {{"attn0", {1, 1, 2, 3}, kSixValues}}, {}).ok());
  EXPECT_EQ(Content("b"),
            Bytes({72, 0, 0, 0, 0, 0, 0, 0}) +
                R"({"attn0":{"dtype":"F32","shape":[1,1,2,3],"data_offsets":[0,24]}})" + "       " +
                SixValues());
  ASSERT_TRUE(WriteSafetensors(Path("c"), {}, {}).ok());
  EXPECT_EQ(Content("c"), Bytes({8, 0, 0, 0, 0, 0, 0, 0, 123, 125, 32, 32, 32, 32, 32, 32}));
  ASSERT_TRUE(WriteSafetensors(Path("d"), {}, {{"framework", "pt"}}).ok());
  EXPECT_EQ(Content("d"),
            Bytes({40, 0, 0, 0, 0, 0, 0, 0}) + R"({"__metadata__":{"framework":"pt"}})" + "     ");
}

TEST_F(Safetensors, ReadsTheReferencesBytes) {
  const auto loaded = ParseSafetensors(
      File(R"({"attn0":{"dtype":"F32","shape":[1,1,2,3],"data_offsets":[0,24]}}  )", SixValues()),
      "memory");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_THAT(loaded->arrays, SizeIs(1));
  EXPECT_THAT(loaded->arrays.at("attn0").shape, ElementsAre(1, 1, 2, 3));
  EXPECT_EQ(loaded->arrays.at("attn0").values, kSixValues);
  EXPECT_THAT(loaded->metadata, IsEmpty());
}

TEST_F(Safetensors, ReadsKeysInAnyOrderAndArraysInAnyOrder) {
  const auto loaded =
      ParseSafetensors(File(R"({ "b": {"data_offsets": [4, 12], "shape": [2], "dtype": "F32"},
                "__metadata__": {"who": "me", "of": ""},
                "a": {"shape": [], "dtype": "F32", "data_offsets": [0, 4]}, "e":
                {"shape": [3, 0], "dtype": "F32", "data_offsets": [4, 4]} })",
                            SixValues().substr(8, 12)),
                       "memory");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_THAT(loaded->arrays.at("a").shape, IsEmpty());  // a scalar
  EXPECT_THAT(loaded->arrays.at("a").values, ElementsAre(2));
  EXPECT_THAT(loaded->arrays.at("b").values, ElementsAre(3, 4));
  EXPECT_THAT(loaded->arrays.at("e").shape, ElementsAre(3, 0));
  EXPECT_THAT(loaded->arrays.at("e").values, IsEmpty());
  EXPECT_THAT(loaded->metadata, ElementsAre(Pair("of", ""), Pair("who", "me")));
}

TEST_F(Safetensors, EveryBitComesBack) {
  // Not a number, infinite, the least, minus zero: by their bits.
  const std::vector<uint32_t> bits = {0x7fc00001, 0xffbfffff, 0x7f800000, 0x00000001, 0x80000000};
  std::vector<float> values(bits.size());
  std::memcpy(values.data(), bits.data(), bits.size() * sizeof(float));
  const std::vector<float> more = {1.5F};
  ASSERT_TRUE(WriteSafetensors(Path("a"), {{"z", {5}, values}, {"a \"\\\n\u00e9", {1, 1}, more}},
                               {{"k\"", "v\n"}})
                  .ok());
  const auto loaded = ReadSafetensors(Path("a"));
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const std::vector<float>& found = loaded->arrays.at("z").values;
  ASSERT_EQ(found.size(), values.size());
  EXPECT_EQ(std::memcmp(found.data(), bits.data(), bits.size() * sizeof(float)), 0);
  EXPECT_THAT(loaded->arrays.at("a \"\\\n\u00e9").values, ElementsAre(1.5F));
  EXPECT_THAT(loaded->metadata, ElementsAre(Pair("k\"", "v\n")));
}

TEST_F(Safetensors, NewFileReplacesTheOldOne) {
  ASSERT_TRUE(WriteSafetensors(Path("a"), {{"x", {6}, kSixValues}}, {}).ok());
  ASSERT_TRUE(WriteSafetensors(Path("a"), {}, {}).ok());
  EXPECT_EQ(Content("a"), File("{}      "));
  EXPECT_EQ(Files(), 1U);
}

TEST_F(Safetensors, RelativePathIsWritten) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  const absl::Status status = WriteSafetensors("a", {}, {});
  std::filesystem::current_path(before);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(Files(), 1U);
}

TEST_F(Safetensors, FailedWriteLeavesTheOldFileAndNothingElse) {
  ASSERT_TRUE(WriteSafetensors(Path("a"), {}, {}).ok());
  // As a full disk does it: the write in the middle fails.
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  rlimit limit = old_limit;
  limit.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::vector<float> values(1000);
  const absl::Status status = WriteSafetensors(Path("a"), {{"x", {1000}, values}}, {});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  std::signal(SIGXFSZ, old_handler);

  EXPECT_THAT(std::string(status.message()),
              StartsWith(Path("a") + ": cannot be written: File too large"));
  EXPECT_EQ(Content("a"), File("{}      "));
  EXPECT_EQ(Files(), 1U);
}

TEST_F(Safetensors, PathThatCannotBeWrittenIsNamed) {
  const absl::Status missing = WriteSafetensors(Path("none/a"), {}, {});
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(missing.message()), StartsWith(Path("none/a") + ": cannot be created: "));
  std::filesystem::create_directory(folder_ / "folder");
  const absl::Status folder = WriteSafetensors(Path("folder"), {}, {});
  EXPECT_THAT(std::string(folder.message()), StartsWith(Path("folder") + ": cannot be replaced: "));
  EXPECT_EQ(Files(), 1U);
}

TEST_F(Safetensors, ArraysThatAreNotWhatTheySayAreNotWritten) {
  const std::vector<NamedArray> broken[] = {
      {{"x", {5}, kSixValues}},
      {{"x", {-2, -3}, kSixValues}},
      {{"x", {int64_t{1} << 62, 8}, {}}},
      {{"x", {6}, kSixValues}, {"x", {6}, kSixValues}},
      {{"__metadata__", {6}, kSixValues}},
  };
  for (const auto& arrays : broken) {
    EXPECT_EQ(WriteSafetensors(Path("a"), arrays, {}).code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(Files(), 0U);
}

TEST_F(Safetensors, MissingFileIsNotFound) {
  EXPECT_EQ(ReadSafetensors(Path("none")).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(Safetensors, FolderIsNoFile) {
  EXPECT_EQ(ReadSafetensors(Path(".")).status().message(),
            Path(".") + ": found no plain file, allowed a file");
  EXPECT_EQ(ReadSafetensors("/dev/zero").status().code(), absl::StatusCode::kDataLoss);
}

// Larger than any memory, and not a byte of it on the disk.
TEST_F(Safetensors, HugeFileTakesNoMemory) {
  const std::string header =
      R"({"x":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}})";
  std::ofstream(Path("a"), std::ios::binary) << File(header);
  if (::truncate(Path("a").c_str(), static_cast<off_t>(8 + header.size() + 4398046511104)) != 0) {
    GTEST_SKIP() << "no sparse files of 4 TiB here";
  }
  const absl::Status status = ReadSafetensors(Path("a")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("(the memory of this machine)"));
}

// A broken file: its header, the number of bytes behind it, and the error after "m: ".
struct Broken {
  const char* name;
  std::string header;
  size_t data_bytes;
  const char* message;
};

void PrintTo(const Broken& broken, std::ostream* out) {
  *out << broken.name;
}

class BrokenSafetensors : public Safetensors, public ::testing::WithParamInterface<Broken> {};

TEST_P(BrokenSafetensors, IsRefusedWithPlaceFoundAndAllowed) {
  const std::string bytes = File(GetParam().header, std::string(GetParam().data_bytes, 'x'));
  const absl::Status parsed = ParseSafetensors(bytes, "m").status();
  EXPECT_EQ(parsed.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(parsed.message()), StartsWith(absl::StrCat("m: ", GetParam().message)));
  EXPECT_EQ(parsed.message().find('\n'), absl::string_view::npos);

  std::ofstream(Path("m"), std::ios::binary) << bytes;
  const absl::Status read = ReadSafetensors(Path("m")).status();
  EXPECT_EQ(std::string(read.message()), Path("m") + std::string(parsed.message()).substr(1));
}

std::string Entry(const std::string& shape, const std::string& offsets) {
  return absl::StrCat(R"({"x":{"dtype":"F32","shape":[)", shape, R"(],"data_offsets":[)", offsets,
                      "]}}");
}

const Broken kBroken[] = {
    {"NoJson", "{nonsense", 0, "header, byte 3: found \"syntax error while parsing object key"},
    {"NoObject", "[1, 2]", 0, "byte 8: found \"[\", allowed \"{\", the start of the header"},
    {"SpaceAtTheStart", " {}", 0, "byte 8: found \" \", allowed \"{\""},
    {"ZeroByte", std::string("{}\0{}", 5), 0, "byte 10: found a zero byte, allowed JSON"},
    {"TextAfterTheObject", "{} {}", 0, "header, byte 4: found "},
    {"NoUtf8", "{\"\xff\":{}}", 0, "header, byte 3: found "},
    {"NumberForAnArray", R"({"x":3})", 0,
     "header, \"x\": found 3, allowed an object with dtype, shape, data_offsets"},
    {"ListForAnArray", R"({"x":[]})", 0, "header, \"x\": found an array, allowed an object"},
    {"NoKeys", R"({"x":{}})", 0,
     "header, \"x\": found the keys none, allowed dtype, shape, data_offsets, all three"},
    {"NoOffsets", R"({"x":{"dtype":"F32","shape":[1]}})", 4,
     "header, \"x\": found the keys dtype, shape, allowed dtype, shape, data_offsets"},
    {"UnknownKey", R"({"x":{"dtype":"F32","strides":[1]}})", 4,
     "header, \"x\", \"strides\": found it, allowed dtype, shape, data_offsets"},
    {"NameTwice",
     R"({"x":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},"x":{"dtype":"F32","shape":[1],)"
     R"("data_offsets":[0,4]}})",
     4, "header, \"x\": found it a second time, allowed once"},
    {"KeyTwice", R"({"x":{"dtype":"F32","shape":[1],"shape":[1],"data_offsets":[0,4]}})", 4,
     "header, \"x\", \"shape\": found it a second time, allowed once"},
    {"MetadataKeyTwice", R"({"__metadata__":{"a":"b","a":"c"}})", 0,
     "header, \"__metadata__\", \"a\": found it a second time, allowed once"},
    {"MetadataTwice", R"({"__metadata__":{},"__metadata__":{}})", 0,
     "header, \"__metadata__\": found it a second time, allowed once"},
    {"MetadataThatIsNoText", R"({"__metadata__":{"a":1}})", 0,
     "header, \"__metadata__\", \"a\": found 1, allowed a text"},
    {"MetadataThatIsDeeper", R"({"__metadata__":{"a":{}}})", 0,
     "header, \"__metadata__\", \"a\": found an object, allowed a text"},
    {"OtherType", R"({"x":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}})", 2,
     "header, \"x\", \"dtype\": found \"F16\", allowed \"F32\""},
    {"TypeThatIsNoText", R"({"x":{"dtype":32,"shape":[1],"data_offsets":[0,4]}})", 4,
     "header, \"x\", \"dtype\": found 32, allowed \"F32\""},
    {"ShapeThatIsNoList", R"({"x":{"dtype":"F32","shape":1,"data_offsets":[0,4]}})", 4,
     "header, \"x\", \"shape\": found 1, allowed a list of whole numbers"},
    {"NegativeDimension", Entry("-1", "0,4"), 4,
     "header, \"x\", \"shape\": found -1, allowed whole numbers from 0 to 9223372036854775807"},
    {"FractionalDimension", Entry("1.5", "0,4"), 4,
     "header, \"x\", \"shape\": found 1.5, allowed "},
    {"DimensionBeyond63Bits", Entry("9223372036854775808", "0,4"), 4,
     "header, \"x\", \"shape\": found 9223372036854775808, allowed whole numbers"},
    {"DimensionBeyond64Bits", Entry("18446744073709551616", "0,4"), 4,
     "header, \"x\", \"shape\": found 18446744073709551616, allowed whole numbers"},
    {"DimensionBeyondDoubles", Entry("1e999", "0,4"), 4, "header, byte "},
    {"TextForADimension", Entry("\"1\"", "0,4"), 4,
     "header, \"x\", \"shape\": found \"1\", allowed "},
    {"ListForADimension", Entry("[1]", "0,4"), 4,
     "header, \"x\", \"shape\": found an array, allowed whole numbers"},
    {"NullForADimension", Entry("null", "0,4"), 4,
     "header, \"x\", \"shape\": found null, allowed "},
    // 2^62 * 2^2 elements are 0 in 64 bits, and 2^62 elements 0 bytes.
    {"ProductThatOverflows", Entry("4611686018427387904,4", "0,0"), 0,
     "header, \"x\", \"shape\": found [4611686018427387904, 4], allowed less than 2^63 bytes"},
    {"BytesThatOverflow", Entry("4611686018427387904", "0,0"), 0,
     "header, \"x\", \"shape\": found [4611686018427387904], allowed less than 2^63 bytes"},
    {"SixtyFiveDimensions",
     Entry("1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
           "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
           "0,4"),
     4, "header, \"x\", \"shape\": found 65 numbers, allowed at most 64"},
    {"OneOffset", Entry("1", "0"), 4,
     "header, \"x\", \"data_offsets\": found 1 numbers, allowed two, begin and end"},
    {"ThreeOffsets", Entry("1", "0,4,8"), 4, "header, \"x\", \"data_offsets\": found 3 numbers"},
    {"NegativeOffset", Entry("1", "-4,0"), 4,
     "header, \"x\", \"data_offsets\": found -4, allowed "},
    {"EndBelowBegin",
     R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
     R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})",
     4, "header, \"b\", \"data_offsets\": found [4, 0], allowed a begin of 4"},
    {"HoleAtTheStart", Entry("1", "4,8"), 8,
     "header, \"x\", \"data_offsets\": found [4, 8], allowed a begin of 0"},
    {"HoleInTheMiddle",
     R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
     R"("b":{"dtype":"F32","shape":[1],"data_offsets":[8,12]}})",
     12, "header, \"b\", \"data_offsets\": found [8, 12], allowed a begin of 4"},
    {"Overlap",
     R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
     R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
     8, "header, \"b\", \"data_offsets\": found [4, 8], allowed a begin of 8"},
    {"SameBytesTwice",
     R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
     R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
     4, "header, \"b\", \"data_offsets\": found [0, 4], allowed a begin of 4"},
    {"BytesThatAreNotTheShapes", Entry("2", "0,4"), 4,
     "header, \"x\", \"data_offsets\": found [0, 4], allowed 8 bytes (4 for each of [2])"},
    {"Truncated", Entry("2", "0,8"), 7,
     "found 7 bytes after the header, allowed 8 (the end of the last array)"},
    {"BytesLeftOver", Entry("2", "0,8"), 9,
     "found 9 bytes after the header, allowed 8 (the end of the last array)"},
    {"EmptyHeader", "", 16, "byte 0, the header's length: found 0, allowed 2 to 16"},
};

std::string Name(const ::testing::TestParamInfo<Broken>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, BrokenSafetensors, ::testing::ValuesIn(kBroken), Name);

TEST_F(Safetensors, FileWithoutALengthIsRefused) {
  EXPECT_EQ(ParseSafetensors("1234567", "m").status().message(),
            "m: found 7 bytes, allowed at least 8 (a safetensors file starts with its header's "
            "length)");
  EXPECT_FALSE(ParseSafetensors("", "m").ok());
}

TEST_F(Safetensors, HeaderLongerThanTheFileIsRefused) {
  EXPECT_EQ(ParseSafetensors(Bytes({3, 0, 0, 0, 0, 0, 0, 0, '{', '}'}), "m").status().message(),
            "m: byte 0, the header's length: found 3, allowed 2 to 2");
  EXPECT_EQ(ParseSafetensors(std::string(10, '\xff'), "m").status().message(),
            "m: byte 0, the header's length: found 18446744073709551615, allowed 2 to 2");
}

TEST_F(Safetensors, HeaderLongerThanTheFormatsLimitIsRefused) {
  // 100,000,001 is 0x5F5E101.
  std::ofstream(Path("a"), std::ios::binary) << Bytes({0x01, 0xe1, 0xf5, 0x05, 0, 0, 0, 0});
  ASSERT_EQ(::truncate(Path("a").c_str(), 200'000'000), 0);
  EXPECT_EQ(ReadSafetensors(Path("a")).status().message(),
            Path("a") + ": byte 0, the header's length: found 100000001, allowed 2 to 100000000");
}

// Deep nesting would exhaust the stack of a parser that calls itself.
TEST_F(Safetensors, DeepNestingIsRefused) {
  std::string header = R"({"x":)";
  for (int i = 0; i < 1'000'000; ++i) header += '[';
  EXPECT_FALSE(ParseSafetensors(File(header), "m").ok());
}

}  // namespace
}  // namespace tributary
