// A small job that is right, and ways to make it wrong.
#ifndef TRIBUTARY_TESTS_COMMON_JOB_JOB_TEXT_H_
#define TRIBUTARY_TESTS_COMMON_JOB_JOB_TEXT_H_

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tributary {

// Its lines are counted by the tests: "name" is on line 1.
inline constexpr char kGoodJob[] = R"(name: "good"
seed: 7
model {
  name: "net"
  input { channels: 1 height: 8 width: 8 }
  layer { name: "conv1" conv2d { out_channels: 4 kernel: 3 } }
  layer { max_pool2d { kernel: 2 } }
  layer { relu {} }
  layer { flatten {} }
  layer { name: "fc1" dense { out_features: 10 } }
  layer { softmax_cross_entropy {} }
}
data {
  format: IDX
  dir: "/data"
  classes: 10
  mean: 0.5
  stddev: 0.25
}
optimizer { sgd { momentum: 0.9 } }
learning_rate { base: 0.1 }
training {
  epochs: 3
  global_batch: 64
  slots: 4
}
evaluation { every_epochs: 1 batch: 100 }
)";

// kGoodJob with `found`, which must occur, replaced at its first place.
inline std::string Changed(const std::string& found, const std::string& replacement) {
  std::string text = kGoodJob;
  const size_t position = text.find(found);
  EXPECT_NE(position, std::string::npos) << found;
  return position == std::string::npos ? text : text.replace(position, found.size(), replacement);
}

// A folder that is gone at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "tributary-XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  std::string Path(const std::string& name) const { return path_ / name; }

  // Writes a file and returns its path.
  std::string Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << text;
    return Path(name);
  }

 private:
  std::filesystem::path path_;
};

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_COMMON_JOB_JOB_TEXT_H_
