// Tells ThreadSanitizer what Debian's Abseil cannot: its libraries are built without the sanitizer,
// so a lock of absl::Mutex is invisible, and everything that it guards looks like a race. Linked
// into every program of a tsan build, these definitions take the place of the library's (gRPC's
// calls too), say what happens before what, and call the library's own.
//
// Unlock and the waits run the conditions of other waiters, under the lock, but behind the point
// where this file had to say "released": those reads are ignored.
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <cstdio>
#include <cstdlib>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"

extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);

namespace {

// The library's function. A method is called as a function that takes the object first.
template <typename Function>
Function* Next(const char* symbol) {
  void* found = dlsym(RTLD_NEXT, symbol);
  if (found == nullptr) {
    std::fprintf(stderr, "tsan_abseil.cc: Abseil has no %s\n", symbol);
    std::abort();
  }
  return reinterpret_cast<Function*>(found);
}

class ConditionReadsIgnored {
 public:
  ConditionReadsIgnored() { AnnotateIgnoreReadsBegin(__FILE__, __LINE__); }
  ~ConditionReadsIgnored() { AnnotateIgnoreReadsEnd(__FILE__, __LINE__); }
  ConditionReadsIgnored(const ConditionReadsIgnored&) = delete;
};

// What may lock, and may not: returns whether it did.
template <typename Call>
bool AcquireIf(void* object, Call call) {
  const bool acquired = call();
  if (acquired) __tsan_acquire(object);
  return acquired;
}

// What gives the lock up first: an unlock.
template <typename Call>
void Release(void* object, Call call) {
  __tsan_release(object);
  const ConditionReadsIgnored ignored;
  call();
}

// What comes back with the lock, having given it up or not: a lock, a wait.
template <typename Call>
auto ReleaseAndAcquire(void* object, Call call) {
  struct Acquire {
    ~Acquire() { __tsan_acquire(object); }
    void* object;
  };
  __tsan_release(object);
  const Acquire acquire{object};
  const ConditionReadsIgnored ignored;
  return call();
}

template <typename Call>
void Acquire(void* object, Call call) {
  {
    const ConditionReadsIgnored ignored;
    call();
  }
  __tsan_acquire(object);
}

}  // namespace

namespace absl {
ABSL_NAMESPACE_BEGIN

void Mutex::Lock() {
  static auto* const next = Next<void(Mutex*)>("_ZN4absl7debian35Mutex4LockEv");
  Acquire(this, [this] { next(this); });
}

void Mutex::Unlock() {
  static auto* const next = Next<void(Mutex*)>("_ZN4absl7debian35Mutex6UnlockEv");
  Release(this, [this] { next(this); });
}

bool Mutex::TryLock() {
  static auto* const next = Next<bool(Mutex*)>("_ZN4absl7debian35Mutex7TryLockEv");
  return AcquireIf(this, [this] { return next(this); });
}

void Mutex::ReaderLock() {
  static auto* const next = Next<void(Mutex*)>("_ZN4absl7debian35Mutex10ReaderLockEv");
  Acquire(this, [this] { next(this); });
}

void Mutex::ReaderUnlock() {
  static auto* const next = Next<void(Mutex*)>("_ZN4absl7debian35Mutex12ReaderUnlockEv");
  Release(this, [this] { next(this); });
}

bool Mutex::ReaderTryLock() {
  static auto* const next = Next<bool(Mutex*)>("_ZN4absl7debian35Mutex13ReaderTryLockEv");
  return AcquireIf(this, [this] { return next(this); });
}

void Mutex::LockWhen(const Condition& condition) {
  static auto* const next =
      Next<void(Mutex*, const Condition&)>("_ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE");
  Acquire(this, [&] { next(this, condition); });
}

void Mutex::Await(const Condition& condition) {
  static auto* const next =
      Next<void(Mutex*, const Condition&)>("_ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE");
  ReleaseAndAcquire(this, [&] { next(this, condition); });
}

bool Mutex::AwaitWithTimeout(const Condition& condition, Duration timeout) {
  static auto* const next = Next<bool(Mutex*, const Condition&, Duration)>(
      "_ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE");
  return ReleaseAndAcquire(this, [&] { return next(this, condition, timeout); });
}

bool Mutex::AwaitWithDeadline(const Condition& condition, Time deadline) {
  static auto* const next = Next<bool(Mutex*, const Condition&, Time)>(
      "_ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE");
  return ReleaseAndAcquire(this, [&] { return next(this, condition, deadline); });
}

bool Mutex::LockWhenWithTimeout(const Condition& condition, Duration timeout) {
  static auto* const next = Next<bool(Mutex*, const Condition&, Duration)>(
      "_ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE");
  return ReleaseAndAcquire(this, [&] { return next(this, condition, timeout); });
}

bool Mutex::LockWhenWithDeadline(const Condition& condition, Time deadline) {
  static auto* const next = Next<bool(Mutex*, const Condition&, Time)>(
      "_ZN4absl7debian35Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE");
  return ReleaseAndAcquire(this, [&] { return next(this, condition, deadline); });
}

void CondVar::Wait(Mutex* mutex) {
  static auto* const next =
      Next<void(CondVar*, Mutex*)>("_ZN4absl7debian37CondVar4WaitEPNS0_5MutexE");
  ReleaseAndAcquire(mutex, [&] { next(this, mutex); });
}

bool CondVar::WaitWithTimeout(Mutex* mutex, Duration timeout) {
  static auto* const next = Next<bool(CondVar*, Mutex*, Duration)>(
      "_ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE");
  return ReleaseAndAcquire(mutex, [&] { return next(this, mutex, timeout); });
}

bool CondVar::WaitWithDeadline(Mutex* mutex, Time deadline) {
  static auto* const next = Next<bool(CondVar*, Mutex*, Time)>(
      "_ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE");
  return ReleaseAndAcquire(mutex, [&] { return next(this, mutex, deadline); });
}

void Notification::Notify() {
  static auto* const next = Next<void(Notification*)>("_ZN4absl7debian312Notification6NotifyEv");
  Release(this, [this] { next(this); });
}

void Notification::WaitForNotification() const {
  static auto* const next =
      Next<void(const Notification*)>("_ZNK4absl7debian312Notification19WaitForNotificationEv");
  Acquire(const_cast<Notification*>(this), [this] { next(this); });
}

bool Notification::WaitForNotificationWithTimeout(Duration timeout) const {
  static auto* const next = Next<bool(const Notification*, Duration)>(
      "_ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE");
  return AcquireIf(const_cast<Notification*>(this), [&] { return next(this, timeout); });
}

bool BlockingCounter::DecrementCount() {
  static auto* const next =
      Next<bool(BlockingCounter*)>("_ZN4absl7debian315BlockingCounter14DecrementCountEv");
  __tsan_release(this);
  return next(this);
}

void BlockingCounter::Wait() {
  static auto* const next =
      Next<void(BlockingCounter*)>("_ZN4absl7debian315BlockingCounter4WaitEv");
  Acquire(this, [this] { next(this); });
}

ABSL_NAMESPACE_END
}  // namespace absl
