#include "common/job/scalar_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/job/field_text.h"
#include "common/job/text_scan.h"

namespace tributary {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// Texts are names and paths; this is the longest path that Linux takes.
constexpr size_t kMaxTextBytes = 4096;
constexpr double kLargest = std::numeric_limits<float>::max();

absl::Status CheckNumber(double number, const std::string& path, const Checks& checks) {
  // Written so that NaN is refused.
  return checks.Require(std::abs(number) <= kLargest, path, number,
                        absl::StrCat("a finite number (at most ", kLargest, ")"));
}

absl::Status CheckText(const std::string& text, const std::string& path, const Checks& checks) {
  RETURN_IF_ERROR(checks.Require(text.size() <= kMaxTextBytes, path,
                                 absl::StrCat(text.size(), " bytes"),
                                 absl::StrCat("at most ", kMaxTextBytes)));
  const bool has_control = std::any_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_iscntrl(static_cast<unsigned char>(c));
  });
  return checks.Require(!has_control && FirstInvalidUtf8(text) == absl::string_view::npos, path,
                        Quoted(text), "UTF-8 text without control characters");
}

// One value of a field: the only one, or element `i` of a list.
class FieldValue {
 public:
  FieldValue(const Message& message, const FieldDescriptor& field, int i)
      : message_(message), reflection_(*message.GetReflection()), field_(field), i_(i) {}

  double Number() const {
    return field_.is_repeated() ? reflection_.GetRepeatedDouble(message_, &field_, i_)
                                : reflection_.GetDouble(message_, &field_);
  }
  std::string Text() const {
    return field_.is_repeated() ? reflection_.GetRepeatedString(message_, &field_, i_)
                                : reflection_.GetString(message_, &field_);
  }
  const Message& Inner() const {
    return field_.is_repeated() ? reflection_.GetRepeatedMessage(message_, &field_, i_)
                                : reflection_.GetMessage(message_, &field_);
  }

 private:
  const Message& message_;
  const Reflection& reflection_;
  const FieldDescriptor& field_;
  int i_;
};

absl::Status CheckValue(const FieldValue& value, const FieldDescriptor& field,
                        const std::string& path, const Checks& checks) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return CheckNumber(value.Number(), path, checks);
    case FieldDescriptor::CPPTYPE_STRING:
      return CheckText(value.Text(), path, checks);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return CheckScalars(value.Inner(), path, checks);
    default:
      return absl::OkStatus();
  }
}

}  // namespace

// As deep as the schema, which has no circles.
absl::Status CheckScalars(const Message& message, const std::string& path, const Checks& checks) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string name = JoinPath(path, field->name());
    const int count = field->is_repeated() ? message.GetReflection()->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      RETURN_IF_ERROR(CheckValue(FieldValue(message, *field, i), *field,
                                 field->is_repeated() ? absl::StrCat(name, "[", i, "]") : name,
                                 checks));
    }
  }
  return absl::OkStatus();
}

}  // namespace tributary
