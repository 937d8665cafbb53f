#include "server/service/parked_calls.h"

#include <utility>

namespace tributary {

void ParkedCalls::AnswerOrPark(grpc::ServerUnaryReactor* reactor, double deadline_seconds,
                               Answer answer, FinishedCalls& finished) {
  if (std::optional<grpc::Status> status = answer(false); status.has_value()) {
    finished.Add(reactor, *std::move(status));
  } else if (calls_.size() >= kMostCalls) {
    finished.Add(reactor, {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls wait"});
  } else {
    calls_.push_back({reactor, deadline_seconds, std::move(answer)});
  }
}

void ParkedCalls::AskAgain(double now_seconds, FinishedCalls& finished) {
  std::erase_if(calls_, [&](Call& call) {
    std::optional<grpc::Status> status = call.answer(call.deadline_seconds <= now_seconds);
    if (!status.has_value()) return false;
    finished.Add(call.reactor, *std::move(status));
    return true;
  });
}

}  // namespace tributary
