// What does not fit together is refused with one line that has both sides, and the job goes on.
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/processes/roles.h"

namespace tributary {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class RefusalsTest : public RolesTest {
 protected:
  RefusalsTest() { WriteJob(ShortJob("format: SYNTHETIC")); }

  // Ends with `code` and one line of error, by itself.
  static void ExpectRefused(Process& role, int code, const ::testing::Matcher<std::string>& line) {
    const ProcessOutcome outcome = role.Wait(kPatience);
    EXPECT_EQ(outcome.exit_code, code) << outcome.err;
    EXPECT_THAT(ErrorLines(outcome.err), ElementsAre(line)) << outcome.err;
  }

  // Eight images of 4x4 in training, four in the test; `data` says where they are.
  static std::string ShortJob(const std::string& data) {
    return "name: 'short' model { input { channels: 1 height: 4 width: 4 } layer { flatten {} } "
           "layer { name: 'fc' dense { out_features: 10 } } layer { softmax_cross_entropy {} } } "
           "optimizer { sgd {} } learning_rate { base: 0.1 } "
           "training { epochs: 5 global_batch: 4 slots: 2 } data { classes: 10 " +
           data + " }";
  }

  static std::string BigEndian(const std::vector<uint32_t>& numbers) {
    std::string bytes;
    for (const uint32_t number : numbers) {
      for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift);
    }
    return bytes;
  }
  // IDX files (yann.lecun.com/exdb/mnist); every pixel is `pixel`.
  std::string WriteImages(const std::string& folder, uint32_t samples, char pixel) const {
    std::filesystem::create_directory(folder_.File(folder));
    for (const std::string part : {"train", "t10k"}) {
      folder_.Write(folder + "/" + part + "-images-idx3-ubyte",
                    BigEndian({0x803, samples, 4, 4}) + std::string(size_t{samples} * 16, pixel));
      folder_.Write(folder + "/" + part + "-labels-idx1-ubyte",
                    BigEndian({0x801, samples}) + std::string(samples, '\x05'));
    }
    return folder_.File(folder);
  }
};

TEST_F(RefusalsTest, APortThatIsTaken) {
  const auto first = StartServer(0);
  ASSERT_TRUE(first->WaitForErr("serving job=short", kPatience));
  ExpectRefused(*StartServer(0), 1, HasSubstr("--listen: cannot listen on " + coordinator_ + ": "));
  const auto shard1 = StartServer(1);
  const auto worker = StartWorker("w");
  ExpectDone({first.get(), shard1.get(), worker.get()});
}

TEST_F(RefusalsTest, ASecondProcessForAShard) {
  const auto shard0 = StartServer(0);
  const auto first = StartServer(1);
  ASSERT_TRUE(first->WaitForErr("registered", kPatience));
  ExpectRefused(*StartServer(1), 2,
                AllOf(HasSubstr("shard 1: found a second process at 127.0.0.1:"),
                      HasSubstr("held by the process at 127.0.0.1:")));
  const auto worker = StartWorker("w");
  ExpectDone({shard0.get(), first.get(), worker.get()});
}

TEST_F(RefusalsTest, AnotherNumberOfShards) {
  const auto shard0 = StartServer(0);
  shards_ = 3;
  ExpectRefused(*StartServer(1), 2,
                HasSubstr("--shards: found 3 (with --shard 1), the coordinator at " + coordinator_ +
                          " expects 2"));
  ExpectRefused(*StartServer(2), 2, HasSubstr("--shards: found 3 (with --shard 2)"));
  shards_ = 2;
  const auto shard1 = StartServer(1);
  const auto worker = StartWorker("w");
  ExpectDone({shard0.get(), shard1.get(), worker.get()});
}

