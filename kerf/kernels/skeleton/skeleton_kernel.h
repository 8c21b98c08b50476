// The exact kernel of a computation skeleton (skeleton.h), for one row against many.
//
// Error:      1e-15 times the number of layers.
// Cost:       O(edges) a pair: every node is evaluated once, however many nodes use it, and for
//             several pairs at once.
// Reference:  Daniely, Frostig, Gupta, Singer 2017, section 5.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/kernels/kernel.h"
#include "kerf/kernels/skeleton/skeleton_text.h"

namespace kerf::detail {

/// What names a skeleton among the options of the kernel and of the map.
struct SkeletonOptions {
  std::string skeleton = "circle 1, full relu";
  std::string image = "auto";

  /// A file by what it holds, a table by its columns.
  static void resolve(OpenOptions& options);
  void describe(OptionVisitor& v) {
    v.text("skeleton", skeleton,
           "layers, as in 'circle 0.5, conv 5/2 relu, full relu', or a JSON file");
    v.may_be_file(load_skeleton_text);
    v.text("image", image, "shape of the rows as images, HxWxC; auto: that of the data");
  }

  /// The skeleton for rows of `columns` numbers (0: any number).
  Skeleton build(Index columns = 0) const;
  /// What that would take.
  SkeletonSize size(Index columns = 0) const;
};

class SkeletonKernel final : public Kernel {
 public:
  using Options = SkeletonOptions;
  static constexpr const char* kName = "skeleton";
  static constexpr const char* kSummary = "compositional kernel of a computation skeleton";
  static constexpr const char* kFormula =
      "The kernel of a computation skeleton: power series of means of base kernels, node by"
      " node; `skeleton='circle 1, conv 4/2 relu, full relu'`, `image='24x24x3'`.";

  explicit SkeletonKernel(const Options& options) : SkeletonKernel(options.build()) {}
  explicit SkeletonKernel(Skeleton skeleton);

  const Skeleton& skeleton() const { return skeleton_; }
  void pairs(MatrixView<const double> x, MatrixView<const double> y,
             MatrixView<float> out) const override;
  void pairs(MatrixView<const double> x, MatrixView<const double> y,
             MatrixView<double> out) const override;

 private:
  double value(std::span<const double> x, std::span<const double> y) const override;
  template <class T>
  void block(MatrixView<const double> x, MatrixView<const double> y, MatrixView<T> out) const;
  /// The numbers that base kernels are computed of.
  void prepare(std::span<const double> row, std::span<double> out) const;

  Skeleton skeleton_;
  std::vector<std::size_t> offset_;  // of each input's numbers
  std::size_t numbers_ = 0;
};

}  // namespace kerf::detail
