#include "worker/data/gzip_stream.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace tributary {
namespace {

constexpr std::array<uint8_t, 2> kGzipMagic{0x1f, 0x8b};
// zlib's maximum window, plus 16: a gzip header and trailer.
constexpr int kGzipWindowBits = 15 + 16;
// Deflate's shortest code for its longest match is 2 bits for 258 bytes.
constexpr int64_t kMaxDeflateRatio = 1032;

class GzipStream : public ByteStream {
 public:
  explicit GzipStream(std::unique_ptr<ByteStream> compressed)
      : ByteStream(compressed->name()),
        compressed_(std::move(compressed)),
        most_left_(compressed_->most_remaining() > INT64_MAX / kMaxDeflateRatio
                       ? INT64_MAX - kMaxPeek
                       : compressed_->most_remaining() * kMaxDeflateRatio) {}
  ~GzipStream() override { inflateEnd(&zlib_); }

  absl::Status Start() {
    if (inflateInit2(&zlib_, kGzipWindowBits) == Z_OK) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat(name(), ": no memory to decompress it"));
  }

  std::string Place(int64_t position) const override {
    return absl::StrCat(ByteStream::Place(position), " of the decompressed content");
  }

  bool is_size_known() const override { return false; }

 protected:
  absl::StatusOr<int64_t> ReadSome(absl::Span<uint8_t> out) override {
    zlib_.next_out = out.data();
    zlib_.avail_out = static_cast<uInt>(std::min<size_t>(out.size(), 1 << 30));
    const uInt space = zlib_.avail_out;
    while (zlib_.avail_out == space) {
      ASSIGN_OR_RETURN(const bool has_input, Refill());
      if (member_ended_) {
        if (!has_input) return 0;
        RETURN_IF_ERROR(StartNextMember());
      }
      const int code = inflate(&zlib_, Z_NO_FLUSH);
      member_ended_ = code == Z_STREAM_END;
      // Without input zlib may still have output to give; if not, it says so.
      if (code == Z_BUF_ERROR) return Broken("the end of the file", "more compressed data");
      if (code != Z_OK && code != Z_STREAM_END) {
        return Broken(zlib_.msg == nullptr ? "broken data" : zlib_.msg, "gzip data");
      }
    }
    const int64_t bytes = space - zlib_.avail_out;
    most_left_ = std::max<int64_t>(most_left_ - bytes, 0);
    return bytes;
  }

  int64_t MostLeft() const override { return most_left_; }

 private:
  // Whether there is compressed input.
  absl::StatusOr<bool> Refill() {
    if (zlib_.avail_in > 0) return true;
    ASSIGN_OR_RETURN(const int64_t bytes, compressed_->Read(absl::MakeSpan(input_)));
    zlib_.next_in = input_.data();
    zlib_.avail_in = static_cast<uInt>(bytes);
    return bytes > 0;
  }

  absl::Status StartNextMember() {
    if (*zlib_.next_in != kGzipMagic[0]) {
      return Broken("bytes that are no gzip data", "the end of the file");
    }
    inflateReset(&zlib_);
    member_ended_ = false;
    return absl::OkStatus();
  }

  absl::Status Broken(absl::string_view found, absl::string_view expected) const {
    return absl::InvalidArgumentError(
        absl::StrCat(compressed_->Place(compressed_->position() - zlib_.avail_in),
                     " of the gzip file: found ", found, ", expected ", expected));
  }

  std::unique_ptr<ByteStream> compressed_;
  int64_t most_left_;
  z_stream zlib_{};
  bool member_ended_ = false;
  std::array<uint8_t, 1 << 16> input_{};
};

}  // namespace

absl::StatusOr<std::unique_ptr<ByteStream>> DecompressIfGzip(std::unique_ptr<ByteStream> raw) {
  ASSIGN_OR_RETURN(const absl::Span<const uint8_t> start, raw->Peek(kGzipMagic.size()));
  if (start != absl::MakeConstSpan(kGzipMagic)) return raw;
  auto gzip = std::make_unique<GzipStream>(std::move(raw));
  RETURN_IF_ERROR(gzip->Start());
  return gzip;
}

}  // namespace tributary
