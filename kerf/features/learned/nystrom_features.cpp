// SPDX-License-Identifier: Apache-2.0
#include "kerf/features/learned/nystrom_features.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/rows/data_summary.h"
#include "kerf/features/learned/cluster_centres.h"
#include "kerf/features/learned/fitted_map.h"
#include "kerf/features/learned/kernel_columns.h"
#include "kerf/kernels/gram/gram.h"
#include "kerf/linalg/blas.h"

namespace kerf::detail {
namespace {

constexpr Index kScoreRows = 1024;                // sample behind leverage scores
constexpr Index kCentreRows = 16;                 // behind each centre of a cluster,
constexpr Index kCentreNumbers = Index{1} << 26;  // in all, but two rows a centre at least
constexpr Index kBlockRows = 1024;
constexpr double kRidge = 1e-6;  // of the mean diagonal
constexpr double kGentle = 200;  // most that rounding may grow by
constexpr const char* kLandmarks = "landmarks";

/// The option that names one of all kernels.
const OptionInfo& kernel_choice() {
  static const OptionInfo info = [] {
    OptionInfo made{"kernel", OptionType::choice, NystromOptions().kernel, "exact kernel"};
    for (const KernelEntry& kernel : kernels()) made.choices.emplace_back(kernel.name);
    return made;
  }();
  return info;
}

/// The options of all kernels, each name once: as the first kernel has it, with the words of all.
const std::vector<OptionInfo>& options_of_kernels() {
  static const std::vector<OptionInfo> all = [] {
    std::vector<OptionInfo> found;
    std::map<std::string, std::map<std::string, std::vector<std::string>>> owners;
    for (const KernelEntry& kernel : kernels())
      for (OptionInfo& info : kernel.options()) {
        owners[info.name][info.help].emplace_back(kernel.name);
        if (std::ranges::find(found, info.name, &OptionInfo::name) == found.end())
          found.push_back(std::move(info));
      }
    for (OptionInfo& info : found) {
      std::string words;
      for (const auto& [help, names] : owners[info.name])
        words +=
            fmt::format("{}of {}: {}", words.empty() ? "" : "; ", fmt::join(names, ", "), help);
      info.help = words;
    }
    return found;
  }();
  return all;
}

double mean_diagonal(const Matrix<double>& k) {
  double sum = 0;
  for (Index i = 0; i < k.rows(); ++i) sum += k(i, i);
  return sum / static_cast<double>(k.rows());
}

Matrix<double> gram_of(const Kernel& kernel, const Matrix<float>& rows) {
  Matrix<double> k(rows.rows(), rows.rows());
  gram<double>(kernel, RowsView(rows.view()), RowsView(rows.view()), k.view());
  return k;
}

/// R^-1 of k + ridge I = R^T R, with a larger ridge if it is not positive definite otherwise.
Matrix<float> inverse_factor(const Matrix<double>& k, double ridge) {
  const Index m = k.rows();
  Matrix<double> r(m, m);
  for (;; ridge *= 10) {
    copy_rows(k.view(), r.view());
    for (Index i = 0; i < m; ++i) r(i, i) += ridge;
    if (blas::cholesky(r.view()) == 0) break;
    KERF_REQUIRE(ridge < 1e3 * mean_diagonal(k), numeric,
                 "the kernel of the landmarks is not positive definite");
  }
  blas::triangular_inverse(r.view());
  Matrix<float> out(m, m);
  out.fill(0);
  for (Index i = 0; i < m; ++i)
    for (Index j = i; j < m; ++j) out(i, j) = static_cast<float>(r(i, j));
  return out;
}

/// Whether sums of kernel columns in single precision can stand for sums of whitened ones: their
/// rounding grows by the eigenvalues of K^-1, of which (K^-1)_ii = |row i of R^-1|^2 tells.
bool is_gentle(const Matrix<float>& inverse, const Matrix<double>& k) {
  double largest = 0;
  for (Index i = 0; i < inverse.rows(); ++i) {
    double square = 0;
    for (const float v : inverse.row(i)) square += static_cast<double>(v) * v;
    largest = std::max(largest, square);
  }
  return largest * mean_diagonal(k) < kGentle;
}

Matrix<float> uniform_rows(RowSource& source, Index count, rng::Key key, const Progress& progress,
                           Index& total) {
  SampleKeeper keeper(key, count);
  RowBlock block;
  total = 0;
  source.rewind();
  while (source.next(block)) {
    keeper.add(block);
    total += block.rows();
    report(progress, "landmarks", total, rows_expected(source, total));
  }
  KERF_REQUIRE(total > 0, data, "there are no rows to draw landmarks from");
  const RowBlock sample = keeper.take();
  return dense_copy<float>(sample.x());
}

/// t with sum_i s_i / (s_i + t) = half the eigenvalues' number.
double ridge_of_half_dimension(std::vector<double> eigenvalues) {
  for (double& s : eigenvalues) s = std::max(s, 0.0);
  const double most = *std::ranges::max_element(eigenvalues);
  double low = std::log(most) - 40, high = std::log(most) + 40;
  for (int step = 0; step < 80; ++step) {
    const double middle = (low + high) / 2, t = std::exp(middle);
    double dimension = 0;
    for (const double s : eigenvalues) dimension += s / (s + t);
    (dimension > static_cast<double>(eigenvalues.size()) / 2 ? low : high) = middle;
  }
  return std::exp(high);
}

/// The rows that win a race in which row i arrives at time -log(u_i) / score_i.
class WeightedSample {
 public:
  WeightedSample(Index size, Index cols, rng::Key key) : rows_(size, cols), key_(key) {}

