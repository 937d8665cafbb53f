#include "common/job/job_file.h"

#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/job/checks.h"
#include "common/job/field_text.h"
#include "common/job/job_check.h"
#include "common/job/overrides.h"
#include "common/job/source_map.h"
#include "common/job/spec_reader.h"

namespace tributary {
namespace {

// The file's name without folder and ending, as far as a job's name may be that.
std::string NameFromPath(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string().substr(0, kMaxJobNameBytes);
  for (char& c : name) {
    if (!IsPlainName(absl::string_view(&c, 1))) c = '_';
  }
  if (absl::StartsWith(name, ".")) name[0] = '_';
  return name;
}

// Whether the override changes the model, and so has to wait until the model file is read.
bool IsOfModel(const Override& change) {
  return change.path == "model" || absl::StartsWith(change.path, "model.");
}

absl::Status Apply(const std::vector<Override>& overrides, bool of_model, v1::JobSpec& spec,
                   SourceMap& sources) {
  for (const Override& change : overrides) {
    if (IsOfModel(change) != of_model) continue;
    RETURN_IF_ERROR(ApplyOverride(change, spec));
    sources.AddOverride(change.path);
  }
  return absl::OkStatus();
}

// Puts the model of spec.model_file, if one is named, into spec.model.
absl::Status ReadModelFile(const std::string& job_path, v1::JobSpec& spec, SourceMap& sources) {
  if (spec.model_file().empty()) return absl::OkStatus();
  const Checks checks(sources);
  RETURN_IF_ERROR(checks.Require(!spec.has_model(), "model_file", "both model and model_file",
                                 "exactly one of the two"));
  RETURN_IF_ERROR(checks.Require(spec.model_file().find('\0') == std::string::npos, "model_file",
                                 Quoted(spec.model_file()), "a file's name"));
  const std::string path =
      (std::filesystem::path(job_path).parent_path() / spec.model_file()).lexically_normal();
  const absl::StatusOr<std::string> text = ReadTextFile(path, kMaxJobFileBytes);
  if (!text.ok()) {
    return absl::Status(text.status().code(),
                        OneLine(absl::StrCat(sources.Place("model_file"), ": model_file: ", path,
                                             ": ", text.status().message())));
  }
  RETURN_IF_ERROR(ParseSpec(*text, path, "model", *spec.mutable_model(), sources));
  spec.clear_model_file();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LoadedJob> LoadJobFile(const std::string& path,
                                      const std::vector<std::string>& overrides) {
  const absl::StatusOr<std::string> text = ReadTextFile(path, kMaxJobFileBytes);
  if (!text.ok()) {
    return absl::Status(text.status().code(),
                        OneLine(absl::StrCat(path, ": job file: ", text.status().message())));
  }
  LoadedJob loaded;
  SourceMap sources;
  RETURN_IF_ERROR(ParseSpec(*text, path, "", loaded.spec, sources));
  std::vector<Override> changes;
  for (const std::string& override : overrides) {
    ASSIGN_OR_RETURN(changes.emplace_back(), ParseOverride(override));
  }
  RETURN_IF_ERROR(Apply(changes, /*of_model=*/false, loaded.spec, sources));
  RETURN_IF_ERROR(ReadModelFile(path, loaded.spec, sources));
  RETURN_IF_ERROR(Apply(changes, /*of_model=*/true, loaded.spec, sources));
  if (loaded.spec.name().empty()) loaded.spec.set_name(NameFromPath(path));
  ASSIGN_OR_RETURN(loaded.job, CheckJob(loaded.spec, sources));
  return loaded;
}

absl::StatusOr<Job> JobFromSpec(const v1::JobSpec& spec) {
  return CheckJob(spec, SourceMap());
}

}  // namespace tributary
