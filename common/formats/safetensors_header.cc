#include "common/formats/safetensors_header.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"

namespace tributary {
namespace {

using Json = nlohmann::json;

constexpr absl::string_view kMetadataKey = "__metadata__";
// The most that NumPy reads.
constexpr size_t kMaxDimensions = 64;
constexpr size_t kMaxQuotedBytes = 80;

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(text.substr(0, kMaxQuotedBytes)),
                      text.size() > kMaxQuotedBytes ? "...\"" : "\"");
}

// Takes the header event by event, so that what does not belong is refused before it takes memory:
// names that occur twice (a parsed object would have lost them), other types, deeper levels.
//
//   {                                        kTop
//     "__metadata__": {"key": "value"},      kMetadata
//     "conv1.weight": {                      kEntry
//       "dtype": "F32",
//       "shape": [10, 1, 5, 5],              kNumbers
//       "data_offsets": [0, 1000]            kNumbers
//     }
//   }
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  SafetensorsHeader& header() { return header_; }
  // Empty if nothing was wrong.
  const std::string& error() const { return error_; }

  bool null() override { return Refuse("null"); }
  bool boolean(bool) override { return Refuse("true or false"); }
  bool number_integer(number_integer_t value) override { return Refuse(absl::StrCat(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::kNumbers) return Refuse(absl::StrCat(value));
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Refuse(absl::StrCat(value));
    }
    if (numbers_.size() == kMaxDimensions) {
      return Fail(absl::StrCat(kMaxDimensions + 1, " numbers"),
                  absl::StrCat("at most ", kMaxDimensions));
    }
    numbers_.push_back(static_cast<int64_t>(value));
    return true;
  }
  bool number_float(number_float_t, const string_t& text) override { return Refuse(text); }
  bool string(string_t& text) override {
    if (place_ == Place::kMetadata) {
      header_.metadata[key_] = text;
      return true;
    }
    if (place_ != Place::kEntry || key_ != "dtype") return Refuse(Quoted(text));
    return text == "F32" || Fail(Quoted(text), "\"F32\"");
  }
  bool binary(binary_t&) override { return Refuse("bytes"); }

  bool start_object(std::size_t) override {
    switch (place_) {
      case Place::kStart:
        place_ = Place::kTop;
        return true;
      case Place::kTop:
        place_ = name_ == kMetadataKey ? Place::kMetadata : Place::kEntry;
        keys_.clear();
        if (place_ == Place::kEntry) header_.entries.push_back({.name = name_, .shape = {}});
        return true;
      default:
        return Refuse("an object");
    }
  }
  bool end_object() override {
    if (place_ == Place::kTop) {
      place_ = Place::kEnd;
      return true;
    }
    if (place_ == Place::kEntry && keys_.size() != 3) {
      key_.clear();
      return Fail(absl::StrCat("the keys ", keys_.empty() ? "none" : absl::StrJoin(keys_, ", ")),
                  "dtype, shape, data_offsets, all three");
    }
    place_ = Place::kTop;
    return true;
  }
  bool start_array(std::size_t) override {
    if (place_ != Place::kEntry || key_ == "dtype") return Refuse("an array");
    place_ = Place::kNumbers;
    numbers_.clear();
    return true;
  }
  bool end_array() override {
    place_ = Place::kEntry;
    SafetensorsEntry& entry = header_.entries.back();
    if (key_ == "shape") {
      entry.shape = numbers_;
      return true;
    }
    if (numbers_.size() != 2) {
      return Fail(absl::StrCat(numbers_.size(), " numbers"), "two, begin and end");
    }
    entry.begin = numbers_[0];
    entry.end = numbers_[1];
    return true;
  }

  bool key(string_t& text) override {
    const bool is_name = place_ == Place::kTop;
    (is_name ? name_ : key_) = text;
    if (is_name) key_.clear();
    if (place_ == Place::kEntry && text != "dtype" && text != "shape" && text != "data_offsets") {
      return Fail("it", "dtype, shape, data_offsets");
    }
    return (is_name ? names_ : keys_).insert(text).second || Fail("it a second time", "once");
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ..."
    absl::string_view reason = error.what();
    const size_t colon = reason.find(": ");
    if (colon != absl::string_view::npos) reason.remove_prefix(colon + 2);
    error_ = absl::StrCat("header, byte ", position, ": found ", Quoted(reason), ", allowed JSON");
    return false;
  }

 private:
  enum class Place { kStart, kTop, kMetadata, kEntry, kNumbers, kEnd };

  // Something that does not belong where the reader is.
  bool Refuse(const std::string& found) {
    switch (place_) {
      case Place::kStart:
        return Fail(found, "an object of arrays");
      case Place::kMetadata:
        return Fail(found, "a text");
      case Place::kEntry:
        return Fail(found, key_ == "dtype" ? "\"F32\"" : "a list of whole numbers");
      case Place::kNumbers:
        return Fail(found,
                    absl::StrCat("whole numbers from 0 to ", std::numeric_limits<int64_t>::max()));
      default:
        return Fail(found, "an object with dtype, shape, data_offsets");
    }
  }

  bool Fail(const std::string& found, const std::string& allowed) {
    error_ =
        absl::StrCat("header", place_ == Place::kStart ? "" : ", ",
                     place_ == Place::kStart ? "" : Quoted(name_), key_.empty() ? "" : ", ",
                     key_.empty() ? "" : Quoted(key_), ": found ", found, ", allowed ", allowed);
    return false;
  }

  SafetensorsHeader header_;
  std::string error_;
  Place place_ = Place::kStart;
  std::string name_;  // of the array, or __metadata__
  std::string key_;   // inside it
  std::set<std::string> names_;
  std::set<std::string> keys_;
  std::vector<int64_t> numbers_;
};

