// Small models, each about one kind of layer with unusual options; make_reference.py has the same
// list under the same names.
#ifndef TRIBUTARY_TESTS_WORKER_COMPUTE_LAYER_CASES_H_
#define TRIBUTARY_TESTS_WORKER_COMPUTE_LAYER_CASES_H_

#include <string>
#include <vector>

#include "common/model/model.h"

namespace tributary {

struct LayerCase {
  std::string name;
  Model model;
};

// Each: a 1x1 convolution "pre" (so that the data gradient of what follows matters), the layers,
// flatten, a dense layer "post" to three classes, the loss.
std::vector<LayerCase> LayerCases();

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_WORKER_COMPUTE_LAYER_CASES_H_
