// The registry of attached processes: what is in it, whom it excludes and what
// a fork inherits of it.
#include "OwnRegistry.hpp"

#include <poplar/internal/Hardware.hpp>

#include <chrono>

#include <sys/stat.h>

namespace poplar {
namespace {

namespace fs = std::filesystem;
using internal::readPartition;
using test::canAnotherAttach;
using test::canAttach;
using test::inChild;

class DeviceRegistry : public test::OwnRegistry {};

TEST_F(DeviceRegistry, IsPrivateAndNamedByUserPartitionAndSize) {
  ASSERT_TRUE(manager.getDevice(0).attach());
  struct stat status = {};
  ASSERT_EQ(stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  EXPECT_EQ(file().filename(), "aspen-ipus-" + std::to_string(geteuid()) + "-" +
                                   readPartition().name + "-16");
}

TEST_F(DeviceRegistry, LookingMakesNoFile) {
  EXPECT_EQ(readPartition().ipus.size(), 16U);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(DeviceRegistry, DescribesTheHolder) {
  const auto before = std::chrono::system_clock::now();
  const Device pair = manager.getDevice(17); // IPUs 2 and 3
  ASSERT_TRUE(pair.attach());
  const auto partition = readPartition();
  EXPECT_FALSE(partition.ipus[1].attachment);
  EXPECT_FALSE(partition.ipus[4].attachment);
  ASSERT_TRUE(partition.ipus[2].attachment);
  ASSERT_TRUE(partition.ipus[3].attachment);
  const internal::Attachment &holder = *partition.ipus[3].attachment;
  EXPECT_EQ(holder.pid, getpid());
  EXPECT_TRUE(holder.isVisible);
  EXPECT_EQ(holder.executable, "poplar_tests");
  EXPECT_NE(holder.commandLine.find("poplar_tests"), std::string::npos);
  EXPECT_EQ(holder.deviceId, 17U);
  EXPECT_GE(holder.since, before);
  EXPECT_LE(holder.since, std::chrono::system_clock::now());
  EXPECT_EQ(holder.hostBytes, 0U);
  pair.detach();
  EXPECT_FALSE(readPartition().ipus[2].attachment);
}

TEST_F(DeviceRegistry, OthersSeeTheSame) {
  const Device device = manager.getDevice(5);
  ASSERT_TRUE(device.attach());
  const pid_t self = getpid();
  EXPECT_EQ(inChild([self] {
              const auto ipus = readPartition().ipus;
              return ipus[5].attachment && ipus[5].attachment->pid == self &&
                             ipus[5].attachment->executable == "poplar_tests" &&
                             !ipus[4].attachment
                         ? 0
                         : 1;
            }),
            0);
}

TEST_F(DeviceRegistry, AttachingIsAllOrNothing) {
  const Device single = manager.getDevice(6);
  ASSERT_TRUE(single.attach());
  EXPECT_FALSE(canAnotherAttach(25)); // IPUs 4 to 7
  EXPECT_FALSE(canAnotherAttach(6));
  EXPECT_TRUE(canAnotherAttach(4)); // not left behind by the quad
  EXPECT_TRUE(canAnotherAttach(24));
  single.detach();
  EXPECT_TRUE(canAnotherAttach(25));
}

TEST_F(DeviceRegistry, ForkedChildrenHoldNothing) {
  Device device = manager.getDevice(3);
  ASSERT_TRUE(device.attach());
  const int code = inChild([&device] {
    if (device.isAttached() || device.attach() || canAttach(3)) {
      return 1;
    }
    device.detach();
    device = Device(); // destroys the copy
    return readPartition().ipus[3].attachment ? 0 : 2;
  });
  EXPECT_EQ(code, 0);
  EXPECT_TRUE(device.isAttached());
  EXPECT_FALSE(canAnotherAttach(3));
  ASSERT_TRUE(readPartition().ipus[3].attachment);
  EXPECT_EQ(readPartition().ipus[3].attachment->pid, getpid());
}

TEST_F(DeviceRegistry, ParentsLoseNothingWhenChildrenAttachOthers) {
  const Device device = manager.getDevice(8);
  ASSERT_TRUE(device.attach());
  EXPECT_TRUE(canAnotherAttach(9));
  EXPECT_FALSE(canAnotherAttach(8));
}

TEST_F(DeviceRegistry, LooksDoNotLoseLocks) {
  const Device device = manager.getDevice(8);
  ASSERT_TRUE(device.attach());
  for (int i = 0; i < 3; ++i) {
    readPartition();
    internal::deviceAttributes(8);
  }
  EXPECT_FALSE(canAnotherAttach(8));
}

} // namespace
} // namespace poplar