// Bytes of an array of fp32, or an error where they do not fit into 63 bits.
absl::StatusOr<int64_t> BytesOf(const SafetensorsEntry& entry, const std::string& place) {
  // A zero anywhere makes the array empty, however large the rest.
  if (std::find(entry.shape.begin(), entry.shape.end(), 0) != entry.shape.end()) return 0;
  int64_t bytes = sizeof(float);
  for (const int64_t dimension : entry.shape) {
    if (dimension > std::numeric_limits<int64_t>::max() / bytes) {
      return absl::DataLossError(absl::StrCat(place, ", \"shape\": found [",
                                              absl::StrJoin(entry.shape, ", "),
                                              "], allowed less than 2^63 bytes"));
    }
    bytes *= dimension;
  }
  return bytes;
}

// Sorted by offset, every entry begins where the one before ends, and the last one at the file's.
absl::Status CheckOffsets(const SafetensorsHeader& header, int64_t data_bytes,
                          const std::string& file) {
  int64_t position = 0;
  for (const SafetensorsEntry& entry : header.entries) {
    const std::string place = absl::StrCat(file, ": header, ", Quoted(entry.name));
    const std::string found =
        absl::StrCat(place, ", \"data_offsets\": found [", entry.begin, ", ", entry.end, "]");
    ASSIGN_OR_RETURN(const int64_t bytes, BytesOf(entry, place));
    if (entry.begin != position || entry.end < entry.begin) {
      return absl::DataLossError(
          absl::StrCat(found, ", allowed a begin of ", position,
                       " (the end of the array before) and an end that is not less"));
    }
    if (entry.end - entry.begin != bytes) {
      return absl::DataLossError(absl::StrCat(found, ", allowed ", bytes, " bytes (4 for each of [",
                                              absl::StrJoin(entry.shape, ", "), "])"));
    }
    position = entry.end;
  }
  if (position == data_bytes) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(file, ": found ", data_bytes,
                                          " bytes after the header, allowed ", position,
                                          " (the end of the last array)"));
}

std::string JsonText(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

absl::StatusOr<uint64_t> SafetensorsHeaderBytes(absl::string_view start, uint64_t file_bytes,
                                                const std::string& name) {
  if (file_bytes < kSafetensorsPrefixBytes || start.size() < kSafetensorsPrefixBytes) {
    return absl::DataLossError(absl::StrCat(
        name, ": found ", file_bytes, " bytes, allowed at least ", kSafetensorsPrefixBytes,
        " (a safetensors file starts with its header's length)"));
  }
  uint64_t length = 0;
  for (size_t i = 0; i < kSafetensorsPrefixBytes; ++i) {
    length |= uint64_t{static_cast<unsigned char>(start[i])} << (8 * i);
  }
  const uint64_t most = std::min(kMaxSafetensorsHeaderBytes, file_bytes - kSafetensorsPrefixBytes);
  if (length < 2 || length > most) {
    return absl::DataLossError(absl::StrCat(name, ": byte 0, the header's length: found ", length,
                                            ", allowed 2 to ", std::max<uint64_t>(most, 2)));
  }
  return length;
}

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(absl::string_view json,
                                                         uint64_t data_bytes,
                                                         const std::string& name) {
  if (json.empty() || json.front() != '{') {
    return absl::DataLossError(absl::StrCat(name, ": byte 8: found ", Quoted(json.substr(0, 1)),
                                            ", allowed \"{\", the start of the header"));
  }
  // The JSON parser takes a zero byte for the end and would not see what follows it.
  if (const size_t zero = json.find('\0'); zero != absl::string_view::npos) {
    return absl::DataLossError(absl::StrCat(name, ": byte ", kSafetensorsPrefixBytes + zero,
                                            ": found a zero byte, allowed JSON"));
  }
  HeaderReader reader;
  if (!Json::sax_parse(json.begin(), json.end(), &reader)) {
    return absl::DataLossError(absl::StrCat(name, ": ", reader.error()));
  }
  SafetensorsHeader header = std::move(reader.header());
  std::sort(header.entries.begin(), header.entries.end(),
            [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  RETURN_IF_ERROR(CheckOffsets(header, static_cast<int64_t>(data_bytes), name));
  return header;
}

std::string FormatSafetensorsHeader(const SafetensorsHeader& header) {
  std::string json = "{";
  const char* separator = "";
  if (!header.metadata.empty()) {
    absl::StrAppend(&json, "\"", kMetadataKey, "\":",
                    Json(header.metadata).dump(-1, ' ', false, Json::error_handler_t::replace));
    separator = ",";
  }
  for (const SafetensorsEntry& entry : header.entries) {
    absl::StrAppend(&json, separator, JsonText(entry.name), ":{\"dtype\":\"F32\",\"shape\":[",
                    absl::StrJoin(entry.shape, ","), "],\"data_offsets\":[", entry.begin, ",",
                    entry.end, "]}");
    separator = ",";
  }
  json += "}";
  json.append((8 - json.size() % 8) % 8, ' ');
  std::string text;
  for (size_t i = 0; i < kSafetensorsPrefixBytes; ++i) {
    text.push_back(static_cast<char>(json.size() >> (8 * i) & 0xff));
  }
  return text + json;
}

}  // namespace tributary
