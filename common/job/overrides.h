// Sets a field of a spec from the command line: --set FIELD=VALUE.
//
//   training.epochs=3                      a number, a word of an enum, true or false, a text
//   data.mean=0.49,0.48,0.45               a repeated field is replaced by the list
//   optimizer.adam.beta1=0.8               messages on the way are made; another member of the
//                                          oneof (sgd) gives way
//   learning_rate.cosine={}                a message with nothing set
//   model.layer[3].dense.out_features=20   an element of a list, counted from 0
#ifndef TRIBUTARY_COMMON_JOB_OVERRIDES_H_
#define TRIBUTARY_COMMON_JOB_OVERRIDES_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tributary {

struct Override {
  std::string path;
  std::string value;
};

// Errors: INVALID_ARGUMENT for a text without '=' or with nothing before it.
absl::StatusOr<Override> ParseOverride(absl::string_view text);

// Errors: INVALID_ARGUMENT for a field that is not there (with the names that are) and a value that
// the field cannot hold (with what it can); `spec` is then unchanged or half changed.
absl::Status ApplyOverride(const Override& change, google::protobuf::Message& spec);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_OVERRIDES_H_
