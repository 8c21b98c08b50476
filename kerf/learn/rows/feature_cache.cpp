// SPDX-License-Identifier: Apache-2.0
#include "kerf/learn/rows/feature_cache.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/system/parallel.h"
#include "kerf/linalg/blas.h"
#include "kerf/linalg/row_products.h"

namespace kerf::detail {

FeatureCache::FeatureCache(TrainingRows& rows, Form form, Index folds, Precision precision,
                           const Also& also)
    : rows_(rows), form_(form), precision_(precision), features_(rows.features()) {
  if (form == Form::single_) single_.resize(rows.rows(), features_);
  if (form == Form::fixed16) fixed_.resize(rows.rows(), features_);
  scale_.resize(form == Form::fixed16 ? static_cast<std::size_t>(rows.rows()) : 0);
  y_.resize(rows.rows(), rows.outputs());
  Index at = 0;
  rows.for_each(folds, [&](const TrainingRows::Block& block) {
    const PhaseClock watch(rows.seconds().accumulate);
    if (folds_.empty()) {
      const Origin origin = origin_of(block.z, block.y);
      // Right-hand sides always in double: what they are off no residual would tell.
      for (Index f = 0; f < folds; ++f)
        folds_.emplace_back(origin, Precision::double_, SumsOf::cross);
    }
    add_sums(block);
    if (precision == Precision::single_) centre_and_weight(origin(), block.weights, block.z);
    copy_rows(block.y, y_.view().slice(at, at + block.y.rows));
    const auto weights = block.weights.values();
    weights_.insert(weights_.end(), weights.begin(), weights.end());
    for (Index first = 0; first < block.z.rows; first += kPieceRows)
      pieces_.push_back({at + first, std::min(kPieceRows, block.z.rows - first), block.fold});
    keep(at, block.z);
    if (precision == Precision::double_) centre_and_weight(origin(), block.weights, block.z);
    if (!has_random_access()) also(at, block.z, block.weights);
    at += block.z.rows;
  });
}

/// A few rows at a time, which are made double.
void FeatureCache::add_sums(const TrainingRows::Block& block) {
  constexpr Index kRows = 512;
  for (Index first = 0; first < block.z.rows; first += kRows) {
    const Index last = std::min(first + kRows, block.z.rows);
    folds_[block.fold].add(block.z.slice(first, last), block.y.slice(first, last),
                           block.weights.slice(first, last));
  }
}

void FeatureCache::keep(Index first, MatrixView<const float> z) {
  if (form_ == Form::again) return;
  parallel_for(z.rows, kPieceRows, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      if (form_ == Form::single_)
        std::ranges::copy(z.row(i), single_.row(first + i).begin());
      else
        scale_[first + i] = encode16(z.row(i), fixed_.row(first + i).data());
    }
  });
}

void FeatureCache::add_row(Index i, float factor, std::span<float> sum) const {
  thread_local std::vector<float> decoded;
  std::span<const float> row;
  if (form_ == Form::single_) {
    row = single_.row(i);
  } else {
    decoded.resize(sum.size());
    decode16(fixed_.row(i).data(), scale_[i], decoded);
    row = decoded;
  }
  for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += factor * row[j];
}

std::vector<Index> FeatureCache::fold_of_rows() const {
  std::vector<Index> folds(rows(), 0);
  for (const auto& [first, count, fold] : pieces_) std::fill_n(folds.begin() + first, count, fold);
  return folds;
}

void FeatureCache::for_each(const std::function<void(const Piece&)>& body, bool exact) {
  const bool again = form_ == Form::again || (exact && form_ == Form::fixed16);
  if (again)
    pass_again(body);
  else
    pass_over_kept(body);
}

void FeatureCache::pass_over_kept(const std::function<void(const Piece&)>& body) const {
  parallel_for(kLanes, 1, [&](Index begin, Index) {
    Matrix<float> decoded;
    for (auto p = static_cast<std::size_t>(begin); p < pieces_.size(); p += kLanes) {
      const auto [first, rows, fold] = pieces_[p];
      MatrixView<const float> z;
      if (form_ == Form::single_) {
        z = single_.view().slice(first, first + rows);
      } else {
        decoded.resize(rows, features_);
        for (Index i = 0; i < rows; ++i)
          decode16(fixed_.row(first + i).data(), scale_[first + i], decoded.row(i));
        z = decoded.view();
      }
      body({begin, first, fold, z});
    }
  });
}

void FeatureCache::pass_again(const std::function<void(const Piece&)>& body) {
  std::size_t done = 0;  // pieces
  rows_.for_each(static_cast<Index>(folds_.size()), [&](const TrainingRows::Block& block) {
    if (precision_ == Precision::single_) centre_and_weight(origin(), block.weights, block.z);
    const auto count = static_cast<std::size_t>((block.z.rows + kPieceRows - 1) / kPieceRows);
    parallel_for(kLanes, 1, [&](Index lane, Index) {
      const auto start = static_cast<std::size_t>(lane) + kLanes - done % kLanes;
      for (std::size_t p = start % kLanes; p < count; p += kLanes) {
        const auto [first, rows, fold] = pieces_[done + p];
        const Index begin = static_cast<Index>(p) * kPieceRows;
        body({lane, first, fold, block.z.slice(begin, begin + rows)});
      }
    });
    done += count;
  });
}

