// The optimizers against PyTorch's in float64 (and Keras's formula), see
// make_optimizer_reference.py.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/shard/optimizer.h"
#include "tests/server/shard/optimizer_cases.h"

namespace tributary {
namespace {

struct Reference {
  std::vector<double> samples;
  std::vector<double> initial;
  std::vector<std::vector<double>> gradients;
  // By case, then by "parameters@1", "momentum_buffer@12", ...
  std::map<std::string, std::map<std::string, std::vector<double>>> cases;
};

Reference ReadReference() {
  Reference reference;
  std::ifstream file("tests/data/optimizer_reference.txt");
  std::string current_case;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "case") {
      words >> current_case;
      continue;
    }
    std::vector<double> values;
    for (double value; words >> value;) values.push_back(value);
    if (name == "samples") {
      reference.samples = values;
    } else if (name == "initial") {
      reference.initial = values;
    } else if (name == "gradient") {
      reference.gradients.push_back(values);
    } else if (name != "#") {
      reference.cases[current_case][name] = values;
    }
  }
  return reference;
}

// The tensors' numbers without padding into the flat vector, and back.
std::vector<float> Pad(const Layout& layout, const std::vector<double>& values) {
  std::vector<float> padded(layout.elements());
  auto next = values.begin();
  for (const ParameterTensor& tensor : layout.tensors()) {
    for (int64_t i = 0; i < tensor.elements; ++i) {
      padded[tensor.offset + i] = static_cast<float>(*next++);
    }
  }
  return padded;
}

std::vector<float> Unpad(const Layout& layout, absl::Span<const float> padded) {
  std::vector<float> values;
  for (const ParameterTensor& tensor : layout.tensors()) {
    const auto begin = padded.begin() + tensor.offset;
    values.insert(values.end(), begin, begin + tensor.elements);
  }
  return values;
}

void ExpectNear(const std::vector<float>& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    // Twelve updates of a few fp32 roundings each, on numbers of about 1.
    EXPECT_NEAR(got[i], expected[i], 2e-6 * std::max(1.0, std::abs(expected[i])))
        << "element " << i;
  }
}

class OptimizerReference : public testing::TestWithParam<OptimizerCase> {};

TEST_P(OptimizerReference, TakesTheSameStepsAsTheOriginal) {
  const Reference reference = ReadReference();
  const OptimizerCase& c = GetParam();
  ASSERT_TRUE(reference.cases.contains(c.name));
  std::map<std::string, std::vector<double>> expected = reference.cases.at(c.name);
  ASSERT_EQ(reference.gradients.size(), 12);
  const Layout layout = OptimizerTestLayout();
  const ElementRange all{0, layout.elements()};
  const auto optimizer = CreateOptimizer(c.config, layout, all);

  std::vector<float> parameters = Pad(layout, reference.initial);
  for (size_t update = 0; update < reference.gradients.size(); ++update) {
    std::vector<float> after(parameters.size());
    optimizer->Apply(all, Pad(layout, reference.gradients[update]),
                     static_cast<int64_t>(reference.samples[update]), c.learning_rate,
                     static_cast<int64_t>(update), parameters, absl::MakeSpan(after));
    parameters = after;

    const std::string at = absl::StrCat("@", update + 1);
    SCOPED_TRACE(at);
    if (!expected.contains("parameters" + at)) continue;
    ExpectNear(Unpad(layout, parameters), expected["parameters" + at]);
    expected.erase("parameters" + at);
    for (const Optimizer::State& state : optimizer->state()) {
      SCOPED_TRACE(state.name);
      ExpectNear(Unpad(layout, state.values), expected[state.name + at]);
      expected.erase(state.name + at);
    }
  }
  EXPECT_TRUE(expected.empty()) << "not compared: " << expected.begin()->first;
  EXPECT_EQ(std::count(parameters.begin(), parameters.end(), 0.0f),
            layout.elements() - layout.parameters())
      << "padding stays zero";
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerReference, testing::ValuesIn(OptimizerCases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tributary