  void offer(Index row, double score, const RowsView& x, Index i) {
    const double time = -std::log(rng::uniform(key_, static_cast<std::uint64_t>(row))) / score;
    Index slot = static_cast<Index>(heap_.size());
    if (slot == rows_.rows()) {
      if (time >= heap_.front().time) return;
      std::ranges::pop_heap(heap_, {}, &Member::time);
      slot = heap_.back().slot;
      heap_.pop_back();
    }
    heap_.push_back({time, row, slot});
    std::ranges::push_heap(heap_, {}, &Member::time);
    std::ranges::fill(rows_.row(slot), 0.0f);
    if (x.is_sparse()) {
      const SparseRow from = x.sparse().row(i);
      for (std::size_t k = 0; k < from.values.size(); ++k)
        rows_(slot, from.columns[k]) = from.values[k];
    } else {
      std::ranges::copy(x.dense().row(i), rows_.row(slot).begin());
    }
  }

  /// In the order of the stream.
  Matrix<float> take() {
    std::ranges::sort(heap_, {}, &Member::row);
    Matrix<float> out(std::ssize(heap_), rows_.cols());
    for (Index i = 0; i < out.rows(); ++i)
      std::ranges::copy(rows_.row(heap_[i].slot), out.row(i).begin());
    return out;
  }