TEST_F(RefusalsTest, AWorkerWithoutTheData) {
  const std::string data = WriteImages("data", 8, 'a');
  WriteJob(ShortJob("format: IDX dir: '" + data + "'"));
  const auto shard0 = StartServer(0);
  const auto shard1 = StartServer(1);
  ExpectRefused(*StartWorker("bad", {"--data-dir", folder_.File("nowhere")}), 2,
                HasSubstr("data.train_images: found no file, expected one of " +
                          folder_.File("nowhere/train-images-idx3-ubyte")));
  std::filesystem::copy(data, folder_.File("half"));
  std::filesystem::remove(folder_.File("half/t10k-labels-idx1-ubyte"));
  ExpectRefused(*StartWorker("bad", {"--data-dir", folder_.File("half")}), 2,
                HasSubstr(folder_.File("half/t10k-labels-idx1-ubyte")));
  const auto good = StartWorker("good");
  ExpectDone({shard0.get(), shard1.get(), good.get()});
}

TEST_F(RefusalsTest, AWorkerWithOtherDataThanTheOthers) {
  const std::string data = WriteImages("data", 8, 'a');
  const std::string fewer = WriteImages("fewer", 7, 'a');
  const std::string others = WriteImages("others", 8, 'b');
  WriteJob(ShortJob("format: IDX dir: '" + data + "'"));
  // The first worker is in while the job waits for shard 1.
  const auto shard0 = StartServer(0);
  const auto good = StartWorker("good");
  ASSERT_TRUE(good->WaitForErr("joined", kPatience));
  ExpectRefused(*StartWorker("bad", {"--data-dir", fewer}), 2,
                HasSubstr("data: worker bad has 7 train and 7 test samples with fingerprint "));
  // The same counts: the fingerprint tells them apart.
  ExpectRefused(*StartWorker("bad", {"--data-dir", others}), 2,
                AllOf(HasSubstr("data: worker bad has 8 train and 8 test samples with "),
                      HasSubstr("the job's other workers have 8 and 8 with ")));
  const auto shard1 = StartServer(1);
  ExpectDone({shard0.get(), shard1.get(), good.get()});
}

TEST_F(RefusalsTest, AWorkerWithOtherDataWhileTheJobTrains) {
  const std::string data = WriteImages("data", 8, 'a');
  const std::string others = WriteImages("others", 8, 'b');
  WriteJob(ShortJob("format: IDX dir: '" + data + "'") + " evaluation { every_epochs: 40 }");
  const auto shard0 = StartServer(0, {kEndless});
  const auto shard1 = StartServer(1);
  const auto good = StartWorker("good");
  WaitUntilTraining(*shard0);
  ExpectRefused(*StartWorker("bad", {"--data-dir", others}), 2,
                HasSubstr("data: worker bad has 8 train and 8 test samples with "));
  EXPECT_TRUE(shard0->WaitForErr("evaluated step=800 ", kPatience));
}

// A file system that takes nothing more, or a folder that nobody may write to.
class FullDiskTest : public RefusalsTest {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(disk_);
    if (::mount("tmpfs", disk_.c_str(), "tmpfs", 0, "size=16k") == 0) {
      is_mounted_ = true;
      reason_ = "No space left on device";
      std::ofstream(disk_ + "/filler", std::ios::binary) << std::string(1 << 20, 'x');
    } else if (::geteuid() != 0) {
      std::filesystem::permissions(
          disk_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
      reason_ = "Permission denied";
    } else {
      GTEST_SKIP() << "no tmpfs can be mounted, and root may write anywhere";
    }
  }
  void TearDown() override {
    if (is_mounted_) ::umount(disk_.c_str());
    std::filesystem::permissions(disk_, std::filesystem::perms::owner_all);
  }

  const std::string disk_ = folder_.File("disk");
  bool is_mounted_ = false;
  std::string reason_;
};

TEST_F(FullDiskTest, TheJobFailsWithThePathAndTheReason) {
  model_ = disk_ + "/model.safetensors";
  const auto shard0 = StartServer(0);
  const auto shard1 = StartServer(1);
  const auto worker = StartWorker("w");
  ExpectRefused(*shard0, 1, AllOf(HasSubstr(model_ + ": "), HasSubstr(reason_)));
  ExpectRefused(*shard1, 1, HasSubstr(model_ + ": "));
  EXPECT_FALSE(worker->Wait(kPatience).timed_out);
  EXPECT_FALSE(std::filesystem::exists(model_));
  EXPECT_THAT(orphans_.Remaining(), IsEmpty());
}

}  // namespace
}  // namespace tributary
