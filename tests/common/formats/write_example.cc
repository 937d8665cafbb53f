// Writes a small model file, for independent readers to read: write_example FILE
#include <cstdio>
#include <vector>

#include "common/formats/safetensors.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: write_example FILE\n");
    return 2;
  }
  std::vector<float> weight;
  for (int i = 0; i < 2 * 3 * 5 * 7; ++i) weight.push_back(static_cast<float>(i) * 0.25F);
  const std::vector<float> bias = {-1.5F, 1e-45F};
  const absl::Status status = tributary::WriteSafetensors(
      argv[1], {{"conv1.weight", {2, 3, 5, 7}, weight}, {"conv1.bias", {2}, bias}},
      {{"format", "pt"}, {"name", "caf\xc3\xa9"}});
  if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
