// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/rows/data_summary.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "kerf/core/hash.h"
#include "kerf/core/require.h"
#include "kerf/core/system/stopwatch.h"

namespace kerf::detail {

void ColumnSums::add(const RowsView& x) {
  if (mean_.empty()) {
    shift_.assign(x.cols(), 0.0);
    mean_ = square_ = shift_;
    if (!x.is_sparse() && x.rows() > 0) std::ranges::copy(x.dense().row(0), shift_.begin());
    least_ = greatest_ = shift_;  // of sparse rows 0, which is in every column, or may be
  }
  rows_ += x.rows();
  for (Index i = 0; i < x.rows(); ++i) {
    if (x.is_sparse()) {
      const SparseRow row = x.sparse().row(i);
      for (std::size_t k = 0; k < row.values.size(); ++k) add_value(row.columns[k], row.values[k]);
    } else {
      const auto row = x.dense().row(i);
      for (std::size_t j = 0; j < row.size(); ++j) add_value(j, row[j]);
    }
  }
}

void ColumnSums::describe(DataSummary& summary) const {
  const auto n = static_cast<double>(std::max<Index>(rows_, 1));
  summary.mean.resize(mean_.size());
  summary.mean_square.resize(mean_.size());
  for (std::size_t j = 0; j < mean_.size(); ++j) {
    const double centred_mean = mean_[j] / n;
    summary.mean[j] = shift_[j] + centred_mean;
    summary.mean_square[j] = square_[j] / n + shift_[j] * (shift_[j] + 2 * centred_mean);
  }
  summary.least = least_;
  summary.greatest = greatest_;
}

void ColumnSums::add_value(std::size_t column, double value) {
  const double centred = value - shift_[column];
  mean_[column] += centred;
  square_[column] += centred * centred;
  least_[column] = std::min(least_[column], value);
  greatest_[column] = std::max(greatest_[column], value);
}

void RowFingerprint::add(const RowBlock& block) {
  const auto mix = [&](std::uint64_t bits) { state_ = mix_bits(state_ ^ bits); };
  for (Index i = 0; i < block.rows(); ++i) {
    if (block.is_sparse) {
      const SparseRow row = block.sparse.view().row(i);
      mix(hash_values(row.values));
      mix(hash_values(row.columns));
    } else {
      mix(hash_values<float>(block.dense.row(i)));
    }
    mix(hash_values<double>(block.targets.row(i)));
    mix(std::bit_cast<std::uint64_t>(WeightsView(block.weights)[i]));
  }
}

void TargetRange::add(std::span<const double> targets) {
  first_.resize(targets.size(), std::numeric_limits<double>::quiet_NaN());
  reach_.resize(targets.size(), 0.0);
  for (auto* sums : {&rows_, &mean_, &squares_}) sums->resize(targets.size(), 0.0);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (std::isnan(targets[t])) continue;
    if (std::isnan(first_[t])) first_[t] = targets[t];
    const double value = targets[t] - first_[t];
    reach_[t] = std::max(reach_[t], std::abs(value));
    const double before = value - mean_[t];
    mean_[t] += before / ++rows_[t];
    squares_[t] += before * (value - mean_[t]);
  }
}

std::vector<double> TargetRange::deviations() const {
  std::vector<double> out;
  for (std::size_t t = 0; t < rows_.size(); ++t)
    out.push_back(rows_[t] > 0 ? std::sqrt(std::max(0.0, squares_[t]) / rows_[t]) : 0);
  return out;
}

std::vector<double> TargetRange::scales() const {
  constexpr double kMost = 0x1p40, kLeast = 0x1p-40, kSmallPart = 0x1p-60;
  const auto power_below = [](double x) { return std::ldexp(1.0, std::ilogb(x)); };
  double largest = 0;
  for (const double reach : reach_) largest = std::max(largest, reach);
  const bool ordinary = largest == 0 || (largest >= kLeast && largest <= kMost);
  const double common = ordinary ? 1 : power_below(largest);
  std::vector<double> scales;
  for (const double reach : reach_) {
    const bool tiny = reach > 0 && reach < kSmallPart * std::max(common, largest);
    scales.push_back(tiny ? power_below(reach) / kSmallPart : common);
  }
  return scales;
}

