// The log of a server or worker: one line, one fact, on standard error.
//
//   2026-12-01T14:54:01.123Z info server-0 worker joined name=host:4711 workers=2
//
// Lines are written with spdlog's functions; values as key=value, the job's and step's numbers in
// them. Nothing per step at the default level.
#ifndef TRIBUTARY_COMMON_LOG_LOG_H_
#define TRIBUTARY_COMMON_LOG_LOG_H_

#include <string>

namespace tributary {

// To be called once, at the start of main; `role` stands in every line. Flushes every line.
void SetUpLog(const std::string& role);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_LOG_LOG_H_
