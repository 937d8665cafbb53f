// The exit codes of every program.
#ifndef TRIBUTARY_COMMON_BASE_EXIT_CODES_H_
#define TRIBUTARY_COMMON_BASE_EXIT_CODES_H_

namespace tributary {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;    // the job failed, a peer was lost
inline constexpr int kExitBadInput = 2;  // usage, job file, data, model file
inline constexpr int kExitInterrupted =
    130;                                     // Ctrl-C (`tributary`; servers and workers end with 0)
inline constexpr int kExitTerminated = 143;  // SIGTERM, likewise

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_BASE_EXIT_CODES_H_
