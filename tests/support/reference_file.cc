#include "tests/support/reference_file.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tributary {
namespace {

class Reader {
 public:
  explicit Reader(std::string bytes) : bytes_(std::move(bytes)) {}

  bool AtEnd() const { return position_ == bytes_.size(); }
  bool failed() const { return failed_; }
  size_t position() const { return position_; }

  std::string Text(uint64_t length) {
    if (failed_ || length > bytes_.size() - position_) {
      failed_ = true;
      return "";
    }
    position_ += length;
    return bytes_.substr(position_ - length, length);
  }

  template <typename T>
  T Value() {
    T value{};
    const std::string bytes = Text(sizeof(T));
    if (!failed_) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  template <typename T>
  void Values(uint64_t count, std::vector<double>& values) {
    if (count > bytes_.size() / sizeof(T)) failed_ = true;
    for (uint64_t i = 0; i < count && !failed_; ++i) values.push_back(Value<T>());
  }

  void Fail() { failed_ = true; }

 private:
  std::string bytes_;
  size_t position_ = 0;
  bool failed_ = false;
};

ReferenceArray ReadArray(Reader& reader) {
  ReferenceArray array;
  const char type = reader.Value<char>();
  const auto rank = reader.Value<uint32_t>();
  uint64_t count = 1;
  for (uint32_t i = 0; i < rank && !reader.failed(); ++i) {
    const auto dimension = reader.Value<uint64_t>();
    array.shape.push_back(static_cast<int64_t>(dimension));
    count *= dimension;
  }
  if (type == 'f') {
    reader.Values<float>(count, array.values);
  } else if (type == 'd') {
    reader.Values<double>(count, array.values);
  } else if (type == 'i') {
    reader.Values<int32_t>(count, array.values);
  } else {
    reader.Fail();
  }
  return array;
}

}  // namespace

absl::StatusOr<ReferenceArrays> ReadReferenceFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be opened"));
  Reader reader(std::string(std::istreambuf_iterator<char>(file), {}));
  if (reader.Text(8) != "TRIBREF1") {
    return absl::InvalidArgumentError(absl::StrCat(path, ": does not start with TRIBREF1"));
  }
  ReferenceArrays arrays;
  while (!reader.AtEnd()) {
    const std::string name = reader.Text(reader.Value<uint32_t>());
    arrays[name] = ReadArray(reader);
    if (reader.failed()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": array ", name, " ends early, before byte ", reader.position()));
    }
  }
  return arrays;
}

}  // namespace tributary
