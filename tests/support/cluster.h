// A whole cluster in this process: servers and workers on loopback ports, as threads. Everything
// but the processes is real.
#ifndef TRIBUTARY_TESTS_SUPPORT_CLUSTER_H_
#define TRIBUTARY_TESTS_SUPPORT_CLUSTER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/job/job_file.h"

namespace tributary {

// What a run leaves behind.
struct TrainedState {
  Version version = 0;
  std::vector<float> parameters;                        // the flat vector
  std::map<std::string, std::vector<float>> optimizer;  // likewise, by name
};

struct ClusterShape {
  int servers = 1;
  int workers = 1;
  int threads = 1;                // of each worker
  int64_t chunk_elements = 4096;  // small: several chunks even in small models
};

// Trains the job to its end. Errors: the first of a server or worker.
absl::StatusOr<TrainedState> TrainInCluster(const LoadedJob& job, const ClusterShape& shape);

// The same in local mode.
absl::StatusOr<TrainedState> TrainLocally(const LoadedJob& job, int threads);

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_SUPPORT_CLUSTER_H_
