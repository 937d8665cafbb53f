// A gRPC server on a port of this host.
#ifndef TRIBUTARY_SERVER_SERVICE_LISTENER_H_
#define TRIBUTARY_SERVER_SERVICE_LISTENER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "grpcpp/server.h"

namespace tributary {

class Listener {
 public:
  // Listens on `listen`, HOST:PORT with 0 for a port of the system's choice. `services` outlive the
  // listener. `advertise` is what peers are told, HOST:PORT with 0 for the port that is listened
  // on; empty: the host of `listen`, or this machine's name where that is every address. Errors:
  // INVALID_ARGUMENT for a malformed address; UNAVAILABLE when the port is taken or is not ours.
  static absl::StatusOr<std::unique_ptr<Listener>> Create(
      const std::string& listen, const std::string& advertise,
      const std::vector<grpc::Service*>& services);

  // Ends every call that is open.
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // What peers are told.
  const std::string& address() const { return address_; }
  // A channel to this server that needs no network.
  std::shared_ptr<grpc::Channel> OwnChannel() { return server_->InProcessChannel({}); }

 private:
  Listener(std::unique_ptr<grpc::Server> server, std::string address)
      : server_(std::move(server)), address_(std::move(address)) {}

  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SERVICE_LISTENER_H_
