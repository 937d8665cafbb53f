#include "common/job/spec_reader.h"

#include <fcntl.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/job/checks.h"
#include "common/job/field_text.h"
#include "common/job/text_scan.h"

namespace tributary {
namespace {

// A JobSpec is five messages deep.
constexpr int kMaxDepth = 32;
// Bytes of a read, so that an endless file is noticed before it fills the memory.
constexpr size_t kReadBytes = size_t{1} << 16;

absl::Status Unreadable(int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return absl::NotFoundError("found no such file, allowed a text file");
  }
  return absl::InvalidArgumentError(absl::StrCat("found a file that cannot be read (",
                                                 std::strerror(error), "), allowed a text file"));
}

// Keeps the first error.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, int column, const std::string& message) override {
    if (!message_.empty()) return;
    position_ = {line, column};
    message_ = message;
  }

  const std::string& message() const { return message_; }
  TextPosition position() const { return position_; }

 private:
  TextPosition position_;
  std::string message_;
};

// The i-th text in quotation marks of a message of Protobuf's.
std::string QuotedPart(const std::string& message, size_t i) {
  const std::vector<std::string> parts = absl::StrSplit(message, '"');
  return 2 * i + 1 < parts.size() ? parts[2 * i + 1] : "";
}

bool StartsWithAny(absl::string_view text, std::initializer_list<absl::string_view> starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](absl::string_view start) { return absl::StartsWith(text, start); });
}

// Says an error of Protobuf's parser in the house's form.
absl::Status Translate(const FirstError& error, const std::string& file, const TextScan& scan) {
  const std::string& message = error.message();
  const std::string path = JoinPath(scan.message_path, scan.field_name);
  const std::string place = absl::StrCat(file, ":", error.position().line + 1);
  const std::string field_place = absl::StrCat(file, ":", scan.field_line);

  if (scan.field == nullptr && absl::StrContains(message, "has no field")) {
    return FieldError(field_place, path, "an unknown field", FieldNames(*scan.message));
  }
  if (scan.field != nullptr) {
    const std::string allowed = AllowedValues(*scan.field);
    if (StartsWithAny(message, {"Unknown enumeration value"})) {
      return FieldError(field_place, path, Quoted(QuotedPart(message, 0)), allowed);
    }
    if (StartsWithAny(message, {"Invalid value for boolean"})) {
      return FieldError(field_place, path, Quoted(QuotedPart(message, 1)), allowed);
    }
    if (StartsWithAny(message, {"Expected integer", "Expected double", "Expected string",
                                "Integer out of range", "Expected \"{\""})) {
      return FieldError(place, path, scan.token.empty() ? "nothing" : Quoted(scan.token), allowed);
    }
    if (absl::StrContains(message, "specified multiple times")) {
      return FieldError(field_place, path, "the field a second time", "once");
    }
    if (scan.field->containing_oneof() != nullptr &&
        absl::StrContains(message, "another member of oneof")) {
      return FieldError(field_place, path, absl::StrCat("it beside ", QuotedPart(message, 1)),
                        absl::StrCat("one of ", FieldNames(*scan.field->containing_oneof())));
    }
  }
  const std::string where = scan.message_path.empty() ? "syntax" : scan.message_path;
  const absl::string_view reason = absl::StripSuffix(message, ".");
  return FieldError(
      place, where,
      absl::StrCat(scan.token.empty() ? "the end of the text" : Quoted(scan.token), " (", reason,
                   ")"),
      absl::StrCat("protobuf's text format with the fields ", FieldNames(*scan.message)));
}

// Errors: the first byte that no text has.
absl::Status CheckIsText(const std::string& text, const std::string& file) {
  const size_t end = std::min(text.find('\0'), FirstInvalidUtf8(text));
  if (end == std::string::npos) return absl::OkStatus();
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), '\n');
  return FieldError(
      absl::StrCat(file, ":", line), "text",
      absl::StrCat("byte 0x", absl::Hex(static_cast<unsigned char>(text[end]), absl::kZeroPad2),
                   " at position ", end),
      "UTF-8 text");
}

}  // namespace

absl::StatusOr<std::string> ReadTextFile(const std::string& path, int64_t max_bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return Unreadable(errno);
  const absl::Cleanup close_file = [file] { ::close(file); };
  struct stat status {};
  if (::fstat(file, &status) != 0) return Unreadable(errno);
  if (S_ISDIR(status.st_mode)) {
    return absl::InvalidArgumentError("found a directory, allowed a text file");
  }
  std::string text;
  while (static_cast<int64_t>(text.size()) <= max_bytes) {
    const size_t size = text.size();
    text.resize(size + kReadBytes);
    const ssize_t count = ::read(file, text.data() + size, kReadBytes);
    if (count < 0 && errno != EINTR) return Unreadable(errno);
    text.resize(size + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (count == 0) return text;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("found more than ", max_bytes, " bytes, allowed at most that many"));
}

absl::Status ParseSpec(const std::string& text, const std::string& file, const std::string& root,
                       google::protobuf::Message& message, SourceMap& sources) {
  if (absl::StripAsciiWhitespace(text).empty()) {
    return FieldError(absl::StrCat(file, ":1"), "text", "an empty file",
                      FieldNames(*message.GetDescriptor()));
  }
  RETURN_IF_ERROR(CheckIsText(text, file));
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  parser.SetRecursionLimit(kMaxDepth);
  if (!parser.ParseFromString(text, &message) || !error.message().empty()) {
    return Translate(error, file, ScanText(text, *message.GetDescriptor(), root, error.position()));
  }
  sources.AddFile(file, root, ScanText(text, *message.GetDescriptor(), root).lines);
  return absl::OkStatus();
}

}  // namespace tributary
