// A small job and its roles as processes of their own, started by hand as users on several machines
// would, in any order and with every failure that a test likes.
#ifndef TRIBUTARY_TESTS_E2E_PROCESSES_ROLES_H_
#define TRIBUTARY_TESTS_E2E_PROCESSES_ROLES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace tributary {

// How long a test waits for what must happen: longer than any machine needs.
inline constexpr absl::Duration kPatience = absl::Seconds(60);

// A convolution, dropout and momentum on synthetic images; 4 steps an epoch, the last with 2
// samples for 4 slots. 3200 steps: some seconds, so that what a test does after the first
// evaluation (step 80, in shard 0's log) happens in the middle of the job.
std::string SmallJob(int min_workers);
// For shard 0: a job that ends in days, for tests that end it before.
inline constexpr const char* kEndless = "--set=training.epochs=1000000";

// The lines of a log that are errors.
std::vector<std::string> ErrorLines(const std::string& log);

// A whole file; empty if there is none.
std::string Content(const std::string& path);

// HOST:PORT on this machine that nobody listens on.
std::string FreeAddress();

class RolesTest : public ::testing::Test {
 protected:
  using Arguments = std::vector<std::string>;

  explicit RolesTest(int shards = 2);

  void WriteJob(const std::string& text) const { folder_.Write("job.textproto", text); }

  // Shard 0 listens on coordinator_ and writes the model to model_.
  std::unique_ptr<Process> StartServer(int shard, const Arguments& more = {}) const;
  std::unique_ptr<Process> StartWorker(const std::string& name, const Arguments& more = {}) const;

  // What `tributary run --local` writes for the job.
  std::string LocalModel() const;
  // What the cluster wrote; empty if nothing.
  std::string Model() const;

  // Each of them ends by itself with code 0.
  static void ExpectDone(const std::vector<Process*>& roles);
  // The job runs.
  static void WaitUntilTraining(Process& shard0);

  OrphanCatcher orphans_;
  TempDir folder_;
  int shards_;
  const std::string coordinator_;
  std::string model_;
};

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_E2E_PROCESSES_ROLES_H_
