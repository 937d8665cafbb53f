#include "tests/e2e/processes/roles.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace tributary {
namespace {

// Below the ports that the system gives away by itself (ip(7), ip_local_port_range), so that no
// other program that listens on port 0 takes one before the test uses it.
constexpr int kFirstPort = 20'000;
constexpr int kPorts = 12'000;

bool IsFree(int port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool is_free =
      ::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(descriptor);
  return is_free;
}

std::string Program(const std::string& name) {
  return ProgramFolder() + "/" + name;
}

}  // namespace

std::string SmallJob(int min_workers) {
  return R"(name: "small"
seed: 3
model {
  input { channels: 1 height: 8 width: 8 }
  layer { name: "conv1" conv2d { out_channels: 4 kernel: 3 } }
  layer { max_pool2d { kernel: 2 } }
  layer { relu {} }
  layer { flatten {} }
  layer { dropout { probability: 0.25 } }
  layer { name: "fc1" dense { out_features: 10 } }
  layer { softmax_cross_entropy {} }
}
data { classes: 10 format: SYNTHETIC synthetic_train_samples: 50 synthetic_test_samples: 23 }
optimizer { sgd { momentum: 0.9 } }
learning_rate { base: 0.02 cosine {} }
evaluation { every_epochs: 20 batch: 5 }
training { epochs: 800 global_batch: 16 slots: 4 min_workers: )" +
         std::to_string(min_workers) + " }\n";
}

std::vector<std::string> ErrorLines(const std::string& log) {
  std::vector<std::string> lines;
  std::istringstream stream(log);
  for (std::string line; std::getline(stream, line);) {
    if (line.find("Z error ") != std::string::npos) lines.push_back(line);
  }
  return lines;
}

std::string FreeAddress() {
  // Tests that run at the same time start at different ports.
  static int next = static_cast<int>(::getpid()) * 97 % kPorts;
  for (int tries = 0; tries < kPorts; ++tries) {
    const int port = kFirstPort + next++ % kPorts;
    if (IsFree(port)) return "127.0.0.1:" + std::to_string(port);
  }
  ADD_FAILURE() << "no free port";
  return "127.0.0.1:1";
}

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

RolesTest::RolesTest(int shards)
    : shards_(shards), coordinator_(FreeAddress()), model_(folder_.File("model.safetensors")) {
  WriteJob(SmallJob(1));
}

std::unique_ptr<Process> RolesTest::StartServer(int shard, const Arguments& more) const {
  Arguments command = {Program("tributary-server"), "--shard", std::to_string(shard), "--shards",
                       std::to_string(shards_)};
  const Arguments role =
      shard == 0 ? Arguments{"--listen",    coordinator_, "--job", folder_.File("job.textproto"),
                             "--model-out", model_}
                 : Arguments{"--listen", "127.0.0.1:0", "--coordinator", coordinator_};
  command.insert(command.end(), role.begin(), role.end());
  command.insert(command.end(), more.begin(), more.end());
  return Process::Start(command);
}

std::unique_ptr<Process> RolesTest::StartWorker(const std::string& name,
                                                const Arguments& more) const {
  Arguments command = {Program("tributary-worker"), "--coordinator", coordinator_, "--name", name};
  command.insert(command.end(), more.begin(), more.end());
  return Process::Start(command);
}

std::string RolesTest::LocalModel() const {
  const std::string path = folder_.File("local.safetensors");
  const ProcessOutcome outcome = RunProcess(
      {Program("tributary"), "run", folder_.File("job.textproto"), "--local", "--model-out", path});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string model = Content(path);
  EXPECT_FALSE(model.empty());
  return model;
}

std::string RolesTest::Model() const {
  return Content(model_);
}

void RolesTest::ExpectDone(const std::vector<Process*>& roles) {
  for (Process* const role : roles) {
    const ProcessOutcome outcome = role->Wait(kPatience);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  }
}

void RolesTest::WaitUntilTraining(Process& shard0) {
  ASSERT_TRUE(shard0.WaitForErr("evaluated step=80 ", kPatience)) << shard0.Wait({}).err;
}

}  // namespace tributary
