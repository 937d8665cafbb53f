// Any bytes as a safetensors file: an error of one line, or arrays that hold what their shapes say
// and together no more than the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "common/formats/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto loaded =
      tributary::ParseSafetensors({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!loaded.ok()) {
    const absl::string_view message = loaded.status().message();
    if (message.empty() || message.find('\n') != absl::string_view::npos) std::abort();
    return 0;
  }
  size_t bytes = 8;
  for (const auto& [name, array] : loaded->arrays) {
    bool is_empty = false;
    for (const int64_t dimension : array.shape) is_empty = is_empty || dimension == 0;
    int64_t elements = 1;
    for (const int64_t dimension : array.shape) elements *= is_empty ? 0 : dimension;
    if (static_cast<uint64_t>(elements) != array.values.size()) std::abort();
    bytes += array.values.size() * sizeof(float);
  }
  if (bytes > size) std::abort();
  return 0;
}
