#include "cli/status_poller.h"

#include <chrono>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "common/net/channel.h"
#include "grpcpp/client_context.h"
#include "tributary/v1/training.grpc.pb.h"

namespace tributary {
namespace {

constexpr absl::Duration kInterval = absl::Milliseconds(250);
constexpr std::chrono::seconds kDeadline(5);

}  // namespace

StatusPoller::StatusPoller(std::string address, std::function<void(const v1::JobStatus&)> report)
    : report_(std::move(report)), thread_([this, address = std::move(address)] { Run(address); }) {}

StatusPoller::~StatusPoller() {
  stop_.Request();
  thread_.join();
}

void StatusPoller::Run(const std::string& address) {
  const std::unique_ptr<v1::Coordinator::Stub> coordinator =
      v1::Coordinator::NewStub(CreateChannel(address));
  do {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kDeadline);
    const StopSource::Registration cancel(stop_, [&context] { context.TryCancel(); });
    v1::JobStatus status;
    if (coordinator->GetStatus(&context, v1::GetStatusRequest(), &status).ok()) report_(status);
  } while (!stop_.WaitFor(kInterval));
}

}  // namespace tributary
