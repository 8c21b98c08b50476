// The centred, weighted features of all rows, for solvers that pass over them many times: kept in
// memory, kept in 16 bits (row_products.h), or made again for each pass.
//
//   row i:  sqrt(w_i) (z_i - c)         c: near the mean (the origin of the sums)
//
// Rows stand in the order in which they came, block by block; all rows of a block are of one fold.
// A pass hands out pieces of a few rows in kLanes lanes: the pieces of a lane come in order, one at
// a time, and lanes run on as many threads as there are.  Who sums up in each lane, and then over
// lanes, gets the same bits for any number of threads.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/learn/rows/training_rows.h"

namespace kerf::detail {

class FeatureCache {
 public:
  enum class Form { single_, fixed16, again };
  static constexpr Index kLanes = 16, kPieceRows = 64;

  using Also = std::function<void(Index first, MatrixView<const float> z, WeightsView weights)>;

  /// Reads all rows once.  Each block, centred and weighted, is shown to `also`, unless random
  /// access will do as well.
  FeatureCache(TrainingRows& rows, Form form, Index folds, Precision precision, const Also& also);

  /// The most exact form that fits into `room` bytes.
  static Form best_form(Index rows, Index features, Index outputs, Precision precision, Index room);
  static Index bytes(Form form, Index rows, Index features, Index outputs);
  static const char* name(Form form);

  Index rows() const { return y_.rows(); }
  Index features() const { return features_; }
  Index outputs() const { return y_.cols(); }
  Form form() const { return form_; }
  Precision precision() const { return precision_; }
  const Origin& origin() const { return folds_.front().origin(); }
  /// Sums without a Gram matrix, one for each fold.
  std::span<const NormalEquations> folds() const { return folds_; }
  /// Targets as encoded (not centred), and weights (empty: all 1), in the order of the rows here.
  MatrixView<const double> targets() const { return y_.view(); }
  WeightsView weights() const { return weights_; }

  /// Rows are kept as they are used, and add_row() may be called.
  bool has_random_access() const {
    return form_ != Form::again && precision_ == Precision::single_;
  }
  /// sum += factor row i, centred and weighted.
  void add_row(Index i, float factor, std::span<float> sum) const;

  /// The fold of each row.
  std::vector<Index> fold_of_rows() const;

  struct Piece {
    Index lane, first, fold;
    MatrixView<const float> z;  ///< Precision::double_: neither centred nor weighted yet
  };
  /// One pass.  `exact`: from the features themselves, where 16 bits are kept.
  void for_each(const std::function<void(const Piece&)>& body, bool exact = false);

 private:
  struct Range {
    Index first, rows, fold;
  };
  void add_sums(const TrainingRows::Block& block);
  void keep(Index first, MatrixView<const float> z);
  void pass_over_kept(const std::function<void(const Piece&)>& body) const;
  void pass_again(const std::function<void(const Piece&)>& body);

  TrainingRows& rows_;
  Form form_;
  Precision precision_;
  Index features_;
  std::vector<NormalEquations> folds_;
  Matrix<float> single_;
  Matrix<std::int16_t> fixed_;
  std::vector<float> scale_;
  Matrix<double> y_;
  std::vector<double> weights_;
  std::vector<Range> pieces_;
};

/// Changes the products of a piece's rows (rows x vectors) in place.
using ChangeProducts = std::function<void(const FeatureCache::Piece&, MatrixView<double>)>;

struct PassOptions {
  bool exact = false;    ///< all in double, from the features themselves
  bool products = true;  ///< false: f is given nothing, and fills in all products
  bool sums = true;      ///< false: f's products are not multiplied with Z^T; the result is empty
};

/// Z^T f(Z v^T), one result in each row, for vectors in the rows of v; f may be empty.
/// In the precision of the cache, sums over rows in double.
Matrix<double> product_with_rows(FeatureCache& cache, MatrixView<const double> v,
                                 const ChangeProducts& f, PassOptions options = {});

/// Memory of product_with_rows for so many vectors.
Index product_bytes(Index features, Index vectors);

}  // namespace kerf::detail
