#include "server/service/job_end.h"

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/model_file.h"
#include "common/formats/atomic_file.h"
#include "common/formats/result_json.h"
#include "common/net/parameter_reader.h"

namespace tributary {
namespace {

absl::Status SaveText(const std::string& path, const std::string& text) {
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  RETURN_IF_ERROR(file.Append(text));
  return file.Commit();
}

}  // namespace

absl::Status SaveModel(const std::string& path, const LoadedJob& job, const JobIdentity& identity,
                       const std::vector<std::shared_ptr<grpc::Channel>>& shards, Version version) {
  ASSIGN_OR_RETURN(const ParameterSnapshot snapshot,
                   ReadParameters(shards, identity, job.job.model.layout, version));
  return WriteModelFile(path, job, snapshot.version, snapshot.values);
}

absl::Status SaveResult(const std::string& path, const RunResult& result) {
  return SaveText(path, FormatResultJson(result));
}

absl::Status SaveLine(const std::string& path, const std::string& line) {
  return SaveText(path, absl::StrCat(line, "\n"));
}

}  // namespace tributary
