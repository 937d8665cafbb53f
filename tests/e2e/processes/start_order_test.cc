// Servers and workers started by hand in every order: each waits for the others and says so, and
// all of them end by themselves.
#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/processes/roles.h"

namespace tributary {
namespace {

using ::testing::IsEmpty;

struct Order {
  std::string name;
  std::vector<std::string> roles;
};

void PrintTo(const Order& order, std::ostream* out) {
  *out << order.name;
}

std::vector<Order> EveryOrder() {
  std::vector<std::string> roles = {"Shard0", "Shard1", "Worker"};
  std::vector<Order> orders;
  do {
    orders.push_back({roles[0] + roles[1] + roles[2], roles});
  } while (std::next_permutation(roles.begin(), roles.end()));
  return orders;
}

class StartOrderTest : public RolesTest, public ::testing::WithParamInterface<Order> {
 protected:
  std::unique_ptr<Process> Start(const std::string& role) const {
    if (role == "Worker") return StartWorker("w");
    return role == "Shard0" ? StartServer(0, {"--set=training.epochs=20"}) : StartServer(1);
  }

  // What a role says that was started when `there` were there, while somebody is missing.
  std::string SaysThatItWaits(const std::string& role,
                              const std::vector<std::string>& there) const {
    const auto is_there = [&there](const char* other) {
      return std::find(there.begin(), there.end(), other) != there.end();
    };
    if (role == "Shard0") return "waiting for shard 1, workers (0 of 1)\n";
    if (!is_there("Shard0")) return "waiting for the coordinator at " + coordinator_ + ": ";
    if (role == "Shard1") return "registered, waiting for the job to begin\n";
    return "joined, waiting for shard 1\n";
  }
};

TEST_P(StartOrderTest, EverybodyWaitsForTheOthersAndEndsByItself) {
  std::vector<std::string> there;
  std::vector<std::unique_ptr<Process>> processes;
  std::vector<Process*> all;
  for (const std::string& role : GetParam().roles) {
    processes.push_back(Start(role));
    all.push_back(processes.back().get());
    const bool is_last = processes.size() == GetParam().roles.size();
    if (!is_last) {
      const std::string says = SaysThatItWaits(role, there);
      ASSERT_TRUE(all.back()->WaitForErr(says, kPatience)) << says << all.back()->Wait({}).err;
    }
    there.push_back(role);
  }
  ExpectDone(all);
  EXPECT_FALSE(Model().empty());
  EXPECT_THAT(orphans_.Remaining(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Orders, StartOrderTest, ::testing::ValuesIn(EveryOrder()),
                         [](const auto& test) { return test.param.name; });

class OneShardTest : public RolesTest {
 protected:
  OneShardTest() : RolesTest(1) {}
};

TEST_F(OneShardTest, TheJobBeginsOnceThereAreEnoughWorkers) {
  const auto server = StartServer(0, {"--set=training.min_workers=3", "--set=training.epochs=20"});
  const auto a = StartWorker("a");
  EXPECT_TRUE(a->WaitForErr("joined, waiting for workers (1 of 3)\n", kPatience));
  const auto b = StartWorker("b");
  EXPECT_TRUE(b->WaitForErr("joined, waiting for workers (2 of 3)\n", kPatience));
  const auto c = StartWorker("c");
  ExpectDone({server.get(), a.get(), b.get(), c.get()});
  EXPECT_FALSE(Model().empty());
}

}  // namespace
}  // namespace tributary
