// The ready models of models/, built into the program so that it needs no files beside it.
#ifndef TRIBUTARY_CLI_BUILTIN_MODELS_H_
#define TRIBUTARY_CLI_BUILTIN_MODELS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace tributary {

struct BuiltinModel {
  absl::string_view name;  // "mnist_cnn"
  absl::string_view text;  // a ModelSpec in text format
};

const std::vector<BuiltinModel>& BuiltinModels();

}  // namespace tributary

#endif  // TRIBUTARY_CLI_BUILTIN_MODELS_H_
