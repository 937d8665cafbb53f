// Bytes read front to back, from a file, from memory or out of a gzip stream: what the parsers of
// data files read. Every message can name the place: "DIR/train-images: byte 16".
//
// Not thread-safe.
#ifndef TRIBUTARY_WORKER_DATA_BYTE_STREAM_H_
#define TRIBUTARY_WORKER_DATA_BYTE_STREAM_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tributary {

class ByteStream {
 public:
  explicit ByteStream(std::string name) : name_(std::move(name)) {}
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // Fills `out` from its front and returns the number of bytes; fewer than asked for at the end of
  // the stream alone.
  absl::StatusOr<int64_t> Read(absl::Span<uint8_t> out);

  // The next bytes, which stay to be read; fewer than `bytes` (at most kMaxPeek) at the end alone.
  // The view ends with the next call.
  static constexpr int64_t kMaxPeek = 16;
  absl::StatusOr<absl::Span<const uint8_t>> Peek(int64_t bytes);

  // No more than this many bytes are left to read, known before they are: what a size that a file
  // declares is checked against before memory is taken.
  int64_t most_remaining() const { return MostLeft() + peeked_; }
  // Whether that is the very number.
  virtual bool is_size_known() const { return true; }

  // Bytes read so far.
  int64_t position() const { return position_; }
  const std::string& name() const { return name_; }

  // The name and the byte at `position`, to start a message with.
  virtual std::string Place(int64_t position) const;
  std::string Place() const { return Place(position_); }

 protected:
  // As Read, but may give fewer bytes at any time; 0 at the end alone. `out` is not empty.
  virtual absl::StatusOr<int64_t> ReadSome(absl::Span<uint8_t> out) = 0;
  virtual int64_t MostLeft() const = 0;

 private:
  absl::StatusOr<int64_t> Fill(absl::Span<uint8_t> out);

  std::string name_;
  int64_t position_ = 0;
  std::array<uint8_t, kMaxPeek> peek_{};
  int64_t peeked_ = 0;  // bytes in `peek_`
};

// Bytes that the caller keeps.
class MemoryStream : public ByteStream {
 public:
  MemoryStream(std::string name, absl::Span<const uint8_t> bytes)
      : ByteStream(std::move(name)), left_(bytes) {}

 protected:
  absl::StatusOr<int64_t> ReadSome(absl::Span<uint8_t> out) override;
  int64_t MostLeft() const override { return static_cast<int64_t>(left_.size()); }

 private:
  absl::Span<const uint8_t> left_;
};

// A regular file, without a copy of it in memory.
class FileStream : public ByteStream {
 public:
  // Errors: NOT_FOUND if there is none, INVALID_ARGUMENT for a folder, a device, a pipe, or a file
  // that cannot be opened.
  static absl::StatusOr<std::unique_ptr<ByteStream>> Open(const std::string& path);
  ~FileStream() override;

 protected:
  absl::StatusOr<int64_t> ReadSome(absl::Span<uint8_t> out) override;
  int64_t MostLeft() const override { return left_; }

 private:
  FileStream(std::string path, int descriptor, int64_t size)
      : ByteStream(std::move(path)), descriptor_(descriptor), left_(size) {}

  int descriptor_;
  int64_t left_;
};

// Fills `out`, which is `what`, or says how many bytes of it there are.
absl::Status ReadExactly(ByteStream& stream, absl::string_view what, absl::Span<uint8_t> out);

// An error if `bytes` bytes of `what` cannot follow. To call before memory is taken for them.
absl::Status CheckRemaining(const ByteStream& stream, absl::string_view what, int64_t bytes);

// An error if the stream goes on.
absl::Status ExpectEnd(ByteStream& stream);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_DATA_BYTE_STREAM_H_
