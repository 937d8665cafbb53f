// What shard 0 leaves behind when the job is done.
#ifndef TRIBUTARY_SERVER_SERVICE_JOB_END_H_
#define TRIBUTARY_SERVER_SERVICE_JOB_END_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "common/job/job_file.h"
#include "common/net/call_header.h"
#include "common/training/run_result.h"
#include "grpcpp/channel.h"

namespace tributary {

// Reads version `version` from every shard and writes it to `path` (common/checkpoint).
absl::Status SaveModel(const std::string& path, const LoadedJob& job, const JobIdentity& identity,
                       const std::vector<std::shared_ptr<grpc::Channel>>& shards, Version version);

// Writes the result as JSON (common/formats/result_json).
absl::Status SaveResult(const std::string& path, const RunResult& result);

// Writes a line that appears at its path whole.
absl::Status SaveLine(const std::string& path, const std::string& line);

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SERVICE_JOB_END_H_
