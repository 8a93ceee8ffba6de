// What the registry does about files that are not what they should be: damaged,
// deleted, of somebody else.
#include "ExpectError.hpp"
#include "OwnRegistry.hpp"

#include <poplar/exceptions.hpp>
#include <poplar/internal/Hardware.hpp>

#include <array>
#include <csignal>
#include <fstream>
#include <functional>
#include <random>

#include <sys/stat.h>

namespace poplar {
namespace {

namespace fs = std::filesystem;
using internal::readPartition;
using test::canAnotherAttach;
using test::canAttach;
using test::Environment;
using test::inChild;

class DeviceRegistryFile : public test::OwnRegistry {};

void overwrite(const fs::path &path, const std::string &contents,
               std::streamoff offset = 0) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offset);
  file << contents;
}

TEST_F(DeviceRegistryFile, MendsItsOwnFile) {
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

TEST_F(DeviceRegistryFile, ReadsWhateverIsThere) {
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

TEST_F(DeviceRegistryFile, LocksSurviveDamage) {
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

TEST_F(DeviceRegistryFile, DeletedFilesAreMadeAgain) {
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
TEST_F(DeviceRegistryFile, ShowsNoControlCharacters) {
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

class NamedRegistry : public DeviceRegistryFile {
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

// What another user sees of a file: only root can try. All that open it are
// children, since a child inherits what its parent opened.
class SharedRegistry : public NamedRegistry {
protected:
  void SetUp() override {
    if (geteuid() != 0) {
      GTEST_SKIP() << "needs root";
    }
    std::ofstream(named).close();
    fs::permissions(named, static_cast<fs::perms>(0666));
    fs::permissions(folder, static_cast<fs::perms>(0755));
  }
  void TearDown() override {
    if (holder_ != 0) {
      kill(holder_, SIGKILL);
      waitpid(holder_, nullptr, 0);
    }
  }

  // Root holds IPU 0 from now on.
  void holdAsRoot() {
    std::array<int, 2> ends = {};
    ASSERT_EQ(pipe(ends.data()), 0);
    holder_ = fork();
    if (holder_ == 0) {
      const Device device = manager.getDevice(0);
      const char isAttached = device.attach() ? 1 : 0;
      _exit(::write(ends[1], &isAttached, 1) == 1 ? pause() : 1);
    }
    char isAttached = 0;
    ASSERT_EQ(::read(ends[0], &isAttached, 1), 1);
    ASSERT_EQ(isAttached, 1);
    close(ends[0]);
    close(ends[1]);
  }

  // Whether nobody, the user, can attach; -1 for an error that says `text`.
  static int attachAsNobody(unsigned id, const std::string &text = "") {
    return asNobody([&] {
             try {
               return canAttach(id) ? 2 : 1;
             } catch (const poplar_error &error) {
               const std::string message = error.what();
               return message.find(text) == std::string::npos ? 98 : 0;
             }
           }) -
           1;
  }
  template <typename Function> static int asNobody(Function function) {
    return inChild([&] {
      constexpr uid_t nobody = 65534;
      return setuid(nobody) == 0 ? function() : 99;
    });
  }

private:
  pid_t holder_ = 0;
};

TEST_F(SharedRegistry, UsersExcludeAndSeeEachOther) {
  holdAsRoot();
  EXPECT_EQ(attachAsNobody(0), 0);
  EXPECT_EQ(attachAsNobody(16), 0);
  EXPECT_EQ(attachAsNobody(1), 1);
  EXPECT_EQ(asNobody([] {
              const auto ipus = readPartition().ipus;
              return ipus[0].attachment->user == "root" ? 0 : 1;
            }),
            0);
}

TEST_F(SharedRegistry, FilesThatCannotBeWrittenCanBeRead) {
  holdAsRoot();
  fs::permissions(named, static_cast<fs::perms>(0644));
  EXPECT_EQ(attachAsNobody(1, "cannot be opened for writing"), -1);
  EXPECT_EQ(asNobody([] { return readPartition().ipus[0].attachment ? 0 : 1; }),
            0);
  fs::permissions(named, static_cast<fs::perms>(0600));
  EXPECT_EQ(attachAsNobody(1, "Permission denied"), -1);
}

TEST_F(SharedRegistry, FilesOfOthersInOurNameAreErrors) {
  const Environment inFolder("ASPEN_REGISTRY", folder.string());
  const fs::path squatted =
      folder / ("aspen-ipus-0-" + readPartition().name + "-16");
  std::ofstream(squatted).close();
  ASSERT_EQ(chown(squatted.c_str(), 65534, 65534), 0);
  expectError<poplar_error>([] { canAttach(0); }, "belongs to another user");
}

TEST_F(NamedRegistry, FoldersThatDoNotExistAreErrors) {
  const Environment nowhere("ASPEN_REGISTRY", "/nowhere/registry");
  expectError<poplar_error>([] { canAttach(0); }, "/nowhere/registry",
                            "cannot be opened", "ASPEN_REGISTRY");
  EXPECT_FALSE(readPartition().ipus[0].attachment);
}

} // namespace
} // namespace poplar
