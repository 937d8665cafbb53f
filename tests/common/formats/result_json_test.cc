#include "common/formats/result_json.h"

#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

using ::testing::HasSubstr;

TEST(ResultJson, HasTheKeysThatScriptsReadInTheirOrder) {
  RunResult result;
  result.test_count = 10000;
  result.test_correct = 9123;
  result.test_loss = 0.25;
  result.steps = 938;
  result.images = 60000;
  result.seconds = 1.5;
  EXPECT_EQ(FormatResultJson(result),
            "{\n"
            "  \"test_accuracy\": 0.9123,\n"
            "  \"test_count\": 10000,\n"
            "  \"test_correct\": 9123,\n"
            "  \"test_loss\": 0.25,\n"
            "  \"steps\": 938,\n"
            "  \"images\": 60000,\n"
            "  \"seconds\": 1.5,\n"
            "  \"images_per_second\": 40000.0\n"
            "}\n");
}

TEST(ResultJson, IsReadBack) {
  RunResult result;
  result.test_count = int64_t{1} << 60;
  result.test_correct = 3;
  result.test_loss = 1.0 / 3;
  result.steps = 4;
  result.images = 5;
  result.seconds = 6e-300;
  const absl::StatusOr<RunResult> read = ParseResultJson(FormatResultJson(result));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->test_count, result.test_count);
  EXPECT_EQ(read->test_correct, 3);
  EXPECT_EQ(read->test_loss, 1.0 / 3);
  EXPECT_EQ(read->steps, 4);
  EXPECT_EQ(read->images, 5);
  EXPECT_EQ(read->seconds, 6e-300);
}

TEST(ResultJson, ALossThatIsNoNumberStaysNone) {
  RunResult result;
  result.test_loss = std::nan("");
  const std::string text = FormatResultJson(result);
  EXPECT_THAT(text, HasSubstr("\"test_loss\": null"));
  const absl::StatusOr<RunResult> read = ParseResultJson(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_TRUE(std::isnan(read->test_loss));
}

TEST(ResultJson, RefusesWhatIsNoResult) {
  const struct {
    const char* text;
    const char* piece;
  } kCases[] = {
      {"", "no JSON object"},
      {"[1]", "no JSON object"},
      {"{\"test_count\": 1", "no JSON object"},
      {"{}", "test_count"},
      {"{\"test_count\": \"1\"}", "test_count"},
      {"{\"test_count\": 1.5}", "test_count"},
      {"{\"test_count\": 1, \"test_correct\": 1, \"test_loss\": \"x\"}", "test_loss"},
  };
  for (const auto& [text, piece] : kCases) {
    const absl::StatusOr<RunResult> result = ParseResultJson(text);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_THAT(std::string(result.status().message()), HasSubstr(piece)) << text;
  }
}

}  // namespace
}  // namespace tributary
