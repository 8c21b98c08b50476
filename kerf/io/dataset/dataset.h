// Data files to encoded rows: what trainer, program and Python use.
//
//   Dataset data = open_dataset({"train.csv.gz"}, options, key);
//   while (data.source->next(block)) ...                       // as often as wanted, after
//   rewind() auto rows = open_for_model({"new.csv"}, data.encoding, options);   // one pass,
//   standard input too
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kerf/core/progress.h"
#include "kerf/core/rows/row_source.h"
#include "kerf/core/system/parallel.h"
#include "kerf/io/table/data_options.h"
#include "kerf/io/table/encoder.h"
#include "kerf/io/table/encoding.h"
#include "kerf/io/table/missing_words.h"
#include "kerf/io/table/raw_fingerprint.h"

namespace kerf::detail {

/// Encoded rows of files, block by block.  While the caller works on a block, the next one is read
/// and encoded on another thread.  A pass that reads other rows than the first one is an Error.
class EncodedSource final : public RowSource {
 public:
  /// `rows`: read the first rows only (0: all).  `id`: the column of the file that ids() are of.
  EncodedSource(std::unique_ptr<io::Reader> reader, const Encoding& encoding, std::string name,
                io::Targets targets, Index rows, io::PassGuard guard = {},
                Index id = io::kNoColumn);
  ~EncodedSource() override;

  Index cols() const override { return encoding_.inputs; }
  void rewind() override;
  bool next(RowBlock& block) override;
  double part_read() const override { return part_; }

  /// Whether blocks come with targets.
  bool has_targets() const { return encoder_->has_targets(); }
  /// What was not as in training, in the rows read since the last rewind().
  const io::EncodeCounts& counts() const { return counts_; }
  /// What names the rows of the block handed out last, as it is written; empty: no column does.
  const std::vector<std::string>& ids() const { return ids_; }
  /// The title of that column; "": it has none.
  std::string id_name() const;
  const Encoding& encoding() const { return encoding_; }
  /// Encodes rows of the same columns that somebody kept; counts() does not count them.
  void encode(const io::RawBlock& raw, RowBlock& out) const;
  /// Reads with another encoding of the same columns from now on; rewinds.
  void set_encoding(const Encoding& encoding);
  /// How messages call the rows.
  const std::string& name() const { return name_; }
  /// What it reads, at the first row; nothing is left to be read here until it is put back.
  std::unique_ptr<io::Reader> take_reader();
  void put_back(std::unique_ptr<io::Reader> reader);

 private:
  void make_encoder();
  void tell_reader();
  void read_ahead();
  void number_rows();
  void take_ids();

  std::unique_ptr<io::Reader> reader_;
  Encoding encoding_;
  std::string name_;
  io::Targets targets_;
  Index most_rows_;
  std::unique_ptr<io::Encoder> encoder_;
  io::EncodeCounts counts_;  // of the blocks handed out
  double part_ = 0;          // and how much of the file they are
  io::PassGuard guard_;
  Index id_;
  std::vector<std::string> ids_;
  const io::MissingWords missing_words_;  // of the encoding, which keeps them

  // What follows belongs to the reading thread between start() and wait().
  io::RawBlock raw_;
  RowBlock ahead_;
  std::vector<std::string> ahead_ids_;
  Index raw_rows_ = 0, rows_ = 0;
  double ahead_part_ = 0;
  Background reading_;  // last: its destructor waits for the thread that uses all of the above
};

struct Dataset {
  DataOptions options;  ///< that the files were opened with
  Encoding encoding;
  DataSummary summary;
  std::unique_ptr<EncodedSource> source;
  std::vector<double> variance;  ///< of each input column; exact where mean_square - mean^2 is not
  io::RawBlock raw_sample;       ///< the rows of summary.sample as they stand in the file
  Index dropped_rows = 0;        ///< left out for a missing cell
  Index missing_cells = 0;       ///< filled with the mean of their column
  std::vector<std::string> notes;  ///< columns that may not be what they were taken for
  bool precision_told = false;     ///< whoever opened it says what warn_of_precision() says
  std::string header_note;         ///< what the first row was taken for, where that was worked out

  /// Subtracts its mean, in double, from every column whose values would lose digits as floats
  /// (mean beyond 256 standard deviations).  For a fit that standardises columns anyway; changes
  /// encoding, summary and source.
  void centre_large_columns();
  /// From now on dense rows come in double too, for exact kernels; changes encoding and source.
  void keep_double();
  /// Error (data) if nothing of a column is left as floats; otherwise what warn_of_precision() says.
  std::vector<std::string> check_precision() const;
};

/// Sentences about columns of which floats keep little: far from zero, or hardly varying.
std::vector<std::string> warn_of_precision(std::span<const double> mean,
                                           std::span<const double> variance,
                                           const std::vector<std::string>& names);

/// Every file that is read of these paths: those of folders, and labels beside images.
std::vector<std::string> files_read(const std::vector<std::string>& paths);

/// Opens files (one source, in order) for training: one pass to learn about them.  "-" is standard
/// input, kept in a temporary file.
Dataset open_dataset(const std::vector<std::string>& paths, const DataOptions& options,
                     rng::Key key, const Progress& progress = {});
/// The same of a reader that is open already, called `name` in messages; it is taken only if all went
/// well.
Dataset open_dataset(std::unique_ptr<io::Reader>&& reader, const DataOptions& options,
                     const std::string& name, rng::Key key, const Progress& progress = {});

/// Rows with targets to score a model of `training` on: delimiter and header as in its files, but all
/// rows, and labels of their own.  Error (usage) if they have no targets.
std::unique_ptr<EncodedSource> open_test(const Dataset& training,
                                         const std::vector<std::string>& paths,
                                         const std::string& labels);

/// How files beside those of `training` are read.
DataOptions options_beside(const Dataset& training, const std::string& labels = {});

/// Opens files for use with a model: columns as `encoding` has them, one pass, no look ahead.  Of
/// the options, labels, weights, delimiter, header and rows count; the rest is the encoding's.  `target`: the
/// column of these files that holds the target ("": the one that did in training).  `id`: the column
/// that names their rows ("": none), which the model need not know.
std::unique_ptr<EncodedSource> open_for_model(const std::vector<std::string>& paths,
                                              const Encoding& encoding, const DataOptions& options,
                                              io::Targets targets = io::Targets::optional,
                                              const std::string& target = {},
                                              const std::string& id = {});

}  // namespace kerf::detail