FeatureCache::Form FeatureCache::best_form(Index rows, Index features, Index outputs,
                                           Precision precision, Index room) {
  if (bytes(Form::single_, rows, features, outputs) <= room) return Form::single_;
  if (precision == Precision::single_ && bytes(Form::fixed16, rows, features, outputs) <= room)
    return Form::fixed16;
  return Form::again;
}

Index FeatureCache::bytes(Form form, Index rows, Index features, Index outputs) {
  const Index element = form == Form::single_ ? 4 : form == Form::fixed16 ? 2 : 0;
  return rows * (element * features + 8 * (outputs + 1)) +
         (form == Form::fixed16
              ? 4 * rows + std::min<Index>(kLanes, threads()) * kPieceRows * 4 * features
              : 0);
}

const char* FeatureCache::name(Form form) {
  constexpr const char* names[] = {"features kept", "features kept in 16 bits",
                                   "features made again for each pass"};
  return names[static_cast<int>(form)];
}

namespace {

/// The memory of one lane of a pass.
struct Lane {
  Matrix<float> products, part;
  Matrix<double> wide, wide_products, sum;

  void add(const FeatureCache::Piece& piece, MatrixView<const float> v, const ChangeProducts& f,
           const PassOptions& options) {
    products.resize(piece.z.rows, v.rows);
    if (options.products) rows_times(piece.z, v, products.view());
    if (f) {
      const Index count = products.rows() * products.cols();
      wide_products.resize(products.rows(), products.cols());
      copy_rows(products.view(), wide_products.view());
      f(piece, wide_products.view());
      for (Index k = 0; k < count; ++k)
        products.data()[k] = static_cast<float>(wide_products.data()[k]);
    }
    if (!options.sums) return;
    part.resize(v.rows, v.cols);
    times_rows(products.view(), piece.z, part.view());
    for (Index j = 0; j < v.rows * v.cols; ++j) sum.data()[j] += part.data()[j];
  }

  void add_wide(const FeatureCache& cache, const FeatureCache::Piece& piece,
                MatrixView<const double> v, const ChangeProducts& f, const PassOptions& options) {
    if (cache.precision() == Precision::double_) {
      std::vector<double> root;
      for (Index i = 0; i < piece.z.rows && cache.weights().given(); ++i)
        root.push_back(std::sqrt(cache.weights()[piece.first + i]));
      centre_and_weight(cache.origin(), root, 0, piece.z, wide);
    } else {
      wide.resize(piece.z.rows, piece.z.cols);
      copy_rows(piece.z, wide.view());
    }
    wide_products.resize(piece.z.rows, v.rows);
    if (options.products) blas::gemm(false, true, 1.0, wide.view(), v, 0.0, wide_products.view());
    if (f) f(piece, wide_products.view());
    if (options.sums)
      blas::gemm(true, false, 1.0, wide_products.view(), wide.view(), 1.0, sum.view());
  }
};

}  // namespace

Matrix<double> product_with_rows(FeatureCache& cache, MatrixView<const double> v,
                                 const ChangeProducts& f, PassOptions options) {
  const bool single = cache.precision() == Precision::single_ && !options.exact;
  Matrix<float> narrow(single ? v.rows : 0, v.cols);
  for (Index k = 0; k < narrow.rows(); ++k)
    std::ranges::transform(v.row(k), narrow.row(k).begin(),
                           [](double value) { return static_cast<float>(value); });
  std::vector<Lane> lanes(FeatureCache::kLanes);
  for (Lane& lane : lanes) {
    lane.sum.resize(options.sums ? v.rows : 0, v.cols);
    lane.sum.fill(0);
  }
  cache.for_each(
      [&](const FeatureCache::Piece& piece) {
        Lane& lane = lanes[piece.lane];
        if (single)
          lane.add(piece, narrow.view(), f, options);
        else
          lane.add_wide(cache, piece, v, f, options);
      },
      options.exact);
  Matrix<double>& total = lanes.front().sum;
  for (std::size_t lane = 1; lane < lanes.size(); ++lane)
    for (Index j = 0; j < total.rows() * total.cols(); ++j)
      total.data()[j] += lanes[lane].sum.data()[j];
  return std::move(total);
}

Index product_bytes(Index features, Index vectors) {
  const Index wide =
      std::min<Index>(FeatureCache::kLanes, threads()) * 8 * FeatureCache::kPieceRows;
  return FeatureCache::kLanes * 12 * features * vectors + 4 * features * vectors + wide * features;
}

}  // namespace kerf::detail
