// SPDX-License-Identifier: Apache-2.0
#include "tests/extension/dummy_format.h"

namespace kerf::detail::io {
namespace {

constexpr std::string_view kMagic{"DUMMY\0", 6};

class DummyReader final : public Reader {
 public:
  explicit DummyReader(InputStream input) : input_(std::move(input)) { start(); }

  const Schema& schema() const override { return schema_; }
  void rewind() override {
    input_.rewind();
    start();
  }
  bool next(RawBlock& block, Index max_rows) override {
    block.clear();
    block.file = input_.name();
    block.first_row = row_;
    block.cells.resize(max_rows, schema_.columns);
    const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(schema_.columns);
    while (block.rows < max_rows && input_.read(block.cells.row(block.rows).data(), bytes) == bytes)
      ++block.rows;
    block.cells.resize(block.rows, schema_.columns);
    row_ += block.rows;
    return block.rows > 0;
  }

 private:
  void start() {
    char head[7];
    input_.read(head, sizeof head);
    schema_.columns = head[6];
    row_ = 0;
  }

  InputStream input_;
  Schema schema_;
  Index row_ = 0;
};

}  // namespace

bool looks_like_dummy(std::string_view head, const std::string&) {
  return head.starts_with(kMagic);
}

std::unique_ptr<Reader> open_dummy(InputStream input, const ReadOptions&) {
  return std::make_unique<DummyReader>(std::move(input));
}

}  // namespace kerf::detail::io
