// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/rows/training_rows.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/learn/rows/fold_buffers.h"

namespace kerf::detail {

Targets::Targets(const DataSummary& summary, const FitOptions& options)
    : classification_(summary.task == Task::classification),
      outputs_(classification_ ? static_cast<Index>(summary.classes.size()) : summary.targets) {
  if (!classification_) scale_ = summary.target_scale;
  if (!classification_ || options.class_weight == ClassWeight::none) return;
  for (const double count : summary.class_rows)
    class_weight_.push_back(count > 0 ? summary.weight / (static_cast<double>(outputs_) * count)
                                      : 0);
}

void Targets::encode(const RowBlock& rows, Matrix<double>& y, std::vector<double>& weights) const {
  y.resize(rows.rows(), outputs_);
  weights = rows.weights;
  if (!class_weight_.empty() && weights.empty()) weights.assign(rows.rows(), 1.0);
  for (Index i = 0; i < rows.rows(); ++i) {
    if (!classification_) {
      std::ranges::copy(rows.targets.row(i), y.row(i).begin());
      for (std::size_t t = 0; t < scale_.size(); ++t) y(i, static_cast<Index>(t)) /= scale_[t];
      continue;
    }
    const auto label = static_cast<Index>(rows.targets(i, 0));
    std::ranges::fill(y.row(i), -1.0 / static_cast<double>(outputs_));
    y(i, label) += 1;
    if (!class_weight_.empty()) weights[i] *= class_weight_[label];
  }
}

TrainingRows::TrainingRows(RowSource& source, const DataSummary& summary, const FeatureMap& map,
                           const Scaling& scaling, const FitOptions& options,
                           FitReport::Seconds& seconds, Progress progress)
    : source_(source),
      summary_(summary),
      map_(map),
      scaling_(scaling),
      seconds_(seconds),
      progress_(std::move(progress)),
      targets_(summary, options),
      fold_key_(FoldBuffers::key_of(options.seed)),
      block_rows_(rows_at_once(map.out_dim(), map.in_dim(), summary.rows)) {}

void TrainingRows::for_each(Index folds, const std::function<void(const Block&)>& receive,
                            std::span<const Index> skip, Index apart) {
  const auto all = [&](const Block& block) {
    receive(block);
    return true;
  };
  pass(folds, all, skip, apart);
}

void TrainingRows::for_fold(Index fold, Index folds,
                            const std::function<bool(const Block&)>& receive) {
  std::vector<Index> skip(folds, summary_.rows);
  skip[fold] = 0;
  pass(folds, receive, skip);
}

void TrainingRows::pass(Index folds, const std::function<bool(const Block&)>& receive,
                        std::span<const Index> skip, Index apart) {
  bool wanted = true;
  Matrix<float> z;
  Matrix<double> y;
  std::vector<double> weights;
  std::vector<Index> seen(skip.begin(), skip.end());
  seen.resize(folds, 0);
  const auto flush = [&](Index fold, const RowBlock& rows) {
    {
      const PhaseClock watch(seconds_.features);
      z.resize(rows.rows(), map_.out_dim());
      map_.transform(rows.x(), z.view());
      targets_.encode(rows, y, weights);
    }
    wanted = wanted && receive({fold, seen[fold], z.view(), y.view(), weights});
    seen[fold] += rows.rows();
  };
  FoldBuffers buffers(folds, block_rows_, fold_key_, flush, skip, apart);
  read_into(buffers, wanted);
}

Index TrainingRows::fold_with_rows(Index folds) const {
  return FoldBuffers::fold_with_rows(fold_key_, summary_.rows, summary_.copies, folds);
}

void TrainingRows::for_each_input(Index folds, Index held_out,
                                  const std::function<void(const InputBlock&)>& receive) {
  Matrix<double> y;
  std::vector<double> weights;
  const auto flush = [&](Index fold, const RowBlock& rows) {
    targets_.encode(rows, y, weights);
    receive({fold == 0, rows, y.view(), weights});
  };
  FoldBuffers buffers(folds, input_block_rows(map_.in_dim(), summary_.rows), fold_key_, flush, {},
                      held_out);
  read_into(buffers, true);
}

void TrainingRows::features(const RowsView& x, MatrixView<float> z) const {
  const PhaseClock watch(seconds_.features);
  map_.transform(x, z);
}

void TrainingRows::read_into(FoldBuffers& buffers, const bool& wanted) {
  const PhaseClock watch(seconds_.read);  // what is done with the rows has clocks of its own
  RowBlock block;
  Index done = 0;
  source_.rewind();
  while (wanted) {
    if (!source_.next(block)) break;
    scaling_.apply(block);
    done += block.rows();
    KERF_REQUIRE(done <= summary_.rows, data, "the rows changed while they were read");
    buffers.add(block);
    report(progress_, "features", done, summary_.rows);
  }
  if (!wanted) return;
  KERF_REQUIRE(done == summary_.rows, data, "the rows changed while they were read");
  buffers.finish();
}

Index TrainingRows::rows_at_once(Index features, Index inputs, Index rows) {
  constexpr Index kFeatureFloats = 1 << 24, kInputFloats = 1 << 24;
  const Index by_features = std::clamp<Index>(kFeatureFloats / features, 2048, 8192);
  const Index by_inputs = std::clamp<Index>(kInputFloats / inputs, 256, 8192);
  return std::max<Index>(1, std::min({by_features, by_inputs, rows}));
}

Index TrainingRows::input_block_rows(Index inputs, Index rows) {
  return rows_at_once(1, inputs, rows);
}

Index TrainingRows::bytes(Index rows, Index inputs, Index features, Index outputs, Index folds) {
  const Index block = rows_at_once(features, inputs, rows);
  return 4 * block * features + folds * block * (4 * inputs + 8 * outputs) + 8 * block * outputs;
}

Origin origin_of(MatrixView<const float> z, MatrixView<const double> y) {
  std::vector<double> sum(z.cols, 0.0);
  for (Index i = 0; i < z.rows; ++i)
    for (Index j = 0; j < z.cols; ++j) sum[j] += z(i, j);
  Origin origin;
  for (const double s : sum)
    origin.features.push_back(static_cast<float>(s / static_cast<double>(z.rows)));
  origin.targets.assign(y.cols, 0.0);
  for (Index i = 0; i < y.rows; ++i)
    for (Index t = 0; t < y.cols; ++t) origin.targets[t] += y(i, t) / static_cast<double>(y.rows);
  return origin;
}

Index fold_count(const FitOptions& options, Index rows) {
  return options.lambda || options.validation != Validation::folds ? 1
                                                                   : std::min(options.folds, rows);
}

}  // namespace kerf::detail
