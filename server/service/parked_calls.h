// Calls that wait for something to happen (long polls): each is asked again after every change, and
// answered at the latest when its time is over.
//
// Not thread-safe: its owner's mutex guards it. Answers are carried out after that mutex is let go.
#ifndef TRIBUTARY_SERVER_SERVICE_PARKED_CALLS_H_
#define TRIBUTARY_SERVER_SERVICE_PARKED_CALLS_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "grpcpp/support/server_callback.h"

namespace tributary {

// Calls to finish, once no lock is held.
class FinishedCalls {
 public:
  void Add(grpc::ServerUnaryReactor* reactor, grpc::Status status) {
    calls_.emplace_back(reactor, std::move(status));
  }
  void Finish() {
    for (auto& [reactor, status] : calls_) reactor->Finish(status);
    calls_.clear();
  }

 private:
  std::vector<std::pair<grpc::ServerUnaryReactor*, grpc::Status>> calls_;
};

class ParkedCalls {
 public:
  // Fills the call's response and returns its status, or nullopt to wait on. `is_last`: it may not.
  using Answer = std::function<std::optional<grpc::Status>(bool is_last)>;

  // More waiting calls than this are refused: far above a cluster's workers, a bound for others.
  static constexpr size_t kMostCalls = 65'536;

  // Answers at once if the call need not wait, and otherwise keeps it until `deadline_seconds`.
  void AnswerOrPark(grpc::ServerUnaryReactor* reactor, double deadline_seconds, Answer answer,
                    FinishedCalls& finished);

  // After a change, or as time goes by.
  void AskAgain(double now_seconds, FinishedCalls& finished);

  bool empty() const { return calls_.empty(); }

 private:
  struct Call {
    grpc::ServerUnaryReactor* reactor;
    double deadline_seconds;
    Answer answer;
  };
  std::vector<Call> calls_;
};

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SERVICE_PARKED_CALLS_H_
