#include "common/net/channel.h"

#include <grpc/support/log.h>
#include <spdlog/spdlog.h>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/model/layout.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"

namespace tributary {
namespace {

// A peer that vanished without a word is noticed after this long.
constexpr int kKeepaliveMilliseconds = 20'000;
constexpr int kKeepaliveTimeoutMilliseconds = 10'000;
// How often a server lets a client ask whether it lives.
constexpr int kLeastPingIntervalMilliseconds = 5'000;
// Calls that one connection may have open: chunks in flight, not threads.
constexpr int kMaxConcurrentCalls = 4096;
constexpr int kMostReconnectMilliseconds = 1'000;

constexpr char kDigits[] = "0123456789";
// The longest name in the domain name system has 253 characters (RFC 1035).
constexpr size_t kMostShown = 300;

bool ConsistsOf(absl::string_view text, absl::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == absl::string_view::npos;
}

// A host name, an IPv4 address, or an IPv6 address (with its zone) in brackets.
bool IsHost(absl::string_view host) {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    return ConsistsOf(host.substr(1, host.size() - 2), absl::StrCat(kDigits, kLetters, ":.%"));
  }
  return ConsistsOf(host, absl::StrCat(kDigits, kLetters, ".-_"));
}

}  // namespace

std::shared_ptr<grpc::Channel> CreateChannel(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(kMaxMessageBytes));
  arguments.SetMaxSendMessageSize(static_cast<int>(kMaxMessageBytes));
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMilliseconds);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Retries are ours: a push is idempotent, and a wait must not be cut short.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMostReconnectMilliseconds);
  // Peers are named by the user; no proxy stands between them.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

void ConfigureServer(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(kMaxMessageBytes));
  builder.SetMaxSendMessageSize(static_cast<int>(kMaxMessageBytes));
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxConcurrentCalls);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kLeastPingIntervalMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

void QuietGrpc() {
  gpr_set_log_function([](gpr_log_func_args* args) { spdlog::debug("{}", args->message); });
}

absl::Status CheckJobShape(uint64_t shards, uint64_t chunk_elements) {
  if (shards < 1 || shards > uint64_t{kMostShards}) {
    return absl::InvalidArgumentError(
        absl::StrCat("shards: found ", shards, ", allowed 1 to ", kMostShards));
  }
  // A quarter of a message: header and several tree nodes fit beside it.
  constexpr uint64_t kMostChunkElements = kMaxMessageBytes / sizeof(float) / 4;
  if (chunk_elements < 1 || chunk_elements > kMostChunkElements ||
      chunk_elements % uint64_t{kShardUnit} != 0) {
    return absl::InvalidArgumentError(absl::StrCat("chunk_elements: found ", chunk_elements,
                                                   ", allowed multiples of ", kShardUnit, " up to ",
                                                   kMostChunkElements));
  }
  return absl::OkStatus();
}

absl::Status CheckAddress(const std::string& field, const std::string& address, int least_port) {
  const absl::string_view text = address;
  const size_t colon = text.rfind(':');
  int port = -1;
  const bool has_port =
      colon != absl::string_view::npos && ConsistsOf(text.substr(colon + 1), kDigits) &&
      absl::SimpleAtoi(text.substr(colon + 1), &port) && port >= least_port && port <= 65535;
  if (has_port && IsHost(text.substr(0, colon))) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      field, ": found \"", absl::CHexEscape(text.substr(0, kMostShown)),
      "\", allowed HOST:PORT or [IPV6]:PORT with a port from ", least_port, " to 65535"));
}

}  // namespace tributary