 private:
  struct Member {
    double time;
    Index row, slot;
  };
  Matrix<float> rows_;
  rng::Key key_;
  std::vector<Member> heap_;  // latest first
};

Matrix<float> leverage_rows(RowSource& source, const NystromOptions& options, rng::Key key,
                            const Progress& progress) {
  Index total = 0;
  const Matrix<float> sample = uniform_rows(source, std::min(options.features, kScoreRows),
                                            key.child("score"), progress, total);
  const auto kernel = NystromFeatures::kernel(options);
  const Matrix<double> k = gram_of(*kernel, sample);
  Matrix<double> vectors = k.copy();
  std::vector<double> eigenvalues(k.rows());
  blas::symmetric_eigen(vectors.view(), eigenvalues);
  // p t: eigenvalues of the sample's matrix stand for p times those of all rows.
  const double pt = std::max(ridge_of_half_dimension(eigenvalues), kRidge * mean_diagonal(k));
  const CompressedFeatures explained(
      std::make_unique<KernelColumns>(NystromFeatures::kernel(options), sample.copy()),
      inverse_factor(k, pt), sample.rows());
  WeightedSample landmarks(options.features, source.cols(), key.child("race"));
  Matrix<float> z;
  for_each_block(source, kBlockRows, [&](Index first, const RowsView& x) {
    z.resize(x.rows(), explained.out_dim());
    explained.transform(x, z.view());
    std::vector<double> row(x.cols());
    for (Index i = 0; i < x.rows(); ++i) {
      copy_row(x, i, row);
      const double diagonal = (*kernel)(row, row);
      double square = 0;
      for (const float v : z.row(i)) square += static_cast<double>(v) * v;
      // Scores up to a common factor; a row that is explained fully may still be drawn.
      landmarks.offer(first + i, std::max(diagonal - square, 1e-6 * diagonal) + 1e-300, x, i);
    }
    report(progress, "landmarks", first + x.rows(), total);
  });
  return landmarks.take();
}

Index centre_rows(Index m, Index cols) {
  return std::clamp(kCentreNumbers / std::max<Index>(cols, 1), 2 * m, kCentreRows * m);
}

Matrix<float> landmark_rows(RowSource& source, const NystromOptions& options, rng::Key key,
                            const Progress& progress) {
  const Index m = options.features;
  Index total = 0;
  switch (options.landmarks) {
    case NystromOptions::Landmarks::leverage:
      return leverage_rows(source, options, key, progress);
    case NystromOptions::Landmarks::centres:
      return cluster_centres(
          uniform_rows(source, centre_rows(m, source.cols()), key.child("sample"), progress, total),
          m, key.child("centre"));
    default:
      return uniform_rows(source, m, key.child("landmark"), progress, total);
  }
}

}  // namespace

void NystromOptions::resolve(OpenOptions& options) {
  // First as its own kernel wants it; what is left belongs to others and is not used.
  const std::string own = options.given("kernel", NystromOptions().kernel.c_str());
  resolve_as_kernel(own, options);
  for (const KernelEntry& other : kernels())
    if (other.name != own) resolve_as_kernel(other.name, options);
}

void NystromOptions::describe(OptionVisitor& v) {
  v.described(kernel_choice(), kernel);
  v.integer("features", features, {1, 1 << 20}, "number of landmark rows");
  v.choice("landmarks", landmarks,
           "landmark rows: drawn uniformly, by leverage, or centres of clusters");
  for (const OptionInfo& info : options_of_kernels())
    v.described(info, kernel_options.try_emplace(info.name, info.default_value).first->second);
}

std::unique_ptr<Kernel> NystromFeatures::kernel(const Options& options) {
  const KernelEntry& entry = find_kernel(options.kernel);
  const Params all = write_options(options);
  Params params;
  for (const OptionInfo& option : entry.options()) params[option.name] = all.at(option.name);
  return entry.make(params);
}

MapState NystromFeatures::fit(RowSource& rows, const Options& options, rng::Key key,
                              const Progress& progress) {
  Matrix<float> landmarks = landmark_rows(rows, options, key, progress);
  const Matrix<double> k = gram_of(*kernel(options), landmarks);
  MapState state;
  state[kCompression] = inverse_factor(k, std::max(kRidge * mean_diagonal(k), 1e-30));
  if (is_gentle(state[kCompression], k)) state[kPenalty] = copy_of<float>(k.view());
  state[kLandmarks] = std::move(landmarks);
  return state;
}

std::unique_ptr<FeatureMap> NystromFeatures::restore(Index in_dim, const Options& options, rng::Key,
                                                     const MapState& state) {
  const Matrix<float>& landmarks = checked_array(state, kLandmarks, options.features, in_dim);
  if (state.contains(kPenalty)) checked_array(state, kPenalty, landmarks.rows(), landmarks.rows());
  auto columns = std::make_unique<KernelColumns>(kernel(options), landmarks.copy());
  if (!state.contains(kCompression)) return columns;
  const Matrix<float>& a = checked_array(state, kCompression, landmarks.rows(), landmarks.rows());
  return std::make_unique<CompressedFeatures>(std::move(columns), a, options.features);
}

Index NystromFeatures::bytes(Index in_dim, const Options& options) {
  const Index m = options.features, s = std::min(m, kScoreRows);
  // The sample is there twice while it is put together.
  const Index sample =
      options.landmarks == Options::Landmarks::centres ? centre_rows(m, in_dim) : 0;
  return 8 * sample * in_dim + m * (16 * in_dim + 28 * m) + 4 * kBlockRows * (in_dim + s);
}

Index NystromFeatures::restored_bytes(Index, const Options&, const MapState& state) {
  return 2 * state_bytes(state);  // the arrays, and a copy in the form that products take
}

}  // namespace kerf::detail
