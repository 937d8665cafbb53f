// Where each field of a spec was written, so that an error can say so.
//
// Fields are named by their path from the JobSpec: "training.slots",
// "model.layer[3].conv2d.kernel". The elements of a repeated number share one place, that of the
// first.
#ifndef TRIBUTARY_COMMON_JOB_SOURCE_MAP_H_
#define TRIBUTARY_COMMON_JOB_SOURCE_MAP_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"

namespace tributary {

// Path to line, from 1.
using FieldLines = absl::flat_hash_map<std::string, int>;

// An empty map is that of a spec that came over the wire: no field has a place.
class SourceMap {
 public:
  // `lines` are the fields written in `file`, which describes the field `root` ("" for the job
  // file, "model" for a model file). The job file comes first.
  void AddFile(std::string file, std::string root, FieldLines lines);

  // The field was set by --set, whatever the files say.
  void AddOverride(std::string path);

  // Whether a file or an override sets the field. False for a spec from the wire.
  bool IsWritten(absl::string_view path) const;

  // "job.textproto:12", "--set", or "" for a spec from the wire. A field that is written nowhere
  // has the place of the message it belongs to.
  std::string Place(absl::string_view path) const;

 private:
  struct File {
    std::string name;
    std::string root;
    FieldLines lines;
  };
  std::vector<File> files_;
  absl::flat_hash_set<std::string> overrides_;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_SOURCE_MAP_H_
