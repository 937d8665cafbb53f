#include "worker/data/byte_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace tributary {
namespace {

absl::Status Truncated(const ByteStream& stream, int64_t position, absl::string_view what,
                       absl::string_view found, int64_t expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      stream.Place(position), ": ", what, ": found ", found, " bytes, expected ", expected,
      position == 0 && found == "0" ? " (the file is empty)" : " (the file is truncated)"));
}

absl::Status CannotBeRead(absl::string_view name, int error) {
  return absl::InvalidArgumentError(
      absl::StrCat(name, ": the file cannot be read: ", std::strerror(error)));
}

}  // namespace

absl::StatusOr<int64_t> ByteStream::Fill(absl::Span<uint8_t> out) {
  int64_t given = 0;
  while (given < static_cast<int64_t>(out.size())) {
    ASSIGN_OR_RETURN(const int64_t bytes, ReadSome(out.subspan(static_cast<size_t>(given))));
    if (bytes == 0) break;
    given += bytes;
  }
  return given;
}

absl::StatusOr<int64_t> ByteStream::Read(absl::Span<uint8_t> out) {
  const int64_t from_peek = std::min(peeked_, static_cast<int64_t>(out.size()));
  std::copy_n(peek_.begin(), from_peek, out.begin());
  if (from_peek > 0) {
    std::copy(peek_.begin() + from_peek, peek_.begin() + peeked_, peek_.begin());
    peeked_ -= from_peek;
  }
  ASSIGN_OR_RETURN(const int64_t filled, Fill(out.subspan(static_cast<size_t>(from_peek))));
  position_ += from_peek + filled;
  return from_peek + filled;
}

absl::StatusOr<absl::Span<const uint8_t>> ByteStream::Peek(int64_t bytes) {
  if (bytes > peeked_) {
    const auto rest = absl::MakeSpan(peek_).subspan(static_cast<size_t>(peeked_),
                                                    static_cast<size_t>(bytes - peeked_));
    ASSIGN_OR_RETURN(const int64_t filled, Fill(rest));
    peeked_ += filled;
  }
  return absl::MakeConstSpan(peek_).subspan(0, static_cast<size_t>(std::min(bytes, peeked_)));
}

std::string ByteStream::Place(int64_t position) const {
  return absl::StrCat(name_, ": byte ", position);
}

absl::StatusOr<int64_t> MemoryStream::ReadSome(absl::Span<uint8_t> out) {
  const size_t bytes = std::min(out.size(), left_.size());
  std::copy_n(left_.begin(), bytes, out.begin());
  left_.remove_prefix(bytes);
  return static_cast<int64_t>(bytes);
}

absl::StatusOr<std::unique_ptr<ByteStream>> FileStream::Open(const std::string& path) {
  // Without O_NONBLOCK a pipe that nobody writes to would hold the program.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    if (errno == ENOENT) return absl::NotFoundError(absl::StrCat(path, ": no such file"));
    return CannotBeRead(path, errno);
  }
  struct stat status {};
  const int error = fstat(descriptor, &status) < 0 ? errno : 0;
  std::unique_ptr<ByteStream> stream(
      new FileStream(path, descriptor, static_cast<int64_t>(status.st_size)));
  if (error != 0) return CannotBeRead(path, error);
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found ", S_ISDIR(status.st_mode) ? "a folder" : "a special file",
                     ", expected a regular file"));
  }
  return stream;
}

FileStream::~FileStream() {
  close(descriptor_);
}

absl::StatusOr<int64_t> FileStream::ReadSome(absl::Span<uint8_t> out) {
  while (true) {
    const ssize_t bytes = read(descriptor_, out.data(), out.size());
    if (bytes >= 0) {
      left_ = std::max<int64_t>(left_ - bytes, 0);
      return static_cast<int64_t>(bytes);
    }
    if (errno != EINTR) return CannotBeRead(name(), errno);
  }
}

absl::Status ReadExactly(ByteStream& stream, absl::string_view what, absl::Span<uint8_t> out) {
  const int64_t start = stream.position();
  ASSIGN_OR_RETURN(const int64_t found, stream.Read(out));
  const auto expected = static_cast<int64_t>(out.size());
  if (found == expected) return absl::OkStatus();
  return Truncated(stream, start, what, absl::StrCat(found), expected);
}

absl::Status CheckRemaining(const ByteStream& stream, absl::string_view what, int64_t bytes) {
  if (bytes <= stream.most_remaining()) return absl::OkStatus();
  return Truncated(stream, stream.position(), what,
                   absl::StrCat(stream.is_size_known() ? "" : "at most ", stream.most_remaining()),
                   bytes);
}

absl::Status ExpectEnd(ByteStream& stream) {
  const int64_t most = stream.most_remaining();
  uint8_t byte = 0;
  ASSIGN_OR_RETURN(const int64_t found, stream.Read(absl::MakeSpan(&byte, 1)));
  if (found == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(stream.Place(stream.position() - 1), ": found ",
                   stream.is_size_known() ? absl::StrCat(most, " more bytes") : "more bytes",
                   ", expected the end of the file"));
}

}  // namespace tributary
