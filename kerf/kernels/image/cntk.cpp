// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/image/cntk.h"

#include <algorithm>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/images/mirror.h"
#include "kerf/kernels/image/cntk_simd.h"

namespace kerf::detail {
namespace {

using cntk_simd::MapShape;
using cntk_simd::Window;

/// Angles whose 1 - cos or 1 + cos is smaller are computed again by differences.
template <class T>
constexpr T kNear = std::is_same_v<T, float> ? T(1e-3) : T(1e-6);

/// Vertical displacements that share working memory.
constexpr Index kDisplacements = 8;

/// What all images of a kernel have in common.
struct Network {
  Network(const CntkOptions& options_, ImageShape shape_)
      : options(options_),
        shape(shape_),
        stride(cntk_simd::line_stride(shape.width, options.filter)),
        window{options.padding == Padding::same ? -(options.filter / 2) : 0, options.filter} {}

  /// Pixels of a side after `layer` convolutions.
  Index side(Index pixels, Index layer) const {
    return options.padding == Padding::same ? pixels : pixels - layer * (options.filter - 1);
  }
  Index map_size() const { return shape.height * stride; }

  CntkOptions options;
  ImageShape shape;
  Index stride;
  Window window;
};

/// Memory of a map with zeros before and after it, for the lines of windows that lie outside.
template <class T>
class Map {
 public:
  explicit Map(const Network& network) : lead_(network.options.filter * network.stride) {
    numbers_.assign(network.map_size() + 2 * lead_, T{0});
  }
  T* data() { return numbers_.data() + lead_; }
  const T* data() const { return numbers_.data() + lead_; }
  /// The first columns of the first lines.
  void clear(Index rows, Index stride, Index columns) {
    for (Index i = 0; i < rows; ++i) std::fill_n(data() + i * stride, columns, T{0});
  }

 private:
  Index lead_;
  std::vector<T> numbers_;
};

/// An image of length 1, channel by channel, and the norms of its windows in every layer.
template <class T>
class PreparedImage {
 public:
  PreparedImage(const Network& network, std::span<const double> pixels) {
    double square = 0;
    for (const double value : pixels) square += value * value;
    length_ = std::sqrt(square);
    const auto [height, width, channels] = network.shape;
    for (Index c = 0; c < channels; ++c) {
      Map<T>& plane = planes_.emplace_back(network);
      for (Index i = 0; i < height && length_ > 0; ++i)
        for (Index j = 0; j < width; ++j)
          plane.data()[i * network.stride + j] =
              static_cast<T>(pixels[(i * width + j) * channels + c] / length_);
    }
    set_norms(network);
  }

  double length() const { return length_; }
  const T* plane(std::size_t channel) const { return planes_[channel].data(); }
  std::size_t channels() const { return planes_.size(); }
  /// 1 / sqrt(N_h), h = 1, 2, ..; 0 where there is no pixel or it is 0.
  const T* inverse(Index layer) const { return inverse_[layer - 1].data(); }
  /// sqrt(M_h) = sqrt(N_h) / q.
  const T* root(Index layer) const { return root_[layer - 1].data(); }

 private:
  void set_norms(const Network& network) {
    const auto [height, width, channels] = network.shape;
    const MapShape whole{height, width, network.stride};
    const double filter = static_cast<double>(network.options.filter);
    Map<T> square(network), lines(network);
    for (const Map<T>& plane : planes_)
      cntk_simd::add_products(plane.data(), plane.data(), network.stride, square.data(), whole);
    for (Index h = 1; h <= network.options.depth; ++h) {
      cntk_simd::window_sums(square.data(), lines.data(), square.data(), whole, network.window);
      T* inverse = inverse_.emplace_back(network).data();
      T* root = root_.emplace_back(network).data();
      Map<T> below(network);
      for (Index i = 0; i < network.side(height, h); ++i)
        for (Index j = 0; j < network.side(width, h); ++j) {
          const Index at = i * network.stride + j;
          const double norm = std::sqrt(static_cast<double>(square.data()[at]));
          inverse[at] = static_cast<T>(norm > 0 ? 1 / norm : 0);
          root[at] = static_cast<T>(norm / filter);
          below.data()[at] = root[at] * root[at];
        }
      square = std::move(below);
    }
  }

  double length_ = 0;
  std::vector<Map<T>> planes_, inverse_, root_;
};

/// The recursion for pairs of pixels of one displacement, p' = p + (rows, cols).
template <class T>
class Displacement {
 public:
  explicit Displacement(const Network& network)
      : network_(network),
        gram_(network),
        sums_(network),
        lines_(network),
        below_(network),
        above_(network),
        rest_(network),
        tangent_(network) {}

