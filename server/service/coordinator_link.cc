#include "server/service/coordinator_link.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/net/channel.h"
#include "common/net/retry.h"

namespace tributary {
namespace {

std::string PeerName(const std::string& address) {
  return absl::StrCat("the coordinator at ", address);
}

}  // namespace

CoordinatorLink::CoordinatorLink(const Options& options, StopSource& stop)
    : options_(options),
      stop_(stop),
      channel_(CreateChannel(options.address)),
      stub_(v1::Coordinator::NewStub(channel_)) {}

absl::StatusOr<FetchedJob> CoordinatorLink::FetchJob() {
  return tributary::FetchJob(*stub_, {.peer = PeerName(options_.address), .channel = channel_},
                             stop_);
}

absl::StatusOr<v1::RegisterShardResponse> CoordinatorLink::NextPhase(
    const v1::RegisterShardRequest& request) {
  v1::RegisterShardResponse response;
  do {
    RETURN_IF_ERROR(CallWithRetry({.peer = PeerName(options_.address),
                                   .patience = options_.peer_timeout,
                                   .channel = channel_},
                                  stop_, [&](grpc::ClientContext& context) {
                                    return stub_->RegisterShard(&context, request, &response);
                                  }));
  } while (response.phase() == request.known_phase());
  return response;
}

}  // namespace tributary