Index RowSampler::offer(Index row) {
  const auto words = rng::bits(key_, static_cast<std::uint64_t>(row));
  const std::uint64_t rank = words[0] | std::uint64_t{words[1]} << 32;
  if (static_cast<Index>(heap_.size()) < size_) {
    heap_.push_back({rank, row, static_cast<Index>(heap_.size())});
    std::push_heap(heap_.begin(), heap_.end());
    return static_cast<Index>(heap_.size()) - 1;
  }
  if (heap_.empty() || rank >= heap_.front().rank) return -1;
  std::pop_heap(heap_.begin(), heap_.end());
  const Index slot = heap_.back().slot;
  heap_.back() = {rank, row, slot};
  std::push_heap(heap_.begin(), heap_.end());
  return slot;
}

std::vector<Index> RowSampler::slots_in_row_order() const {
  std::vector<Member> members = heap_;
  std::ranges::sort(members, {}, &Member::row);
  std::vector<Index> slots;
  for (const Member& member : members) slots.push_back(member.slot);
  return slots;
}

void SampleKeeper::add(const RowBlock& block) {
  like_.make_room(block, 0);
  for (Index i = 0; i < block.rows(); ++i) {
    if ((block.first_row + i) % block.copies != 0) continue;  // one of each example
    const Index slot = sampler_.offer(block.first_row + i);
    if (slot < 0) continue;
    if (slot == std::ssize(rows_)) rows_.emplace_back();
    rows_[slot].make_room(block, 1);
    rows_[slot].wide = {};
    rows_[slot].put(0, block, i);
  }
}

RowBlock SampleKeeper::sample() const {
  RowBlock sample;
  sample.make_room(rows_.empty() ? like_ : rows_.front(), std::ssize(rows_));
  Index at = 0;
  for (const Index slot : sampler_.slots_in_row_order()) sample.put(at++, rows_[slot], 0);
  return sample;
}

RowBlock SampleKeeper::take() {
  RowBlock all = sample();
  rows_.clear();
  return all;
}

DataSummary summarise(RowSource& source, Task task, std::vector<std::string> classes, rng::Key key,
                      const Progress& progress) {
  DataSummary summary;
  summary.task = task;
  summary.cols = source.cols();
  summary.class_rows.assign(classes.size(), 0.0);
  ColumnSums sums;
  SampleKeeper sample(key.child("sample"), kSampleRows);
  RowFingerprint fingerprint;
  TargetRange range;
  RowBlock block;
  std::optional<Stopwatch> watch(summary.seconds);
  source.rewind();
  while (source.next(block)) {
    summary.rows += block.rows();
    summary.is_sparse = block.is_sparse;
    summary.image = block.image;
    summary.targets = block.targets.cols();
    sums.add(block.x());
    sample.add(block);
    fingerprint.add(block);
    for (Index i = 0; i < block.rows(); ++i) {
      if (task == Task::regression) range.add(block.targets.row(i));
      const double weight = WeightsView(block.weights)[i];
      KERF_REQUIRE(weight >= 0 && std::isfinite(weight), data, "row {} has the weight {}",
                   block.number_of(i), weight);
      summary.weight += weight;
      if (task == Task::classification) {
        const double label = block.targets(i, 0);
        KERF_REQUIRE(label >= 0 && label < static_cast<double>(classes.size()), data,
                     "row {}: class number {} is not in 0 .. {}", block.number_of(i), label,
                     static_cast<Index>(classes.size()) - 1);
        summary.class_rows[label] += weight;
      }
    }
    report(progress, "reading", summary.rows, rows_expected(source, summary.rows));
  }
  watch.reset();
  source.rewind();
  sums.describe(summary);
  summary.sample = sample.take();
  summary.fingerprint = fingerprint.value();
  summary.target_scale = range.scales();
  summary.target_deviation = range.deviations();
  summary.classes = std::move(classes);
  return summary;
}

}  // namespace kerf::detail