  /// Sum of P_L over these pairs.
  double sum(const PreparedImage<T>& y, const PreparedImage<T>& z, Index rows, Index cols) {
    const auto [height, width, channels] = network_.shape;
    shape_ = {height - std::abs(rows), width - std::abs(cols), network_.stride};
    y_origin_ = std::max<Index>(0, -rows) * network_.stride + std::max<Index>(0, -cols);
    z_origin_ = std::max<Index>(0, rows) * network_.stride + std::max<Index>(0, cols);
    // What windows read beyond the pixels must be zero, and another displacement may have been wider.
    const Index end = cntk_simd::line_stride(shape_.cols, network_.options.filter);
    gram_.clear(shape_.rows, network_.stride, end);
    tangent_.clear(shape_.rows, network_.stride, end);
    for (std::size_t c = 0; c < y.channels(); ++c)
      cntk_simd::add_products(y.plane(c) + y_origin_, z.plane(c) + z_origin_, network_.stride,
                              gram_.data(), shape_);
    bool trained = network_.options.train_first_layer;
    if (trained)
      cntk_simd::window_sums(gram_.data(), lines_.data(), tangent_.data(), shape_, network_.window);
    const double area = static_cast<double>(network_.options.filter * network_.options.filter);
    const Index depth = network_.options.depth;
    for (Index h = 1; h <= depth; ++h) {
      set_angles(y, z, h);
      const T* y_root = y.root(h) + y_origin_;
      const T* z_root = z.root(h) + z_origin_;
      if (h == depth)
        return cntk_simd::last_layer(below_.data(), above_.data(), y_root, z_root, network_.stride,
                                     tangent_.data(), shape_) /
               area;
      cntk_simd::layer(below_.data(), above_.data(), y_root, z_root, network_.stride,
                       static_cast<T>(1 / area), gram_.data(), rest_.data(),
                       trained ? tangent_.data() : nullptr, shape_);
      cntk_simd::window_sums(trained ? tangent_.data() : gram_.data(), lines_.data(),
                             tangent_.data(), shape_, network_.window);
      trained = true;
    }
    return 0;
  }

 private:
  /// 1 - a and 1 + a of layer h.
  void set_angles(const PreparedImage<T>& y, const PreparedImage<T>& z, Index h) {
    cntk_simd::window_sums(gram_.data(), lines_.data(), sums_.data(), shape_, network_.window);
    const T* y_inverse = y.inverse(h) + y_origin_;
    const T* z_inverse = z.inverse(h) + z_origin_;
    if (!cntk_simd::angles(sums_.data(), y_inverse, z_inverse, network_.stride, kNear<T>,
                           below_.data(), above_.data(), shape_))
      return;
    for (Index i = 0; i < shape_.rows; ++i)
      for (Index j = 0; j < shape_.cols; ++j) {
        const Index at = i * shape_.stride + j;
        if (!(y_inverse[at] > 0 && z_inverse[at] > 0)) continue;
        if (below_.data()[at] < kNear<T>) below_.data()[at] = redone(y, z, h, i, j, 1);
        if (above_.data()[at] < kNear<T>) above_.data()[at] = redone(y, z, h, i, j, -1);
      }
  }

  /// 1 - sign a for the windows at pixel (i, j), from the windows' differences (sums).  Opposite
  /// windows are met in the first layer only: kappa1 is not negative.
  T redone(const PreparedImage<T>& y, const PreparedImage<T>& z, Index h, Index i, Index j,
           double sign) const {
    const Index stride = network_.stride, first = network_.window.first;
    const Index end = first + network_.window.size, at = i * stride + j;
    const double y_scale = y.inverse(h)[y_origin_ + at];
    const double z_scale = sign * static_cast<double>(z.inverse(h)[z_origin_ + at]);
    double result = 0;
    for (Index a = first; a < end; ++a)
      for (Index b = first; b < end; ++b) {
        const Index k = at + a * stride + b;
        const auto left = [&](const T* v) {
          return static_cast<double>(v[y_origin_ + k]) * y_scale;
        };
        const auto right = [&](const T* v) {
          return static_cast<double>(v[z_origin_ + k]) * z_scale;
        };
        const auto half_square = [](double d) { return 0.5 * d * d; };
        if (h == 1) {
          for (std::size_t c = 0; c < y.channels(); ++c)
            result += half_square(left(y.plane(c)) - right(z.plane(c)));
          continue;
        }
        const double s = left(y.root(h - 1)), t = right(z.root(h - 1));
        result += half_square(s - t) + s * t * static_cast<double>(rest_.data()[k]);
      }
    return static_cast<T>(std::clamp(result, 0.0, 2.0));
  }

