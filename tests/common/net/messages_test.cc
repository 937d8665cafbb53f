// What goes out comes back the same; what no number of ours can hold is refused by its field's
// name.
#include "common/net/messages.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "common/net/channel.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kBeyondInt64 = uint64_t{1} << 63;
constexpr uint32_t kBeyondInt32 = uint32_t{1} << 31;

TEST(Messages, WorkOrdersComeBackTheSame) {
  const Work wait = *FromProto(ToProto(Work{WaitOrder{"for shard 1"}}));
  EXPECT_EQ(std::get<WaitOrder>(wait).reason, "for shard 1");

  const Work compute = *FromProto(ToProto(Work{ComputeOrder{INT64_MAX, {{0, 2}, {5, INT32_MAX}}}}));
  EXPECT_EQ(std::get<ComputeOrder>(compute).step, INT64_MAX);
  EXPECT_THAT(std::get<ComputeOrder>(compute).slots,
              ElementsAre(SlotRange{0, 2}, SlotRange{5, INT32_MAX}));

  const Work evaluate = *FromProto(ToProto(Work{EvaluateOrder{9, {3, 0, INT32_MAX}}}));
  EXPECT_EQ(std::get<EvaluateOrder>(evaluate).version, 9);
  EXPECT_THAT(std::get<EvaluateOrder>(evaluate).units, ElementsAre(3, 0, INT32_MAX));

  const Work finished = *FromProto(ToProto(Work{FinishedOrder{12}}));
  EXPECT_EQ(std::get<FinishedOrder>(finished).version, 12);
}

TEST(Messages, ValuesComeBackTheSame) {
  const DataSummary data{.train_samples = 60000, .test_samples = 1, .fingerprint = UINT64_MAX};
  EXPECT_EQ(*FromProto(ToProto(data)), data);

  const EvaluationResult result = *FromProto(ToProto(EvaluationResult{
      .version = 7,
      .unit = 3,
      .statistics = {.samples = 500, .loss_sum = 0.1, .correct = 499, .not_finite = false}}));
  EXPECT_EQ(result.version, 7);
  EXPECT_EQ(result.unit, 3);
  EXPECT_EQ(result.statistics.samples, 500);
  EXPECT_EQ(result.statistics.loss_sum, 0.1);
  EXPECT_EQ(result.statistics.correct, 499);

  const BatchStatistics statistics = *FromProto(
      ToProto(BatchStatistics{.samples = 5, .loss_sum = -1e300, .correct = 5, .not_finite = true}));
  EXPECT_EQ(statistics.samples, 5);
  EXPECT_EQ(statistics.loss_sum, -1e300);
  EXPECT_EQ(statistics.correct, 5);
  EXPECT_TRUE(statistics.not_finite);

  EXPECT_EQ(*FromProto(ToProto(SlotRange{3, 4})), (SlotRange{3, 4}));
  EXPECT_EQ(*FromProto(ToProto(ElementRange{16, INT64_MAX})), (ElementRange{16, INT64_MAX}));
  EXPECT_EQ(*FromProto(ToProto(ElementRange{16, 16})), (ElementRange{16, 16}))
      << "a shard may be empty";
}

struct Refusal {
  std::string field;
  std::string message;
  std::function<absl::Status()> parse;
};

template <typename Proto>
Refusal Bad(const std::string& field, const std::string& message,
            const std::function<void(Proto&)>& spoil) {
  return {field, message, [spoil] {
            Proto proto;
            spoil(proto);
            return FromProto(proto).status();
          }};
}

