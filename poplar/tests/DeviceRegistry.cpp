// The registry of attached processes: what is in it, what it does about files
// that are not what they should be, and what a fork inherits of it.
#include "Environment.hpp"
#include "ExpectError.hpp"

#include <poplar/DeviceManager.hpp>
#include <poplar/exceptions.hpp>
#include <poplar/internal/Hardware.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace poplar {
namespace {

namespace fs = std::filesystem;
using internal::readPartition;
using test::Environment;

// A folder of its own, and the registry in it.
class DeviceRegistry : public testing::Test {
protected:
  static fs::path makeFolder() {
    std::string name = (fs::temp_directory_path() / "registry-XXXXXX").string();
    return mkdtemp(name.data());
  }
  ~DeviceRegistry() override { fs::remove_all(folder); }

  // The file that a folder's registry is in.
  fs::path file() const { return *fs::directory_iterator(folder); }

  const fs::path folder = makeFolder();
  const Environment registry{"ASPEN_REGISTRY", folder.string()};
  const DeviceManager manager = {};
};

// Runs in a forked child; what it returns is its exit code.
template <typename Function> int inChild(Function function) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(function());
    } catch (...) {
      _exit(100);
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool canAttach(unsigned id) {
  return DeviceManager().getDevice(id).attach();
}

// Whether another process, which shares nothing but the file, could attach.
bool canAnotherAttach(unsigned id) {
  return inChild([id] { return canAttach(id) ? 0 : 1; }) == 0;
}

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

// Files that are damaged.

void overwrite(const fs::path &path, const std::string &contents,
               std::streamoff offset = 0) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offset);
  file << contents;
}

TEST_F(DeviceRegistry, MendsItsOwnFile) {
  ASSERT_TRUE(canAnotherAttach(0));
  const std::string garbage(100, 'x');
  const std::vector<std::function<void()>> damages = {
      [&] { overwrite(file(), garbage); },
      [&] { overwrite(file(), std::string(4, '\xff'), 8); }, // version
      [&] { overwrite(file(), garbage, 300); },              // a record
      [&] { fs::resize_file(file(), 0); },
      [&] { fs::resize_file(file(), 10); },
      [&] { fs::resize_file(file(), 1000); },
      [&] { fs::resize_file(file(), 1U << 20); },
      [&] { fs::remove(file()); },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    damages[i]();
    EXPECT_NO_THROW(readPartition()) << i;
    const Device device = DeviceManager().getDevice(16);
    ASSERT_TRUE(device.attach()) << i;
    EXPECT_FALSE(canAnotherAttach(1)) << i;
    ASSERT_TRUE(readPartition().ipus[1].attachment) << i;
    EXPECT_EQ(readPartition().ipus[1].attachment->deviceId, 16U) << i;
  }
}

TEST_F(DeviceRegistry, ReadsWhateverIsThere) {
  const Device device = manager.getDevice(16);
  ASSERT_TRUE(device.attach());
  const std::size_t size = fs::file_size(file());
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    inChild([&] {
      std::string noise(size, '\0');
      for (char &c : noise) {
        c = static_cast<char>(random() & 0xff);
      }
      // Behind the header: records that claim to be sound are looked at.
      overwrite(file(), noise.substr(64), 64);
      overwrite(file(), std::string(8, '\0'), 64);
      return 0;
    });
    random.discard(1);
    const auto partition = readPartition();
    ASSERT_TRUE(partition.ipus[0].attachment);
    EXPECT_EQ(partition.ipus[0].attachment->pid, getpid());
    EXPECT_LT(partition.ipus[0].attachment->deviceId, 31U);
    EXPECT_LE(partition.ipus[0].attachment->utilisation, 1);
    EXPECT_NO_THROW(internal::deviceAttributes(0));
  }
}

TEST_F(DeviceRegistry, LocksSurviveDamage) {
  const Device device = manager.getDevice(2);
  ASSERT_TRUE(device.attach());
  // Not here: closing a file takes the locks on it from the process.
  inChild([this] {
    overwrite(file(), std::string(200, '\x01'));
    return 0;
  });
  EXPECT_FALSE(canAnotherAttach(2));
  ASSERT_TRUE(readPartition().ipus[2].attachment);
  EXPECT_EQ(readPartition().ipus[2].attachment->pid, getpid());
}