  const Network& network_;
  Map<T> gram_, sums_, lines_, below_, above_, rest_, tangent_;
  MapShape shape_{};
  Index y_origin_ = 0, z_origin_ = 0;
};

/// The mean of P_L, times the lengths of the images.  On several threads if the caller has none.
template <class T>
double kernel_value(const Network& network, const PreparedImage<T>& y, const PreparedImage<T>& z) {
  const double lengths = y.length() * z.length();
  if (!(lengths > 0)) return 0;
  const CntkOptions& options = network.options;
  const Index height = network.side(network.shape.height, options.depth);
  const Index width = network.side(network.shape.width, options.depth);
  const auto pixels = static_cast<double>(height * width);
  if (options.pooling == Pooling::none)
    return lengths * Displacement<T>(network).sum(y, z, 0, 0) / pixels;
  std::vector<double> sums(2 * height - 1);
  parallel_for(2 * height - 1, kDisplacements, [&](Index begin, Index end) {
    Displacement<T> displacement(network);
    for (Index k = begin; k < end; ++k)
      for (Index cols = 1 - width; cols < width; ++cols)
        sums[k] += displacement.sum(y, z, k + 1 - height, cols);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return lengths * total / (pixels * pixels);
}

template <class T>
void block_of_pairs(const CntkOptions& options, MatrixView<const double> x,
                    MatrixView<const double> y, MatrixView<T> out) {
  const Network network(options, cntk_image(options, x.cols, "kernel cntk"));
  std::vector<PreparedImage<T>> left, right, turned;
  for (Index i = 0; i < x.rows; ++i) left.emplace_back(network, x.row(i));
  for (Index j = 0; j < y.rows; ++j) right.emplace_back(network, y.row(j));
  for (Index j = 0; j < y.rows && options.mirror; ++j) {
    std::vector<double> image(y.row(j).begin(), y.row(j).end());
    mirror_image(std::span(image), network.shape);
    turned.emplace_back(network, image);
  }
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < y.rows; ++j) {
      const PreparedImage<T>& image = left[i];
      const auto at = static_cast<std::size_t>(j);
      double value = kernel_value(network, image, right[at]);
      if (options.mirror) value = (value + kernel_value(network, image, turned[at])) / 2;
      out(i, j) = static_cast<T>(value);
    }
}

}  // namespace

void check_cntk_options(const CntkOptions& options, const char* owner) {
  KERF_REQUIRE(options.depth >= 2 || options.train_first_layer, usage,
               "{}: {} without {} trains nothing: the kernel is zero", owner, spell("depth", "1"),
               spell_on("train-first-layer"));
  KERF_REQUIRE(options.padding == Padding::valid || options.filter % 2 == 1, usage,
               "{}: {} has no middle; {} wants an odd one, {} any", owner,
               spell("filter", options.filter), spell("padding", "same"),
               spell("padding", "valid"));
  if (options.image != "auto") parse_image_shape(options.image);
}

ImageShape cntk_image(const CntkOptions& options, Index columns, const char* owner) {
  check_cntk_options(options, owner);
  const ImageShape shape =
      options.image == "auto" ? ImageShape{1, 1, columns} : parse_image_shape(options.image);
  KERF_REQUIRE(values_of(shape) == columns, usage,
               "{}: images of {} have {} values, but the rows have {} columns", owner,
               format_image_shape(shape), values_of(shape), columns);
  const Index shrink = options.padding == Padding::same ? 0 : options.depth * (options.filter - 1);
  KERF_REQUIRE(std::min(shape.height, shape.width) > shrink, usage,
               "{}: {} convolutions of {} pixels with {} leave nothing of an image of {}", owner,
               options.depth, options.filter, spell("padding", "valid"), format_image_shape(shape));
  return shape;
}

CntkKernel::CntkKernel(const Options& options) : options_(options) {
  check_cntk_options(options, "kernel cntk");
}

double CntkKernel::value(std::span<const double> x, std::span<const double> y) const {
  double result = 0;
  const auto size = static_cast<Index>(x.size());
  pairs(MatrixView<const double>(x.data(), 1, size), MatrixView<const double>(y.data(), 1, size),
        MatrixView<double>(&result, 1, 1));
  return result;
}

void CntkKernel::pairs(MatrixView<const double> x, MatrixView<const double> y,
                       MatrixView<float> out) const {
  block_of_pairs(options_, x, y, out);
}
void CntkKernel::pairs(MatrixView<const double> x, MatrixView<const double> y,
                       MatrixView<double> out) const {
  block_of_pairs(options_, x, y, out);
}

}  // namespace kerf::detail
