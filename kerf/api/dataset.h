// Rows to learn from or to predict: of files, of memory, or of a stream of one's own.
//
//   kerf::Dataset train = kerf::open_dataset({"train.csv.gz"});
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kerf/api/options.h"
#include "kerf/api/progress.h"
#include "kerf/api/task.h"

namespace kerf {

/// A column of words, one for each row; "" is a missing one.  Words that are all dates, or all amounts
/// such as $12.50, become numbers as in files, unless the option categorical names the column.
struct Words {
  std::string name;
  std::vector<std::string> values;
};

/// Rows in memory with what belongs to them.  Views: what they point to must outlive a dataset made of
/// it (words, names and classes are copied).
struct Table {
  Rows x = {};                      ///< inputs; NaN is a missing number
  MatrixView<const double> y = {};  ///< rows x targets; no columns: there are none
  /// Not empty: y holds whole numbers 0, 1, ... of these.  A dataset and its models count them anew,
  /// numbers by value before words by spelling: see their classes().
  std::vector<std::string> classes = {};
  std::span<const double> weights = {};  ///< empty: every row counts once
  std::vector<std::string> names = {};   ///< one for each column of x; empty: they go by place
  std::vector<Words> words = {};         ///< further columns, beside dense x with names
  ImageShape image = {};                 ///< rows of dense x are images of this shape
};

/// Rows that are made or fetched block by block, as often as they are asked for.
class KERF_API RowStream {
 public:
  virtual ~RowStream() = default;
  /// Starts again at the first row.
  virtual void rewind() = 0;
  /// Fills `block` with the next rows, whose memory stays valid until the next call; false at the end.
  /// Every block has the same columns, names, classes and shapes.  What it throws comes out of the call
  /// that read it; it is called by one thread at a time, which is not always the same.
  virtual bool next(Table& block) = 0;
};

/// Movable, not copyable; one that was moved from can only be assigned to.  One thread at a time.
class KERF_API Dataset {
 public:
  Dataset(Dataset&&) noexcept;
  Dataset& operator=(Dataset&&) noexcept;
  ~Dataset();

  /// Rows and columns as a model sees them: words are one column for each of their values.  Rows that
  /// Model::open() opened are counted when they have been read; until then 0.
  Index rows() const;
  Index columns() const;
  Task task() const;
  /// Names by class number; none for a regression.
  const std::vector<std::string>& classes() const;
  /// What the columns were taken for, where that may not be what was meant, in sentences.
  const std::vector<std::string>& notes() const;

  struct Inside;
  explicit Dataset(std::unique_ptr<Inside> inside);
  Inside& inside() const { return *inside_; }

 private:
  std::unique_ptr<Inside> inside_;
};

/// Opens files (CSV, TSV, LIBSVM, npy, npz, idx, CIFAR; compressed too) as one dataset, in order, and
/// passes over them once to learn what their columns are.  "-" is standard input.
/// Error (data) with file:line:column for what cannot be read, Error (usage) for wrong options.
KERF_API Dataset open_dataset(const std::vector<std::string>& paths,
                              const DataOptions& options = {}, const Context& context = {});
/// The same of rows in memory.  Of the options drop, missing, max_levels and rows count: the table says
/// the rest.
KERF_API Dataset open_dataset(const Table& table, const DataOptions& options = {},
                              const Context& context = {});
/// The same of a stream, which must outlive the dataset.
KERF_API Dataset open_dataset(RowStream& rows, const DataOptions& options = {},
                              const Context& context = {});

}  // namespace kerf
