#include "common/job/overrides.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "common/job/checks.h"
#include "common/job/field_text.h"

namespace tributary {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr absl::string_view kPlace = "--set";

absl::Status Refuse(absl::string_view field, const absl::AlphaNum& found,
                    const absl::AlphaNum& allowed) {
  return FieldError(kPlace, field, found, allowed);
}

// One part of a path, as "layer[3]".
struct Step {
  std::string name;
  std::optional<int> index;
};

absl::StatusOr<Step> ParseStep(absl::string_view text, absl::string_view path) {
  const size_t bracket = text.find('[');
  Step step{std::string(text.substr(0, bracket)), std::nullopt};
  if (bracket == absl::string_view::npos) return step;
  absl::string_view number = text.substr(bracket + 1);
  int index = 0;
  if (!absl::ConsumeSuffix(&number, "]") || !absl::SimpleAtoi(number, &index) || index < 0) {
    return Refuse(path, Quoted(text), "an index as in layer[3]");
  }
  step.index = index;
  return step;
}

absl::Status BadValue(const FieldDescriptor& field, const Override& change,
                      absl::string_view value) {
  const bool is_text = field.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  return Refuse(change.path, Quoted(value), is_text ? "a text" : AllowedValues(field));
}

// Sets or, for a repeated field, adds one number, word or text. False if the field cannot hold it.
bool PutScalar(Message& message, const FieldDescriptor& field, absl::string_view value) {
  const Reflection& reflection = *message.GetReflection();
  const bool add = field.is_repeated();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32: {
      uint32_t number = 0;
      if (!absl::SimpleAtoi(value, &number)) return false;
      add ? reflection.AddUInt32(&message, &field, number)
          : reflection.SetUInt32(&message, &field, number);
      return true;
    }
    case FieldDescriptor::CPPTYPE_UINT64: {
      uint64_t number = 0;
      if (!absl::SimpleAtoi(value, &number)) return false;
      add ? reflection.AddUInt64(&message, &field, number)
          : reflection.SetUInt64(&message, &field, number);
      return true;
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      double number = 0;
      if (!absl::SimpleAtod(value, &number)) return false;
      add ? reflection.AddDouble(&message, &field, number)
          : reflection.SetDouble(&message, &field, number);
      return true;
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      bool truth = false;
      if (!absl::SimpleAtob(value, &truth)) return false;
      add ? reflection.AddBool(&message, &field, truth)
          : reflection.SetBool(&message, &field, truth);
      return true;
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      const EnumValueDescriptor* word = field.enum_type()->FindValueByName(std::string(value));
      if (word == nullptr) return false;
      add ? reflection.AddEnum(&message, &field, word) : reflection.SetEnum(&message, &field, word);
      return true;
    }
    case FieldDescriptor::CPPTYPE_STRING:
      add ? reflection.AddString(&message, &field, std::string(value))
          : reflection.SetString(&message, &field, std::string(value));
      return true;
    default:  // no field of the job file has another type
      return false;
  }
}

absl::Status PutValue(Message& message, const FieldDescriptor& field, const Override& change) {
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    if (change.value != "{}") {
      return Refuse(change.path, Quoted(change.value),
                    absl::StrCat("{}, or a field inside: ", FieldNames(*field.message_type())));
    }
    message.GetReflection()->MutableMessage(&message, &field)->Clear();
    return absl::OkStatus();
  }
  if (!field.is_repeated()) {
    return PutScalar(message, field, change.value) ? absl::OkStatus()
                                                   : BadValue(field, change, change.value);
  }
  message.GetReflection()->ClearField(&message, &field);
  if (change.value.empty()) return absl::OkStatus();
  for (const absl::string_view value : absl::StrSplit(change.value, ',')) {
    if (!PutScalar(message, field, value)) return BadValue(field, change, value);
  }
  return absl::OkStatus();
}

absl::StatusOr<const FieldDescriptor*> FindField(const Message& message, const Step& step,
                                                 absl::string_view path) {
  const Descriptor& type = *message.GetDescriptor();
  const FieldDescriptor* field = type.FindFieldByName(step.name);
  if (field == nullptr) return Refuse(path, "an unknown field", FieldNames(type));
  const bool is_list = field->is_repeated() && field->message_type() != nullptr;
  if (is_list != step.index.has_value()) {
    return Refuse(path, is_list ? "no index" : "an index",
                  is_list ? absl::StrCat(step.name, "[0], ", step.name, "[1], ...")
                          : absl::StrCat(step.name, " without one"));
  }
  return field;
}

// The message that the field holds, made if need be.
absl::StatusOr<Message*> Enter(Message& message, const FieldDescriptor& field, const Step& step,
                               absl::string_view path) {
  if (field.message_type() == nullptr) {
    return Refuse(path, "a field inside", absl::StrCat(AllowedValues(field), ", it has no fields"));
  }
  const Reflection& reflection = *message.GetReflection();
  if (!step.index.has_value()) return reflection.MutableMessage(&message, &field);
  const int size = reflection.FieldSize(message, &field);
  if (*step.index >= size) {
    return Refuse(path, *step.index,
                  size == 0 ? "nothing, the list is empty" : absl::StrCat("0 to ", size - 1));
  }
  return reflection.MutableRepeatedMessage(&message, &field, *step.index);
}

}  // namespace

absl::StatusOr<Override> ParseOverride(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos || equals == 0) {
    return Refuse("override", Quoted(text), "FIELD=VALUE, as in training.epochs=3");
  }
  return Override{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

absl::Status ApplyOverride(const Override& change, Message& spec) {
  const std::vector<std::string> parts = absl::StrSplit(change.path, '.');
  Message* message = &spec;
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    ASSIGN_OR_RETURN(const Step step, ParseStep(parts[i], change.path));
    ASSIGN_OR_RETURN(const FieldDescriptor* const field, FindField(*message, step, change.path));
    if (is_last && !step.index.has_value()) return PutValue(*message, *field, change);
    ASSIGN_OR_RETURN(message, Enter(*message, *field, step, change.path));
  }
  return Refuse(change.path, "no field of the element",
                absl::StrCat("one of ", FieldNames(*message->GetDescriptor())));
}

}  // namespace tributary
