// Files: what cannot be read says why, and an output is either the whole new one or the old one.
#include "platform/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace vivace::platform {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Files : public testing::Test {
 protected:
  fs::path path(const char* name) const { return folder_.path() / name; }
  void put(const fs::path& file, const std::string& text) const { std::ofstream(file) << text; }
  std::string get(const fs::path& file) const {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Files, AMappedFileShowsItsBytes) {
  put(path("a"), "hello");
  auto file = MappedFile::open(path("a")).value();
  ASSERT_EQ(file.bytes().size(), 5U);
  const std::byte* address = file.bytes().data();
  EXPECT_EQ(std::memcmp(address, "hello", 5), 0);
  MappedFile moved = std::move(file);
  EXPECT_EQ(moved.bytes().data(), address) << "moving keeps the address";
  EXPECT_TRUE(file.bytes().empty());
  moved = MappedFile();
  EXPECT_TRUE(moved.bytes().empty());
}

TEST_F(Files, AnEmptyFileIsAnEmptySpan) {
  put(path("empty"), "");
  EXPECT_TRUE(MappedFile::open(path("empty")).value().bytes().empty());
  EXPECT_EQ(read_text(path("empty")).value(), "");
}

TEST_F(Files, WhatCannotBeMappedSaysWhy) {
  const auto absent = MappedFile::open(path("absent"));
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kMissingInput);
  EXPECT_THAT(absent.error().message, HasSubstr("absent"));
  EXPECT_THAT(absent.error().message, HasSubstr("No such file"));
  const auto folder = MappedFile::open(folder_.path());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().code, ErrorCode::kMissingInput);
  EXPECT_THAT(folder.error().message, HasSubstr("got a folder"));
  const auto device = MappedFile::open("/dev/null");
  ASSERT_FALSE(device);
  EXPECT_THAT(device.error().message, HasSubstr("a device or pipe"));
  EXPECT_FALSE(MappedFile::open(""));
  if (geteuid() != 0) {
    put(path("secret"), "x");
    fs::permissions(path("secret"), fs::perms::none);
    const auto secret = MappedFile::open(path("secret"));
    ASSERT_FALSE(secret);
    EXPECT_THAT(secret.error().message, HasSubstr("Permission denied"));
  }
}

TEST_F(Files, ReadTextHasALimit) {
  put(path("a"), "12345");
  EXPECT_EQ(read_text(path("a"), 5).value(), "12345");
  const auto text = read_text(path("a"), 4);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kBadData);
}

TEST_F(Files, ATargetIsReplacedOnlyByCommit) {
  put(path("out"), "old");
  {
    auto file = AtomicFile::create(path("out")).value();
    ASSERT_TRUE(file.write("new "));
    ASSERT_TRUE(file.write("text"));
    EXPECT_EQ(get(path("out")), "old");
    EXPECT_EQ(names().size(), 2U) << "the temporary file lies beside the target";
    ASSERT_TRUE(file.commit());
  }
  EXPECT_EQ(get(path("out")), "new text");
  EXPECT_EQ(names(), std::set<std::string>{"out"});
}

TEST_F(Files, WithoutCommitNothingStays) {
  put(path("out"), "old");
  {
    auto file = AtomicFile::create(path("out")).value();
    ASSERT_TRUE(file.write("half"));
    const AtomicFile moved = std::move(file);  // the moved-from one must not unlink it twice
  }
  EXPECT_EQ(get(path("out")), "old");
  {
    const auto file = AtomicFile::create(path("other")).value();
  }
  EXPECT_EQ(names(), std::set<std::string>{"out"});
}

