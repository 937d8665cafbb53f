// gRPC channels and servers with the settings that every role shares.
#ifndef TRIBUTARY_COMMON_NET_CHANNEL_H_
#define TRIBUTARY_COMMON_NET_CHANNEL_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "grpcpp/channel.h"
#include "grpcpp/server_builder.h"

namespace tributary {

inline constexpr uint32_t kProtocolVersion = 2;

// Elements in a chunk: 4 MiB. Larger ones gain nothing on the wire and delay the first bytes.
inline constexpr int64_t kChunkElements = int64_t{1} << 20;

// The largest message that a role takes: a push of several tree nodes of one chunk, or a job file.
// gRPC's own default (4 MiB) is below one chunk.
inline constexpr int64_t kMaxMessageBytes = int64_t{64} << 20;

// What a message that carries a chunk may hold besides values: header, slots, statistics, an order.
inline constexpr int64_t kMessageHeadroom = 16 << 10;

// More shards than this are a mistake; far above any cluster.
inline constexpr int64_t kMostShards = 65'536;

// What a coordinator says about a job's transfers, from the network: at least one shard and at most
// kMostShards; chunks of whole shard units that fit a message. Errors: INVALID_ARGUMENT.
absl::Status CheckJobShape(uint64_t shards, uint64_t chunk_elements);

// A connection of its own to `address` (host:port), re-established by itself. Connections are not
// shared between channels: several to one peer carry more.
std::shared_ptr<grpc::Channel> CreateChannel(const std::string& address);

// Message limits, keepalive, no port sharing between processes.
void ConfigureServer(grpc::ServerBuilder& builder);

// gRPC's own messages go to the log's debug level: what a user should know comes back as a status.
// To be called once, before any other use of gRPC.
void QuietGrpc();

// INVALID_ARGUMENT unless `address` is HOST:PORT or [IPV6]:PORT with a port from `least_port` to
// 65535. `field` stands in the message.
absl::Status CheckAddress(const std::string& field, const std::string& address, int least_port);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_NET_CHANNEL_H_