TEST(Messages, RefuseNumbersOutOfRangeByTheirField) {
  using Compute = v1::Work::Compute;
  const std::vector<Refusal> refusals = {
      Bad<v1::SlotRange>("slots.end", "found 2147483648, allowed 0 to 2147483647",
                         [](auto& p) { p.set_end(kBeyondInt32); }),
      Bad<v1::SlotRange>("slots", "found [0, 0), expected begin < end", [](auto&) {}),
      Bad<v1::SlotRange>("slots", "found [4294967295, 2), expected begin < end",
                         [](auto& p) { p.set_begin(UINT32_MAX), p.set_end(2); }),
      Bad<v1::ElementRange>("range.end", "found 9223372036854775808",
                            [](auto& p) { p.set_end(kBeyondInt64); }),
      Bad<v1::ElementRange>("range", "found [18446744073709551615, 16), expected begin <= end",
                            [](auto& p) { p.set_begin(UINT64_MAX), p.set_end(16); }),
      Bad<Compute>("compute.step", "found 9223372036854775808",
                   [](auto& p) { p.set_step(kBeyondInt64); }),
      Bad<Compute>("slots", "found [1, 1)",
                   [](auto& p) { p.add_slots()->set_begin(1), p.mutable_slots(0)->set_end(1); }),
      Bad<v1::Work>("work", "found no kind", [](auto&) {}),
      Bad<v1::Work>("compute.step", "found 9223372036854775808",
                    [](auto& p) { p.mutable_compute()->set_step(kBeyondInt64); }),
      Bad<v1::Work>("evaluate.version", "found 9223372036854775808",
                    [](auto& p) { p.mutable_evaluate()->set_version(kBeyondInt64); }),
      Bad<v1::Work>("evaluate.unit", "found 2147483648",
                    [](auto& p) { p.mutable_evaluate()->add_unit(kBeyondInt32); }),
      Bad<v1::Work>("finished.version", "found 18446744073709551615",
                    [](auto& p) { p.mutable_finished()->set_version(UINT64_MAX); }),
      Bad<v1::DataSummary>("data.train_samples", "found 281474976710657, allowed 0 to",
                           [](auto& p) { p.set_train_samples((uint64_t{1} << 48) + 1); }),
      Bad<v1::DataSummary>("data.test_samples", "found 18446744073709551615",
                           [](auto& p) { p.set_test_samples(UINT64_MAX); }),
      Bad<v1::EvaluationResult>("result.version", "found 9223372036854775808",
                                [](auto& p) { p.set_version(kBeyondInt64); }),
      Bad<v1::EvaluationResult>("result.unit", "found 2147483648",
                                [](auto& p) { p.set_unit(kBeyondInt32); }),
      Bad<v1::EvaluationResult>("result.count", "found 9223372036854775808",
                                [](auto& p) { p.set_count(kBeyondInt64); }),
      Bad<v1::EvaluationResult>("result.correct", "found 9223372036854775808",
                                [](auto& p) { p.set_correct(kBeyondInt64); }),
      Bad<v1::SlotStatistics>("statistics.samples", "found 9223372036854775808",
                              [](auto& p) { p.set_samples(kBeyondInt64); }),
      Bad<v1::SlotStatistics>("statistics.correct", "found 6, allowed 0 to 5",
                              [](auto& p) { p.set_samples(5), p.set_correct(6); }),
  };
  for (const Refusal& refusal : refusals) {
    const absl::Status status = refusal.parse();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << refusal.field << ": " << status;
    EXPECT_THAT(std::string(status.message()), testing::StartsWith(refusal.field + ": "));
    EXPECT_THAT(std::string(status.message()), HasSubstr(refusal.message));
  }
}

TEST(CheckAddress, TakesAHostAndAPort) {
  for (const char* address : {"localhost:7000", "10.0.0.1:1", "host.example:65535", "[::1]:7000",
                              "[fe80::1%eth0]:7000", "0.0.0.0:0"}) {
    EXPECT_TRUE(CheckAddress("address", address, 0).ok()) << address;
  }
}

TEST(CheckAddress, RefusesEverythingElseAndNamesTheField) {
  for (const char* address : {"",           ":",          "host",
                              "host:",      ":7000",      "host:port",
                              "host:-1",    "host:65536", "host:99999999999",
                              "host:7000x", "::1:7000",   "[::1]",
                              "[::1:7000",  "::1]:7000",  "a:b:7000",
                              "[]:7000",    "host: 80",   "host:+80",
                              "[host:80",   "ho st:80",   "ho/st:80",
                              "[a/b]:80",   "host:80\n"}) {
    const absl::Status status = CheckAddress("coordinator", address, 0);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << address;
    EXPECT_THAT(std::string(status.message()),
                testing::StartsWith("coordinator: found \"" + absl::CHexEscape(address) + "\""));
    EXPECT_THAT(std::string(status.message()), HasSubstr("0 to 65535"));
  }
}

TEST(CheckAddress, PortZeroIsForThoseWhoLetTheSystemChoose) {
  EXPECT_TRUE(CheckAddress("address", "host:0", 0).ok());
  EXPECT_FALSE(CheckAddress("address", "host:0", 1).ok());
}

}  // namespace
}  // namespace tributary