TEST_F(Files, AResultIsAsPublicAsTheMaskSays) {
  const mode_t before = umask(0027);
  ASSERT_TRUE(write_file_atomically(path("out"), "x"));
  umask(before);
  struct stat facts{};
  ASSERT_EQ(stat(path("out").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0640U);
}

TEST_F(Files, ALinkStaysALink) {
  fs::create_directory(path("sub"));
  put(path("sub/real"), "old");
  fs::create_symlink("sub/real", path("link"));
  fs::create_symlink("link", path("twice"));
  ASSERT_TRUE(write_file_atomically(path("twice"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("twice")));
  EXPECT_FALSE(fs::is_symlink(path("sub/real")));
  EXPECT_EQ(get(path("sub/real")), "new");
  EXPECT_EQ(names(), (std::set<std::string>{"sub", "link", "twice"}));
}

TEST_F(Files, ALinkToNothingYetStaysALink) {
  fs::create_symlink("later", path("link"));
  ASSERT_TRUE(write_file_atomically(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(get(path("later")), "new");
}

TEST_F(Files, ADeviceIsWrittenAndNotReplaced) {
  // A link of our own, so that a bug replaces the link and not the machine's /dev/null.
  fs::create_symlink("/dev/null", path("null"));
  ASSERT_TRUE(check_writable(path("null")));
  ASSERT_TRUE(write_file_atomically(path("null"), "gone"));
  EXPECT_TRUE(fs::is_symlink(path("null")));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(names(), std::set<std::string>{"null"});
}

TEST_F(Files, APipeIsWrittenAndNotReplaced) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  // Neither waits for a reader, nor opens the pipe: a reader would see its end.
  ASSERT_TRUE(check_writable(path("pipe")));
  std::string received;
  std::thread reader([&] { received = get(path("pipe")); });
  const auto written = write_file_atomically(path("pipe"), "through");
  reader.join();
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(received, "through");
  EXPECT_TRUE(fs::is_fifo(path("pipe")));
  EXPECT_EQ(names(), std::set<std::string>{"pipe"});
}

TEST_F(Files, WhatCannotBeCreatedSaysWhy) {
  for (const auto& check :
       {+[](const fs::path& target) { return check_writable(target); },
        +[](const fs::path& target) { return write_file_atomically(target, "x"); }}) {
    const auto folder = check(folder_.path());
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error().code, ErrorCode::kCannotCreate);
    EXPECT_THAT(folder.error().message, HasSubstr("got a folder"));
    const auto orphan = check(path("absent/out"));
    ASSERT_FALSE(orphan);
    EXPECT_EQ(orphan.error().code, ErrorCode::kCannotCreate);
    EXPECT_THAT(orphan.error().message, HasSubstr("No such file"));
    put(path("file"), "x");
    const auto inside = check(path("file/out"));
    ASSERT_FALSE(inside);
    EXPECT_EQ(inside.error().code, ErrorCode::kCannotCreate);
    EXPECT_FALSE(check(""));
    EXPECT_EQ(names(), std::set<std::string>{"file"});
  }
  if (geteuid() != 0) {
    fs::create_directory(path("locked"));
    fs::permissions(path("locked"), fs::perms::owner_read | fs::perms::owner_exec);
    const auto locked = check_writable(path("locked/out"));
    ASSERT_FALSE(locked);
    EXPECT_THAT(locked.error().message, HasSubstr("Permission denied"));
  }
}

TEST_F(Files, CheckingLeavesNothing) {
  put(path("old"), "old");
  ASSERT_TRUE(check_writable(path("old")));
  ASSERT_TRUE(check_writable(path("new")));
  EXPECT_EQ(get(path("old")), "old");
  EXPECT_EQ(names(), std::set<std::string>{"old"});
}

TEST_F(Files, AFullDiskIsAnErrorAndLeavesTheOldFile) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  fs::create_symlink("/dev/full", path("full"));
  const auto written = write_file_atomically(path("full"), "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kInputOutput);
  EXPECT_THAT(written.error().message, HasSubstr("No space left"));
  EXPECT_TRUE(fs::is_symlink(path("full")));
}

}  // namespace
}  // namespace vivace::platform
