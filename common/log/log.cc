#include "common/log/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace tributary {

void SetUpLog(const std::string& role) {
  auto log =
      std::make_shared<spdlog::logger>(role, std::make_shared<spdlog::sinks::stderr_sink_mt>());
  log->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %n %v", spdlog::pattern_time_type::utc);
  log->flush_on(spdlog::level::trace);
  spdlog::set_default_logger(std::move(log));
}

}  // namespace tributary
