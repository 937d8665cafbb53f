#include "common/job/text_scan.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tributary {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::io::Tokenizer;

// The parser has reported its errors already.
class IgnoreErrors : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, int, const std::string&) override {}
};

class Scanner {
 public:
  Scanner(const Descriptor& type, std::string root) { Open(std::move(root), type); }

  // False where the token fits nowhere.
  bool Take(const Tokenizer::Token& token) {
    Level& level = levels_.back();
    if (token.text == "{" || token.text == "<") return OpenMessage(level, token.line + 1);
    switch (level.state) {
      case State::kName:
        return TakeName(level, token);
      case State::kAfterName:
        // The colon may be left out before messages.
        level.state = token.text == "[" ? State::kList : State::kValue;
        return token.text == ":" || token.text == "[";
      case State::kValue:
        if (token.text == "[") {
          level.state = State::kList;
        } else if (token.text != "-") {
          level.state = State::kName;
          level.ends_in_string = token.type == Tokenizer::TYPE_STRING;
        }
        return true;
      case State::kList:
        if (token.text == "]") level.state = State::kName;
        return true;
    }
    return false;
  }

  TextScan Finish(std::string token) && {
    Level& level = levels_.back();
    scan_.message_path = std::move(level.path);
    scan_.message = level.type;
    scan_.field_name = std::move(level.field_name);
    scan_.field = level.field;
    scan_.field_line = level.field_line;
    scan_.token = std::move(token);
    return std::move(scan_);
  }

 private:
  enum class State { kName, kAfterName, kValue, kList };

  // A message that is open.
  struct Level {
    std::string path;
    const Descriptor* type = nullptr;
    State state = State::kName;
    bool ends_in_string = false;  // the last value; more strings may follow to be joined to it
    // The last field that was named.
    std::string field_name;
    const FieldDescriptor* field = nullptr;
    int field_line = 1;
    // Elements so far of the repeated messages.
    absl::flat_hash_map<const FieldDescriptor*, int> elements;
  };

  bool TakeName(Level& level, const Tokenizer::Token& token) {
    if (token.type == Tokenizer::TYPE_STRING) return level.ends_in_string;
    level.ends_in_string = false;
    if (token.text == "," || token.text == ";") return true;
    if (token.text == "}" || token.text == ">") {
      if (levels_.size() == 1) return false;
      levels_.pop_back();
      return true;
    }
    if (token.type != Tokenizer::TYPE_IDENTIFIER) return false;
    level.field_name = token.text;
    level.field = level.type->FindFieldByName(token.text);
    level.field_line = token.line + 1;
    if (level.field == nullptr) return false;
    scan_.lines.try_emplace(JoinPath(level.path, token.text), level.field_line);
    level.state = State::kAfterName;
    return true;
  }

  bool OpenMessage(Level& level, int line) {
    if (level.state == State::kName || level.field == nullptr) return false;
    if (level.field->message_type() == nullptr) return false;
    const bool in_list = level.state == State::kList;
    if (!in_list) level.state = State::kName;
    std::string path = JoinPath(level.path, level.field_name);
    if (level.field->is_repeated()) {
      absl::StrAppend(&path, "[", level.elements[level.field]++, "]");
      scan_.lines.try_emplace(path, in_list ? line : level.field_line);
    }
    Open(std::move(path), *level.field->message_type());
    return true;
  }

  void Open(std::string path, const Descriptor& type) {
    Level& level = levels_.emplace_back();
    level.path = std::move(path);
    level.type = &type;
  }

  TextScan scan_;
  std::vector<Level> levels_;  // the outermost first; never empty
};

}  // namespace

TextScan ScanText(const std::string& text, const Descriptor& type, const std::string& root,
                  TextPosition stop) {
  google::protobuf::io::ArrayInputStream input(text.data(), static_cast<int>(text.size()));
  IgnoreErrors errors;
  Tokenizer tokenizer(&input, &errors);
  // As TextFormat::Parser sets it.
  tokenizer.set_allow_f_after_float(true);
  tokenizer.set_comment_style(Tokenizer::SH_COMMENT_STYLE);
  tokenizer.set_require_space_after_number(false);
  tokenizer.set_allow_multiline_strings(true);

  Scanner scanner(type, root);
  while (tokenizer.Next()) {
    const Tokenizer::Token& token = tokenizer.current();
    const bool is_there =
        token.line > stop.line || (token.line == stop.line && token.column >= stop.column);
    if (is_there || !scanner.Take(token)) {
      std::string found = token.text;
      // The parser takes a sign for a token of its own.
      if (found == "-" && tokenizer.Next()) found += tokenizer.current().text;
      return std::move(scanner).Finish(std::move(found));
    }
  }
  return std::move(scanner).Finish("");
}

std::string JoinPath(const std::string& path, const std::string& name) {
  return absl::StrCat(path, path.empty() || name.empty() ? "" : ".", name);
}

}  // namespace tributary
