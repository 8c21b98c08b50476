// The contract of exact kernels: the values that feature maps must reproduce.
//
// Kernels are the oracle: obvious code, double precision, and no header of features or sketch.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kerf/core/options.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/kernels/automatic.h"

namespace kerf::detail {

/// The number of a pair of rows that a kernel is a function of.
enum class PairGeometry {
  any,               ///< none of the below: the kernel has value() only
  angle,             ///< u = 1 - cos and v = 1 + cos of the angle between the rows
  squared_distance,  ///< |x - y|^2 scale^2
  l1_distance,       ///< |x - y|_1 scale
  cauchy_product,    ///< prod_j (1 + (x_j - y_j)^2 scale^2)
};

/// What gram.h needs to know to form those numbers for a block of pairs at once.
struct PairForm {
  PairGeometry geometry = PairGeometry::any;
  double scale = 1;
  double bias = 0;           ///< angle: constant coordinate appended to the rows
  bool homogeneous = false;  ///< angle: the function of the angle is multiplied by |x| |y|
};

/// A positive semi-definite function k(x, y).  Immutable, safe from several threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// k(x, y); the rows must have the same length.
  double operator()(std::span<const double> x, std::span<const double> y) const;

  /// out(i, j) = k(x_i, y_j): every entry from the function above.
  /// Slow and obvious; gram.h is the fast way.
  void gram(MatrixView<const double> x, MatrixView<const double> y, MatrixView<double> out) const;

  /// The same, on the calling thread; what gram.h calls for kernels whose form is `any`.  A kernel
  /// overrides both where a block of pairs costs less than its entries.
  virtual void pairs(MatrixView<const double> x, MatrixView<const double> y,
                     MatrixView<float> out) const;
  virtual void pairs(MatrixView<const double> x, MatrixView<const double> y,
                     MatrixView<double> out) const;

  /// A kernel with a form other than `any` overrides both functions below.
  virtual PairForm form() const { return {}; }
  /// out[k] = the kernel (without the factor |x| |y|) of pair k from its number.  Angles have
  /// number = 1 - cos and other = 1 + cos, distances have no other.  out may be `number`.
  virtual void pointwise(std::span<const float> number, std::span<const float> other,
                         std::span<float> out) const;
  virtual void pointwise(std::span<const double> number, std::span<const double> other,
                         std::span<double> out) const;

 private:
  virtual double value(std::span<const double> x, std::span<const double> y) const = 0;
};

/// A kernel with options that --map auto tries.
struct KernelCandidate {
  struct Setting {
    const char* option;
    std::string value;
    std::string shown;  ///< the same in the data's own units, for people
  };
  std::vector<Setting> settings;
  /// Among the candidates of all kernels: the lower ones stand first, which decides between equals.
  int place = 1000;

  Params options() const {
    Params all;
    for (const Setting& setting : settings) all[setting.option] = setting.value;
    return all;
  }
};

/// One line of the registry.
struct KernelEntry {
  const char* name;
  const char* summary;
  std::vector<OptionInfo> (*options)();
  /// Reads and checks the options; "auto" must have been resolved to a number.
  std::unique_ptr<Kernel> (*make)(const Params& params);
  /// Its class in Python; null: made of its name.
  const char* python_name = nullptr;
  /// Works out what is "auto" (automatic.h); null: nothing is.
  void (*resolve)(OpenOptions& options) = nullptr;
  /// It looks at neighbouring pixels: images are scaled channel by channel for it (scaling.h).
  bool convolves = false;
  /// Its candidates in --map auto; null: none.  The first map of the registry that stands for one
  /// (FeatureMapEntry::stands_for) gives its features.
  std::vector<KernelCandidate> (*candidates)(const DataLook& data) = nullptr;
  /// What it computes, in a sentence or two with formulas as they stand in reStructuredText.
  const char* formula = "";
};

/// The registry line of a kernel class: it names itself and its options.
template <class K>
constexpr KernelEntry kernel_entry() {
  KernelEntry entry = {
      K::kName, K::kSummary, list_options<typename K::Options>,
      [](const Params& params) -> std::unique_ptr<Kernel> {
        const std::string owner = std::string("kernel ") + K::kName;
        return std::make_unique<K>(read_options<typename K::Options>(params, owner));
      }};
  if constexpr (requires(OpenOptions & options) { K::Options::resolve(options); })
    entry.resolve = K::Options::resolve;
  if constexpr (requires { K::kPythonName; }) entry.python_name = K::kPythonName;
  if constexpr (requires { K::kConvolves; }) entry.convolves = K::kConvolves;
  if constexpr (requires { &K::candidates; }) entry.candidates = K::candidates;
  if constexpr (requires { K::kFormula; }) entry.formula = K::kFormula;
  return entry;
}

std::span<const KernelEntry> kernels();
/// The entry of that name; an unknown name is an Error (usage) with the nearest match.
const KernelEntry& find_kernel(std::string_view name);
/// Works out what is "auto" among a kernel's options; nothing for a name that is no kernel's, which
/// its reader will refuse.
void resolve_as_kernel(std::string_view name, OpenOptions& options);

/// The number behind an automatic option; Error (usage) if it is still "auto".
double resolved(const std::optional<double>& value, std::string_view owner, std::string_view name);

}  // namespace kerf::detail
