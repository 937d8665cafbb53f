// Asks a running job for its status, again and again.
#ifndef TRIBUTARY_CLI_STATUS_POLLER_H_
#define TRIBUTARY_CLI_STATUS_POLLER_H_

#include <functional>
#include <string>
#include <thread>

#include "common/base/stop.h"
#include "tributary/v1/training.pb.h"

namespace tributary {

// Calls `report`, on a thread of its own, with every answer of the coordinator at `address`
// (host:port), about four times a second. A call that fails is left out: whether the job lives is
// for others to say. The destructor ends the thread.
class StatusPoller {
 public:
  StatusPoller(std::string address, std::function<void(const v1::JobStatus&)> report);
  ~StatusPoller();
  StatusPoller(const StatusPoller&) = delete;
  StatusPoller& operator=(const StatusPoller&) = delete;

 private:
  void Run(const std::string& address);

  const std::function<void(const v1::JobStatus&)> report_;
  StopSource stop_;
  std::thread thread_;
};

}  // namespace tributary

#endif  // TRIBUTARY_CLI_STATUS_POLLER_H_
