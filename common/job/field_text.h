// Words for messages about fields of a spec: how a found value is shown, what a field allows.
#ifndef TRIBUTARY_COMMON_JOB_FIELD_TEXT_H_
#define TRIBUTARY_COMMON_JOB_FIELD_TEXT_H_

#include <google/protobuf/descriptor.h>

#include <string>

#include "absl/strings/string_view.h"

namespace tributary {

// In quotation marks, escaped, cut off after 60 bytes.
std::string Quoted(absl::string_view text);

// Every control character becomes '?', so that a message stays one line whatever was in the file.
std::string OneLine(std::string text);

// The position of the first byte that is not part of well-formed UTF-8 (RFC 3629), or npos.
size_t FirstInvalidUtf8(absl::string_view text);

// Whether `name` is made of letters, digits, '_', '-' and '.' and is not empty.
bool IsPlainName(absl::string_view name);
inline constexpr absl::string_view kPlainNameCharacters = "letters, digits, '_', '-' and '.'";

// "epochs, max_steps, global_batch", in the order of the .proto file.
std::string FieldNames(const google::protobuf::Descriptor& message);
std::string FieldNames(const google::protobuf::OneofDescriptor& oneof);

// What one value of the field may be, as "a whole number from 0 to 4294967295".
std::string AllowedValues(const google::protobuf::FieldDescriptor& field);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_FIELD_TEXT_H_
