// What every use of oneDNN here shares: one thread, prepared calls, errors as values.
//
// dnnl.hpp throws dnnl::error while primitives are made; batch_graph.cc turns that into a Status.
// Execution goes through the C interface, which allocates nothing.
#ifndef TRIBUTARY_WORKER_COMPUTE_CPU_DNNL_RUNTIME_H_
#define TRIBUTARY_WORKER_COMPUTE_CPU_DNNL_RUNTIME_H_

#include <cstdint>
#include <dnnl.hpp>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace tributary {

// While it lives, OpenMP gives the calling thread one thread. The setting belongs to the thread:
// others keep theirs.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// The processor and its queue.
struct DnnlRuntime {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};

// OK for dnnl_success, else what `operation` met.
absl::Status FromDnnl(dnnl_status_t status, const char* operation);

// An array of fp32 in a layout of oneDNN, over memory of ours.
dnnl::memory WrapArray(const dnnl::memory::desc& layout, const DnnlRuntime& runtime,
                       const float* data);

// A primitive with its arguments, ready to run any number of times.
class PreparedPrimitive {
 public:
  PreparedPrimitive() = default;
  // `arguments`: DNNL_ARG_* and the memory. A scratchpad is added if `scratchpad` is not empty.
  PreparedPrimitive(const DnnlRuntime& runtime, dnnl::primitive primitive,
                    std::initializer_list<std::pair<int, dnnl::memory>> arguments,
                    const dnnl::memory::desc& scratchpad);

  explicit operator bool() const { return static_cast<bool>(primitive_); }
  absl::Status Run(const char* operation) const;

 private:
  dnnl_stream_t stream_ = nullptr;
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;  // keep what arguments_ names
  std::vector<dnnl_exec_arg_t> arguments_;
};

// The scratchpad is an argument, so that a call allocates nothing.
dnnl::primitive_attr UserScratchpad();

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_COMPUTE_CPU_DNNL_RUNTIME_H_
