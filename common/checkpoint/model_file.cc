#include "common/checkpoint/model_file.h"

#include <google/protobuf/text_format.h>

#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/formats/safetensors.h"

namespace tributary {

absl::Status WriteModelFile(const std::string& path, const LoadedJob& job, Version version,
                            absl::Span<const float> parameters) {
  std::string job_text;
  if (!google::protobuf::TextFormat::PrintToString(job.spec, &job_text)) {
    return absl::InternalError(absl::StrCat(path, ": the job cannot be written as text"));
  }
  std::vector<NamedArray> arrays;
  for (const ParameterTensor& tensor : job.job.model.layout.tensors()) {
    arrays.push_back({.name = tensor.name,
                      .shape = tensor.shape,
                      .values = parameters.subspan(static_cast<size_t>(tensor.offset),
                                                   static_cast<size_t>(tensor.elements))});
  }
  return WriteSafetensors(path, arrays,
                          {{"format", "pt"},
                           {kModelFileJobKey, job_text},
                           {kModelFileVersionKey, absl::StrCat(version)}});
}

}  // namespace tributary
