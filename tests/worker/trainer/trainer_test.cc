#include "worker/trainer/trainer.h"

#include <gmock/gmock.h>
#include <spdlog/spdlog.h>

#include <deque>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "tests/worker/trainer/trainer_fakes.h"

namespace tributary {
namespace {

using testing::ElementsAre;

// Hands out what a test has written down, and writes down what it is asked.
class ScriptedClient final : public ParameterClient {
 public:
  std::deque<absl::StatusOr<Work>> works;
  std::deque<absl::Status> pulls;       // OK when empty
  std::deque<absl::Status> push_pulls;  // likewise
  absl::Notification pushed;

  std::vector<std::string> calls() {
    absl::MutexLock lock(&mutex_);
    return calls_;
  }

  absl::StatusOr<Work> NextWork(absl::Span<const EvaluationResult> results) override {
    Note(absl::StrCat("next work, ", results.size(), " results"));
    return Next();
  }
  absl::Status Pull(Version version, absl::Span<float> parameters) override {
    Note(absl::StrCat("pull ", version));
    std::fill(parameters.begin(), parameters.end(), static_cast<float>(version));
    return Take(pulls);
  }
  absl::Status Push(Step step, absl::Span<const NodeGradient> gradients) override {
    Note(absl::StrCat("push ", step, Nodes(gradients)));
    if (!pushed.HasBeenNotified()) pushed.Notify();
    return absl::OkStatus();
  }
  absl::StatusOr<Work> PushPull(Step step, absl::Span<const NodeGradient> gradients,
                                absl::Span<float> parameters) override {
    Note(absl::StrCat("push and pull ", step, Nodes(gradients)));
    std::fill(parameters.begin(), parameters.end(), static_cast<float>(step + 1));
    const absl::Status status = Take(push_pulls);
    if (!status.ok()) return status;
    return Next();
  }

 private:
  static std::string Nodes(absl::Span<const NodeGradient> gradients) {
    std::string text;
    for (const NodeGradient& node : gradients) {
      absl::StrAppend(&text, " [", node.slots.begin, ",", node.slots.end, ")");
    }
    return text;
  }
  void Note(const std::string& call) {
    absl::MutexLock lock(&mutex_);
    calls_.push_back(call);
  }
  static absl::Status Take(std::deque<absl::Status>& statuses) {
    if (statuses.empty()) return absl::OkStatus();
    absl::Status status = statuses.front();
    statuses.pop_front();
    return status;
  }
  absl::StatusOr<Work> Next() {
    if (works.empty()) return FinishedOrder{};
    absl::StatusOr<Work> work = works.front();
    works.pop_front();
    return work;
  }

  absl::Mutex mutex_;
  std::vector<std::string> calls_;
};

class TrainerTest : public testing::Test {
 protected:
  void SetUp() override { spdlog::set_level(spdlog::level::off); }

  absl::Status Run() { return Make()->Run(); }
  std::unique_ptr<Trainer> Make() {
    auto trainer = Trainer::Create(job_, data_, 1, MakeHandNetwork, client_);
    EXPECT_TRUE(trainer.ok()) << trainer.status();
    return *std::move(trainer);
  }
  void Script(std::vector<Work> works) {
    for (Work& work : works) client_.works.emplace_back(std::move(work));
  }

  const Job job_ = HandJob();
  const Dataset data_ = HandData(job_);
  ScriptedClient client_;
};

TEST_F(TrainerTest, PullsOnceAndThenGoesOnWithWhatItGetsBack) {
  Script({ComputeOrder{0, {{0, 2}}}, ComputeOrder{1, {{0, 2}, {4, 6}}}, EvaluateOrder{2, {0, 1}},
          ComputeOrder{2, {{1, 2}}}});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(client_.calls(), ElementsAre("next work, 0 results", "pull 0",
                                           "push and pull 0 [0,2)", "push and pull 1 [0,2) [4,6)",
                                           "next work, 2 results", "push and pull 2 [1,2)"));
}

TEST_F(TrainerTest, AsksAgainWhenThereIsNothingToDo) {
  Script({WaitOrder{"others"}, WaitOrder{"others"}});
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(client_.calls().size(), 3U);
}

TEST_F(TrainerTest, PullsTheVersionThatAnOrderNeeds) {
  Script({ComputeOrder{2, {{0, 1}}}, ComputeOrder{2, {{1, 2}}}, EvaluateOrder{1, {0}}});
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(client_.calls(),
              ElementsAre("next work, 0 results", "pull 2", "push and pull 2 [0,1)", "pull 2",
                          "push and pull 2 [1,2)", "pull 1", "next work, 1 results"));
}

TEST_F(TrainerTest, AsksForWorkWhenOthersHaveGoneOn) {
  Script({ComputeOrder{0, {{0, 1}}}, ComputeOrder{1, {{0, 1}}}});
  client_.pulls = {absl::OutOfRangeError("gone")};
  client_.push_pulls = {absl::OutOfRangeError("gone")};
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(client_.calls(),
              ElementsAre("next work, 0 results", "pull 0", "next work, 0 results", "pull 1",
                          "push and pull 1 [0,1)", "next work, 0 results"));
}

TEST_F(TrainerTest, RefusesOrdersThatTheJobDoesNotHave) {
  for (const ComputeOrder& order :
       {ComputeOrder{4, {{0, 1}}}, ComputeOrder{-1, {{0, 1}}}, ComputeOrder{0, {{5, 7}}}}) {
    ScriptedClient client;
    client.works.emplace_back(order);
    const auto trainer = Trainer::Create(job_, data_, 1, MakeHandNetwork, client);
    ASSERT_TRUE(trainer.ok());
    EXPECT_EQ((*trainer)->Run().code(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(TrainerTest, HandsOnWhatTheClientSays) {
  for (const absl::Status& status : {absl::AbortedError("failed"), absl::CancelledError("stop"),
                                     absl::UnavailableError("gone")}) {
    ScriptedClient client;
    client.works.emplace_back(ComputeOrder{0, {{0, 1}}});
    client.push_pulls = {status};
    const auto trainer = Trainer::Create(job_, data_, 1, MakeHandNetwork, client);
    ASSERT_TRUE(trainer.ok());
    EXPECT_EQ((*trainer)->Run(), status);
  }
}

TEST_F(TrainerTest, ComputesAdoptedSlotsOnceAndPushesThemWithoutWaiting) {
  const auto trainer = Make();
  // Not one of the job's; dropped.
  trainer->Adopt({{9, {{0, 1}}}});
  trainer->Adopt({{1, {{2, 4}}}});
  trainer->Adopt({{1, {{2, 4}}}});
  client_.pushed.WaitForNotification();
  ASSERT_TRUE(trainer->Run().ok());
  EXPECT_THAT(client_.calls(), ElementsAre("pull 1", "push 1 [2,4)", "next work, 0 results"));
}

TEST_F(TrainerTest, DoesNotAdoptWhatItComputesAnyway) {
  Script({ComputeOrder{0, {{0, 3}}}});
  const auto trainer = Make();
  ASSERT_TRUE(trainer->Run().ok());
  trainer->Adopt({{0, {{0, 4}}}});
  client_.pushed.WaitForNotification();
  EXPECT_EQ(client_.calls().back(), "push 0 [3,4)");
}

}  // namespace
}  // namespace tributary
