// The files of both versions of control groups, written as a container shows them.
//
// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/system/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace kerf::detail {
namespace {

class ControlGroup : public testing::Test {
 protected:
  ControlGroup()
      : root_(std::filesystem::temp_directory_path() /
              ("kerf_cgroup_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(root_ / "memory");
    std::filesystem::create_directories(root_ / "cpu");
  }
  ~ControlGroup() override { std::filesystem::remove_all(root_); }

  void write(const char* file, const char* text) { std::ofstream(root_ / file) << text; }
  Index memory() const { return cgroup_memory(root_.string()); }
  int cores() const { return cgroup_cores(root_.string()); }

 private:
  std::filesystem::path root_;
};

constexpr Index kUnlimited = std::numeric_limits<Index>::max();

TEST_F(ControlGroup, WithoutFilesThereIsNoLimit) {
  EXPECT_EQ(memory(), kUnlimited);
  EXPECT_EQ(cores(), 0);
}

TEST_F(ControlGroup, Version2) {
  write("memory.max", "max\n");
  write("memory.current", "5000\n");
  write("cpu.max", "max 100000\n");
  EXPECT_EQ(memory(), kUnlimited);
  EXPECT_EQ(cores(), 0);
  write("memory.max", "8000\n");
  write("cpu.max", "150000 100000\n");
  EXPECT_EQ(memory(), 3000);
  EXPECT_EQ(cores(), 2);
  // Pages of files that were read are free for the asking; shared memory is not.
  write("memory.stat", "anon 1500\nfile 3500\nshmem 500\ninactive_file 2000\nactive_file 1000\n");
  EXPECT_EQ(memory(), 6000);
  write("memory.current", "9000\n");
  EXPECT_EQ(memory(), 2000);
  write("memory.stat", "");
  EXPECT_EQ(memory(), 0) << "over its limit";
}

TEST_F(ControlGroup, Version1) {
  write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("memory/memory.usage_in_bytes", "5000\n");
  write("cpu/cpu.cfs_quota_us", "-1\n");
  write("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_GT(memory(), kUnlimited / 2);
  EXPECT_EQ(cores(), 0);
  write("memory/memory.limit_in_bytes", "8000\n");
  write("memory/memory.stat", "inactive_file 1\ntotal_inactive_file 700\ntotal_active_file 300\n");
  write("cpu/cpu.cfs_quota_us", "50000\n");
  EXPECT_EQ(memory(), 4000);
  EXPECT_EQ(cores(), 1) << "half a core is one thread";
}

}  // namespace
}  // namespace kerf::detail
