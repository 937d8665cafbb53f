// Walks a text-format file token by token and tells which field stands where. Protobuf's own parser
// gives the position of a syntax error without the field, and no place for the elements of a list.
#ifndef TRIBUTARY_COMMON_JOB_TEXT_SCAN_H_
#define TRIBUTARY_COMMON_JOB_TEXT_SCAN_H_

#include <google/protobuf/descriptor.h>

#include <limits>
#include <string>

#include "common/job/source_map.h"

namespace tributary {

// As the tokenizer counts: from 0, a tab is up to 8 columns.
struct TextPosition {
  int line = std::numeric_limits<int>::max();
  int column = 0;
};

struct TextScan {
  FieldLines lines;

  // What stands at the position where the scan ended: the message that is open, the field that was
  // named last in it, and the token itself ("" at the end of the text).
  std::string message_path;
  const google::protobuf::Descriptor* message = nullptr;
  std::string field_name;                                    // "" if none yet
  const google::protobuf::FieldDescriptor* field = nullptr;  // null if unknown
  int field_line = 1;
  std::string token;
};

// Scans up to `stop`, to the end, or to the first token that fits nowhere. Paths start with `root`
// ("" or "model").
TextScan ScanText(const std::string& text, const google::protobuf::Descriptor& type,
                  const std::string& root, TextPosition stop = {});

// "training" and "epochs" to "training.epochs"; either may be empty.
std::string JoinPath(const std::string& path, const std::string& name);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_TEXT_SCAN_H_
