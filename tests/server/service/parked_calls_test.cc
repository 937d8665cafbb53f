#include "server/service/parked_calls.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

// Answers with the number that it is given, once there is one.
struct Waiter {
  std::optional<grpc::Status> answer;
  bool was_last = false;

  ParkedCalls::Answer Ask() {
    return [this](bool is_last) {
      was_last = is_last;
      if (is_last && !answer.has_value()) return std::optional<grpc::Status>(grpc::Status::OK);
      return answer;
    };
  }
};

class Reactor final : public grpc::ServerUnaryReactor {
  void OnDone() override {}
};

TEST(ParkedCalls, AnswersAtOnceWhatNeedNotWait) {
  ParkedCalls parked;
  FinishedCalls finished;
  Reactor reactor;
  Waiter waiter{.answer = grpc::Status::OK};
  parked.AnswerOrPark(&reactor, 10, waiter.Ask(), finished);
  EXPECT_TRUE(parked.empty());
}

TEST(ParkedCalls, AsksAgainAfterAChangeAndWhenTheTimeIsOver) {
  ParkedCalls parked;
  FinishedCalls finished;
  Reactor one;
  Reactor other;
  Waiter changed;
  Waiter late;
  parked.AnswerOrPark(&one, 10, changed.Ask(), finished);
  parked.AnswerOrPark(&other, 5, late.Ask(), finished);
  parked.AskAgain(4, finished);
  EXPECT_FALSE(parked.empty());
  EXPECT_FALSE(late.was_last);
  changed.answer = grpc::Status::OK;
  parked.AskAgain(4, finished);
  EXPECT_FALSE(parked.empty());
  parked.AskAgain(5, finished);
  EXPECT_TRUE(late.was_last);
  EXPECT_TRUE(parked.empty());
}

}  // namespace
}  // namespace tributary
