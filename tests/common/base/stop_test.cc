#include "common/base/stop.h"

#include <atomic>
#include <memory>
#include <thread>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

TEST(StopSource, RunsEachCallbackOnce) {
  StopSource source;
  int first = 0;
  int second = 0;
  const StopSource::Registration a(source, [&] { ++first; });
  const StopSource::Registration b(source, [&] { ++second; });
  EXPECT_FALSE(source.requested());
  source.Request();
  source.Request();
  EXPECT_TRUE(source.requested());
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
}

TEST(StopSource, ACallbackRegisteredAfterTheRequestRunsAtOnce) {
  StopSource source;
  source.Request();
  int calls = 0;
  const StopSource::Registration registration(source, [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST(StopSource, ACallbackWhoseRegistrationIsGoneDoesNotRun) {
  StopSource source;
  int calls = 0;
  {
    const StopSource::Registration registration(source, [&] { ++calls; });
  }
  source.Request();
  EXPECT_EQ(calls, 0);
}

TEST(StopSource, ARequestEndsAWait) {
  StopSource source;
  EXPECT_FALSE(source.WaitFor(absl::ZeroDuration()));
  std::thread requester([&] { source.Request(); });
  EXPECT_TRUE(source.WaitFor(absl::InfiniteDuration()));
  requester.join();
}

TEST(StopSource, ARegistrationOutlivesItsRunningCallbackEvenIfTheStopIsRequestedTwice) {
  StopSource source;
  absl::Notification running;
  absl::Notification go_on;
  std::atomic<bool> destroyed = false;
  bool destroyed_while_running = true;
  auto registration = std::make_unique<StopSource::Registration>(source, [&] {
    running.Notify();
    go_on.WaitForNotification();
    destroyed_while_running = destroyed;
  });
  std::thread requester([&] { source.Request(); });
  running.WaitForNotification();
  source.Request();
  std::thread destroyer([&] {
    registration.reset();
    destroyed = true;
  });
  // A right destructor cannot return now, however long one waits; a wrong one has the time to.
  const absl::Time until = absl::Now() + absl::Milliseconds(50);
  while (!destroyed && absl::Now() < until) std::this_thread::yield();
  go_on.Notify();
  requester.join();
  destroyer.join();
  EXPECT_FALSE(destroyed_while_running);
}

}  // namespace
}  // namespace tributary
