// SPDX-License-Identifier: Apache-2.0
#include "kerf/io/arrays/cifar.h"

#include <algorithm>
#include <filesystem>

#include "kerf/core/require.h"

namespace kerf::detail::io {
namespace {

constexpr Index kPlane = 32 * 32, kPixels = 3 * kPlane;

/// Whether all records in `head` have labels below the limits (one limit per label byte).
bool labels_fit(std::string_view head, std::initializer_list<int> limits, std::size_t& records) {
  const std::size_t record = kPixels + limits.size();
  records = 0;
  for (std::size_t at = 0; at + record <= head.size(); at += record, ++records) {
    std::size_t k = at;
    for (const int limit : limits)
      if (static_cast<unsigned char>(head[k++]) >= limit) return false;
  }
  return records > 0;
}

/// Label bytes of a record: 1, 2, or 0 if this is not CIFAR.
Index label_bytes(std::string_view head, std::size_t& records) {
  if (labels_fit(head, {10}, records)) return 1;
  if (labels_fit(head, {20, 100}, records)) return 2;
  return 0;
}

/// No byte that only pixels, labels and the like have.
bool is_plain_text(std::string_view head) {
  return std::ranges::all_of(head, [](char c) {
    return static_cast<unsigned char>(c) >= 32 || c == '\t' || c == '\n' || c == '\r';
  });
}

class CifarReader final : public Reader {
 public:
  explicit CifarReader(InputStream input) : input_(std::move(input)) {
    std::size_t records;
    label_bytes_ = label_bytes(input_.peek(1 << 16), records);
    KERF_REQUIRE(label_bytes_ > 0, data, "{} is no CIFAR file", input_.name());
    schema_.columns = kPixels;
    schema_.labelled = schema_.bytes = true;
    schema_.image = {32, 32, 3};
  }

  const Schema& schema() const override { return schema_; }
  void rewind() override {
    input_.rewind();
    row_ = 0;
  }
  double progress() const override { return input_.part_read(); }

  bool next(RawBlock& block, Index max_rows) override {
    block.clear();
    block.file = input_.name();
    block.first_row = row_;
    const Index record = kPixels + label_bytes_;
    input_.read_some(bytes_, max_rows * record);
    const auto got = static_cast<Index>(bytes_.size());
    KERF_REQUIRE(got % record == 0, data, "{} is cut short: it ends within record {}",
                 input_.name(), row_ + got / record);
    block.rows = got / record;
    block.pixels.resize(block.rows, kPixels);
    const int classes = label_bytes_ == 1 ? 10 : 100;
    for (Index i = 0; i < block.rows; ++i) {
      const auto* from = reinterpret_cast<const unsigned char*>(bytes_.data()) + i * record;
      const int label = from[label_bytes_ - 1];
      KERF_REQUIRE(label < classes, data, "{}[{}]: label {} is not below {}", input_.name(),
                   row_ + i, label, classes);
      block.labels.push_back(label);
      interleave(from + label_bytes_, block.pixels.row(i).data());
    }
    row_ += block.rows;
    return block.rows > 0;
  }

 private:
  static void interleave(const unsigned char* from, std::uint8_t* to) {
    for (Index p = 0; p < kPlane; ++p) {
      to[3 * p] = from[p];
      to[3 * p + 1] = from[kPlane + p];
      to[3 * p + 2] = from[2 * kPlane + p];
    }
  }

  InputStream input_;
  Schema schema_;
  Index label_bytes_ = 1, row_ = 0;
  std::vector<char> bytes_;
};

}  // namespace

bool looks_like_cifar(std::string_view head, const std::string& path) {
  constexpr std::size_t kEnoughRecords = 8;
  std::size_t records = 0;
  // A table may begin with a tab, which would be a label.
  if (label_bytes(head, records) == 0 || is_plain_text(head)) return false;
  const std::string name = std::filesystem::path(path).filename().string();
  const bool named =
      name.find(".bin") != std::string::npos || name.find("batch") != std::string::npos;
  return named || records >= kEnoughRecords;
}

std::unique_ptr<Reader> open_cifar(InputStream input, const ReadOptions&) {
  return std::make_unique<CifarReader>(std::move(input));
}

}  // namespace kerf::detail::io
