// Bytes that somebody else keeps: what goes out on the wire without being copied.
#ifndef TRIBUTARY_COMMON_BASE_SHARED_BYTES_H_
#define TRIBUTARY_COMMON_BASE_SHARED_BYTES_H_

#include <bit>
#include <memory>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tributary {

// The bytes are there and do not change while `owner` is held.
struct SharedBytes {
  absl::string_view bytes;
  std::shared_ptr<const void> owner;
};

static_assert(std::endian::native == std::endian::little,
              "numbers go over the wire as the machine holds them");

template <typename Number>
absl::string_view AsBytes(absl::Span<const Number> numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_BASE_SHARED_BYTES_H_
