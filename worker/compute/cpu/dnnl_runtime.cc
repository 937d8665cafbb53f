#include "worker/compute/cpu/dnnl_runtime.h"

#include <omp.h>

#include "absl/strings/str_cat.h"

namespace tributary {

OneThread::OneThread() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}

OneThread::~OneThread() {
  if (before_ != 1) omp_set_num_threads(before_);
}

absl::Status FromDnnl(dnnl_status_t status, const char* operation) {
  switch (status) {
    case dnnl_success:
      return absl::OkStatus();
    case dnnl_out_of_memory:
      return absl::ResourceExhaustedError(absl::StrCat(operation, ": oneDNN has no memory"));
    case dnnl_unimplemented:
      return absl::UnimplementedError(
          absl::StrCat(operation, ": oneDNN has no implementation for these shapes"));
    default:
      return absl::InternalError(
          absl::StrCat(operation, ": oneDNN returned status ", static_cast<int>(status)));
  }
}

dnnl::memory WrapArray(const dnnl::memory::desc& layout, const DnnlRuntime& runtime,
                       const float* data) {
  // oneDNN's memory has no const; its primitives write only what they call a destination.
  return dnnl::memory(layout, runtime.engine, const_cast<float*>(data));
}

PreparedPrimitive::PreparedPrimitive(const DnnlRuntime& runtime, dnnl::primitive primitive,
                                     std::initializer_list<std::pair<int, dnnl::memory>> arguments,
                                     const dnnl::memory::desc& scratchpad)
    : stream_(runtime.stream.get()), primitive_(std::move(primitive)) {
  for (const auto& [name, memory] : arguments) {
    memories_.push_back(memory);
    arguments_.push_back({name, memory.get()});
  }
  if (scratchpad.get_size() > 0) {
    memories_.emplace_back(scratchpad, runtime.engine);
    arguments_.push_back({DNNL_ARG_SCRATCHPAD, memories_.back().get()});
  }
}

absl::Status PreparedPrimitive::Run(const char* operation) const {
  return FromDnnl(dnnl_primitive_execute(primitive_.get(), stream_,
                                         static_cast<int>(arguments_.size()), arguments_.data()),
                  operation);
}

dnnl::primitive_attr UserScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

}  // namespace tributary
