#include "common/job/field_text.h"

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace tributary {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::OneofDescriptor;

constexpr size_t kMaxQuotedBytes = 60;

// The bytes of the well-formed sequence that `text` starts with; 0 if it starts with none. Table
// 3-7 of the Unicode standard: the second byte's range depends on the first.
size_t Utf8SequenceLength(absl::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  const unsigned char least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned char most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < least || byte(1) > most) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

}  // namespace

std::string Quoted(absl::string_view text) {
  const bool is_long = text.size() > kMaxQuotedBytes;
  const absl::string_view start = text.substr(0, kMaxQuotedBytes);
  // A sequence that the cut has torn apart is dropped; bytes that never were UTF-8 are escaped.
  const size_t valid = FirstInvalidUtf8(start);
  const bool is_utf8 = valid == absl::string_view::npos || (is_long && start.size() - valid < 4);
  const std::string shown =
      is_utf8 ? absl::Utf8SafeCHexEscape(start.substr(0, valid)) : absl::CHexEscape(start);
  return absl::StrCat("\"", shown, is_long ? "...\"" : "\"");
}

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  return text;
}

size_t FirstInvalidUtf8(absl::string_view text) {
  size_t position = 0;
  while (position < text.size()) {
    const size_t length = Utf8SequenceLength(text.substr(position));
    if (length == 0) return position;
    position += length;
  }
  return absl::string_view::npos;
}

bool IsPlainName(absl::string_view name) {
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') {
      return false;
    }
  }
  return !name.empty();
}

std::string FieldNames(const Descriptor& message) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(message.field_count()));
  for (int i = 0; i < message.field_count(); ++i) names.push_back(message.field(i)->name());
  return names.empty() ? "nothing" : absl::StrJoin(names, ", ");
}

std::string FieldNames(const OneofDescriptor& oneof) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(oneof.field_count()));
  for (int i = 0; i < oneof.field_count(); ++i) names.push_back(oneof.field(i)->name());
  return absl::StrJoin(names, ", ");
}

std::string AllowedValues(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return absl::StrCat("a whole number from 0 to ", std::numeric_limits<uint32_t>::max());
    case FieldDescriptor::CPPTYPE_UINT64:
      return absl::StrCat("a whole number from 0 to ", std::numeric_limits<uint64_t>::max());
    case FieldDescriptor::CPPTYPE_INT32:
    case FieldDescriptor::CPPTYPE_INT64:
      return "a whole number";
    case FieldDescriptor::CPPTYPE_FLOAT:
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "a number";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_STRING:
      return "a text in quotation marks";
    case FieldDescriptor::CPPTYPE_ENUM: {
      std::vector<std::string> names;
      names.reserve(static_cast<size_t>(field.enum_type()->value_count()));
      for (int i = 0; i < field.enum_type()->value_count(); ++i) {
        names.push_back(field.enum_type()->value(i)->name());
      }
      return absl::StrCat(names.size() > 1 ? "one of " : "", absl::StrJoin(names, ", "));
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return absl::StrCat("{ ... } with ", FieldNames(*field.message_type()));
  }
  return "another type";
}

}  // namespace tributary
