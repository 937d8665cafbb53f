#include "cli/status_poller.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "gtest/gtest.h"
#include "tributary/v1/training.grpc.pb.h"

namespace tributary {
namespace {

// Counts the calls; answers with the number as the step, or never.
class FakeCoordinator : public v1::Coordinator::Service {
 public:
  explicit FakeCoordinator(bool answers) : answers_(answers) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
  }
  ~FakeCoordinator() override { server_->Shutdown(); }

  grpc::Status GetStatus(grpc::ServerContext* context, const v1::GetStatusRequest*,
                         v1::JobStatus* status) override {
    if (calls_ == 0) first_call_.Notify();
    status->set_step(++calls_);
    while (!answers_ && !context->IsCancelled()) {
    }
    return grpc::Status::OK;
  }

  std::string address() const { return absl::StrCat("127.0.0.1:", port_); }
  void WaitForACall() { first_call_.WaitForNotification(); }

 private:
  const bool answers_;
  int port_ = 0;
  uint64_t calls_ = 0;
  absl::Notification first_call_;
  std::unique_ptr<grpc::Server> server_;
};

TEST(StatusPoller, ReportsAgainAndAgain) {
  FakeCoordinator coordinator(/*answers=*/true);
  absl::Notification third;
  const StatusPoller poller(coordinator.address(), [&third](const v1::JobStatus& status) {
    if (status.step() == 3) third.Notify();
  });
  third.WaitForNotification();
}

TEST(StatusPoller, EndsAtOnceWhileACallIsOpen) {
  FakeCoordinator coordinator(/*answers=*/false);
  bool has_reported = false;
  {
    const StatusPoller poller(coordinator.address(),
                              [&has_reported](const v1::JobStatus&) { has_reported = true; });
    coordinator.WaitForACall();
  }
  EXPECT_FALSE(has_reported);
}

TEST(StatusPoller, NobodyThereIsNoNews) {
  bool has_reported = false;
  {
    // Port 1 (tcpmux) is closed everywhere.
    const StatusPoller poller("127.0.0.1:1",
                              [&has_reported](const v1::JobStatus&) { has_reported = true; });
  }
  EXPECT_FALSE(has_reported);
}

}  // namespace
}  // namespace tributary
