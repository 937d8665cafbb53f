// gRPC's status and Abseil's: the codes are the same numbers.
#ifndef TRIBUTARY_COMMON_NET_GRPC_STATUS_H_
#define TRIBUTARY_COMMON_NET_GRPC_STATUS_H_

#include <string>

#include "absl/status/status.h"
#include "grpcpp/support/status.h"

namespace tributary {

inline grpc::Status ToGrpcStatus(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

inline absl::Status FromGrpcStatus(const grpc::Status& status) {
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()), status.error_message());
}

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_NET_GRPC_STATUS_H_
