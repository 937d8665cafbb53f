// Ctrl-C and its relatives (SIGINT, SIGTERM, SIGHUP) as something to poll and to ask about, for a
// program that has others to stop before it ends itself.
#ifndef TRIBUTARY_CLI_INTERRUPTS_H_
#define TRIBUTARY_CLI_INTERRUPTS_H_

#include <csignal>

namespace tributary {

// Blocks the signals for the calling thread and for every thread that it starts from now on; make
// it before other threads. SIGHUP is left alone where it is ignored (nohup). SIGPIPE is ignored: a
// reader that goes away is an error of the write. Not thread-safe.
class Interrupts {
 public:
  Interrupts();
  // The signals do again what they did before.
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Becomes readable (poll, POLLIN) when a signal has come.
  int descriptor() const { return descriptor_; }

  // The next signal that has come, 0 if there is none. Does not wait.
  int Take();

  // The next one ends the process at once, as if this object did not exist. To be called in the
  // thread that made it.
  void LetNextOneKill();

 private:
  sigset_t before_;
  int descriptor_;
};

}  // namespace tributary

#endif  // TRIBUTARY_CLI_INTERRUPTS_H_