TEST_F(DeviceRegistry, DeletedFilesAreMadeAgain) {
  const Device device = manager.getDevice(2);
  ASSERT_TRUE(device.attach());
  fs::remove(file());
  EXPECT_FALSE(canAttach(2)); // this process knows what it has
  EXPECT_TRUE(canAttach(3));
  EXPECT_TRUE(readPartition().ipus[2].attachment);
  device.detach();
  EXPECT_TRUE(canAttach(2));
  EXPECT_TRUE(canAnotherAttach(2));
}

// Texts of records are of others.
TEST_F(DeviceRegistry, ShowsNoControlCharacters) {
  const Device device = manager.getDevice(0);
  ASSERT_TRUE(device.attach());
  std::ifstream in(file(), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), {});
  const std::size_t name = bytes.find("poplar_tests");
  ASSERT_NE(name, std::string::npos);
  overwrite(file(), "\x1b[2J", static_cast<std::streamoff>(name));
  EXPECT_EQ(readPartition().ipus[0].attachment->executable, "?[2Jar_tests");
}

// Files that the user names.

class NamedRegistry : public DeviceRegistry {
protected:
  const fs::path named = folder / "registry";
  const Environment name{"ASPEN_REGISTRY", named.string()};
};

TEST_F(NamedRegistry, KeepsFilesOfOthers) {
  const std::string text = "My thesis. It is longer than a header of 64 bytes, "
                           "so that it could be taken for one.";
  std::ofstream(named) << text;
  expectError<poplar_error>([] { canAttach(0); }, named.string(),
                            "is a file of something else");
  EXPECT_FALSE(readPartition().ipus[0].attachment);
  std::ifstream in(named);
  EXPECT_EQ(std::string((std::istreambuf_iterator<char>(in)), {}), text);
}

TEST_F(NamedRegistry, TakesAnEmptyFileAsItIs) {
  std::ofstream(named).close();
  fs::permissions(named, static_cast<fs::perms>(0666));
  ASSERT_TRUE(canAttach(0));
  EXPECT_EQ(fs::status(named).permissions(), static_cast<fs::perms>(0666));
}

TEST_F(NamedRegistry, OtherVersionsAndSizesAreErrors) {
  ASSERT_TRUE(canAnotherAttach(0));
  const auto error = [](const char *text) {
    return inChild([text] {
      try {
        canAttach(0);
      } catch (const poplar_error &error) {
        return std::string(error.what()).find(text) != std::string::npos ? 0
                                                                         : 1;
      }
      return 2;
    });
  };
  {
    const Environment system("ASPEN_SYSTEM", "bow-pod4");
    EXPECT_EQ(error("is for a system of 16 IPUs and this one has 4"), 0);
  }
  overwrite(named, "\x07", 8);
  EXPECT_EQ(error("was made by another version of Aspen; delete it"), 0);
}

TEST_F(NamedRegistry, OneFileServesOneSizeInAProcess) {
  const Device device = manager.getDevice(0);
  ASSERT_TRUE(device.attach());
  {
    const Environment system("ASPEN_SYSTEM", "bow-pod4");
    expectError<poplar_error>([] { canAttach(0); }, "16 IPUs", "has 4");
  }
  EXPECT_FALSE(canAnotherAttach(0));
}

TEST_F(NamedRegistry, FollowsNoLinks) {
  std::ofstream(folder / "target").close();
  fs::create_symlink(folder / "target", named);
  expectError<poplar_error>([] { canAttach(0); }, "it is a symbolic link");
  EXPECT_EQ(fs::file_size(folder / "target"), 0U);
}

TEST_F(NamedRegistry, OtherKindsOfFilesAreErrors) {
  ASSERT_EQ(mkfifo(named.c_str(), 0600), 0);
  expectError<poplar_error>([] { canAttach(0); }, "is not a plain file");
}

TEST_F(NamedRegistry, FoldersThatDoNotExistAreErrors) {
  const Environment nowhere("ASPEN_REGISTRY", "/nowhere/registry");
  expectError<poplar_error>([] { canAttach(0); }, "/nowhere/registry",
                            "cannot be opened", "ASPEN_REGISTRY");
  EXPECT_FALSE(readPartition().ipus[0].attachment);
}

} // namespace
} // namespace poplar
