#include "server/service/listener.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/net/channel.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"

namespace tributary {
namespace {

// Calls that are under way when the server goes get this long.
constexpr std::chrono::milliseconds kShutdownGrace(500);

std::string HostOf(const std::string& address) {
  return address.substr(0, address.rfind(':'));
}

bool HasPortZero(const std::string& address) {
  return absl::EndsWith(address, ":0");
}

std::string MachineName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

std::string AdvertisedAddress(const std::string& listen, const std::string& advertise, int port) {
  if (!advertise.empty()) {
    return HasPortZero(advertise) ? absl::StrCat(HostOf(advertise), ":", port) : advertise;
  }
  const std::string host = HostOf(listen);
  const bool is_every_address = host == "0.0.0.0" || host == "[::]" || host == "*";
  return absl::StrCat(is_every_address ? MachineName() : host, ":", port);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Create(
    const std::string& listen, const std::string& advertise,
    const std::vector<grpc::Service*>& services) {
  RETURN_IF_ERROR(CheckAddress("--listen", listen, 0));
  if (!advertise.empty()) RETURN_IF_ERROR(CheckAddress("--advertise", advertise, 0));
  grpc::ServerBuilder builder;
  ConfigureServer(builder);
  int port = 0;
  builder.AddListeningPort(listen, grpc::InsecureServerCredentials(), &port);
  for (grpc::Service* service : services) builder.RegisterService(service);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) {
    return absl::UnavailableError(
        absl::StrCat("--listen: cannot listen on ", listen,
                     ": the port is taken, or the address is not one of this machine's"));
  }
  return std::unique_ptr<Listener>(
      new Listener(std::move(server), AdvertisedAddress(listen, advertise, port)));
}

Listener::~Listener() {
  server_->Shutdown(std::chrono::system_clock::now() + kShutdownGrace);
  server_->Wait();
}

}  // namespace tributary
