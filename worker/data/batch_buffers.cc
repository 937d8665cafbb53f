#include "worker/data/batch_buffers.h"

#include <utility>

namespace tributary {
namespace {

std::unique_ptr<BatchBuffer> MakeBuffer(int64_t samples, int64_t elements) {
  auto buffer = std::make_unique<BatchBuffer>();
  const size_t bytes = static_cast<size_t>(samples * elements) * sizeof(float);
  buffer->images.reset(static_cast<float*>(::operator new[](bytes, kBatchAlignment)));
  buffer->labels.resize(static_cast<size_t>(samples));
  return buffer;
}

}  // namespace

std::shared_ptr<BatchBuffers> BatchBuffers::Create(int64_t samples, int64_t elements) {
  return std::shared_ptr<BatchBuffers>(new BatchBuffers(samples, elements));
}

std::shared_ptr<BatchBuffer> BatchBuffers::Take() {
  std::unique_ptr<BatchBuffer> buffer;
  {
    absl::MutexLock lock(&mutex_);
    if (!free_.empty()) {
      buffer = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (buffer == nullptr) buffer = MakeBuffer(samples_, elements_);
  return {buffer.release(), [pool = shared_from_this()](BatchBuffer* returned) {
            pool->GiveBack(std::unique_ptr<BatchBuffer>(returned));
          }};
}

void BatchBuffers::GiveBack(std::unique_ptr<BatchBuffer> buffer) {
  absl::MutexLock lock(&mutex_);
  free_.push_back(std::move(buffer));
}

}  // namespace tributary
