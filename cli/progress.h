// Shows a job's progress to a person: on a terminal one line that is redrawn under the lines that
// stay (evaluations, notes), elsewhere plain lines, few of them.
#ifndef TRIBUTARY_CLI_PROGRESS_H_
#define TRIBUTARY_CLI_PROGRESS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "tributary/v1/training.pb.h"

namespace tributary {

// Where the lines go.
struct ProgressOutput {
  bool is_terminal = false;
  std::function<void(const std::string&)> write;  // must not call back
  std::function<size_t()> width;                  // columns of the terminal
  std::function<absl::Time()> now;
};

// Standard error.
ProgressOutput StandardErrorOutput();

// Plain lines of progress are at least this far apart.
inline constexpr absl::Duration kPlainLineInterval = absl::Seconds(5);

// Thread-safe.
class Progress {
 public:
  explicit Progress(ProgressOutput output);
  // Takes the redrawn line away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // To be called as often as there is news. An evaluation is shown once: the newest, if several
  // passed between two calls.
  void Show(const v1::JobStatus& status);

  // A line that stays, without its newline.
  void Say(const std::string& line);

  // The newest status that was shown.
  v1::JobStatus last() const;

 private:
  void SayLocked(const std::string& line) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void SayNews(const v1::JobStatus& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ShowPlain(const v1::JobStatus& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const ProgressOutput output_;
  mutable absl::Mutex mutex_;
  v1::JobStatus last_ ABSL_GUARDED_BY(mutex_);
  // The redrawn line, or the last plain one.
  std::string line_ ABSL_GUARDED_BY(mutex_);
  absl::Time line_time_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  std::string evaluation_ ABSL_GUARDED_BY(mutex_);
  uint64_t skipped_steps_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace tributary

#endif  // TRIBUTARY_CLI_PROGRESS_H_
