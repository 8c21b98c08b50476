// SPDX-License-Identifier: Apache-2.0
#include "kerf/images/image_steps.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/images/covariance.h"

namespace kerf::detail {
namespace {

/// Rows that one thread prepares at a time.
constexpr Index kPieceRows = 32;

Index patch_values(const ImageSteps& steps) {
  return steps.patch * steps.patch * steps.input.channels;
}

Index patches_across(Index pixels, Index patch, Index stride) {
  return (pixels - patch) / stride + 1;
}

void standardise(std::span<float> image) {
  double sum = 0, squares = 0;
  for (const float v : image) sum += v;
  const double mean = sum / static_cast<double>(image.size());
  for (const float v : image) squares += (v - mean) * (v - mean);
  const double count = static_cast<double>(image.size());
  const double deviation = std::max(std::sqrt(squares / count), 1 / std::sqrt(count));
  for (float& v : image) v = static_cast<float>((v - mean) / deviation);
}

void copy_crop(std::span<const float> image, ImageShape from, ImageShape to, float* out) {
  const Index top = (from.height - to.height) / 2, left = (from.width - to.width) / 2;
  for (Index y = 0; y < to.height; ++y) {
    const float* row = image.data() + ((top + y) * from.width + left) * from.channels;
    out = std::copy_n(row, to.width * to.channels, out);
  }
}

/// The patches of one image, one per row of `out`, from left to right and top to bottom.
void copy_patches(std::span<const float> image, ImageShape shape, Index patch, Index stride,
                  MatrixView<float> out) {
  Index at = 0;
  const Index run = patch * shape.channels;
  for (Index y = 0; y + patch <= shape.height; y += stride)
    for (Index x = 0; x + patch <= shape.width; x += stride, ++at) {
      float* to = out.row(at).data();
      for (Index r = 0; r < patch; ++r)
        to = std::copy_n(image.data() + ((y + r) * shape.width + x) * shape.channels, run, to);
    }
}

/// Crop and per-image standard of rows begin .. end: what comes before the fitted steps.
void prepare_rows(const ImageSteps& steps, const Matrix<float>& x, Index begin, Index end,
                  Matrix<float>& out) {
  const ImageShape shape = steps.cropped();
  out.resize(end - begin, values_of(shape));
  for (Index i = begin; i < end; ++i) {
    const auto to = out.row(i - begin);
    copy_crop(x.row(i), steps.input, shape, to.data());
    if (steps.factor != 1)
      for (float& v : to) v *= steps.factor;
    if (steps.per_image) standardise(to);
  }
}

void project_patches(const ImageSteps& steps, const Matrix<float>& images, MatrixView<float> out) {
  const ImageShape shape = steps.output();
  Matrix<float> patches(shape.height * shape.width, patch_values(steps));
  for (Index i = 0; i < images.rows(); ++i) {
    copy_patches(images.row(i), steps.cropped(), steps.patch, steps.stride, patches.view());
    steps.patch_basis.apply(patches.view(), {out.row(i).data(), patches.rows(), shape.channels});
  }
}

/// Calls receive(rows) with the images of each block, prepared by the steps fitted so far.
template <class Receive>
void for_each_prepared(RowSource& source, const ImageSteps& steps, const char* what,
                       const Progress& progress, Receive receive) {
  RowBlock block;
  Index done = 0;
  for (source.rewind(); source.next(block);) {
    KERF_REQUIRE(!block.is_sparse, usage, "sparse rows cannot be images");
    steps.apply(block);
    receive(block.dense);
    done += block.dense.rows();
    report(progress, what, done, rows_expected(source, done));
  }
  source.rewind();
}

LinearStep fit_zca(RowSource& source, const ImageSteps& steps, double epsilon,
                   const Progress& progress) {
  Covariance covariance(values_of(steps.output()));
  for_each_prepared(source, steps, "whitening", progress,
                    [&](const Matrix<float>& rows) { covariance.add(rows.view()); });
  return covariance.zca(epsilon);
}

LinearStep fit_patch_pca(RowSource& source, const ImageSteps& steps, Index patch, Index stride,
                         Index components, const Progress& progress) {
  const ImageShape shape = steps.output();
  Covariance covariance(patch * patch * shape.channels);
  Matrix<float> patches(
      patches_across(shape.height, patch, stride) * patches_across(shape.width, patch, stride),
      patch * patch * shape.channels);
  for_each_prepared(source, steps, "patches", progress, [&](const Matrix<float>& rows) {
    for (Index i = 0; i < rows.rows(); ++i) {
      copy_patches(rows.row(i), shape, patch, stride, patches.view());
      covariance.add(patches.view());
    }
  });
  return covariance.principal(components);
}

}  // namespace

LinearStep::LinearStep(Matrix<float> matrix, std::vector<float> offset)
    : matrix_(std::move(matrix)),
      offset_(std::move(offset)),
      projection_(matrix_.cols(), matrix_.rows(), [&](Index j, std::span<float> direction) {
        std::ranges::copy(matrix_.row(j), direction.begin());
        return offset_[j];
      }) {}

ImageShape ImageSteps::cropped() const {
  return height > 0 ? ImageShape{height, width, input.channels} : input;
}

ImageShape ImageSteps::output() const {
  const ImageShape shape = cropped();
  if (!patch_basis.present()) return shape;
  return {patches_across(shape.height, patch, stride), patches_across(shape.width, patch, stride),
          patch_basis.matrix().rows()};
}

void ImageSteps::check() const {
  const ImageShape shape = cropped();
  KERF_REQUIRE(input.height >= 1 && input.width >= 1 && input.channels >= 1 &&
                   std::isfinite(factor) && (height == 0) == (width == 0) &&
                   shape.height <= input.height && shape.width <= input.width,
               data, "the crop does not fit the images");
  KERF_REQUIRE(!whitening.present() ||
                   (whitening.matrix().rows() == values_of(shape) &&
                    whitening.matrix().cols() == values_of(shape) && !patch_basis.present()),
               data, "the whitening does not fit the images");
  KERF_REQUIRE(!patch_basis.present() ||
                   (patch >= 1 && stride >= 1 && patch <= std::min(shape.height, shape.width) &&
                    patch_basis.matrix().cols() == patch_values(*this)),
               data, "the patches do not fit the images");
}

void ImageSteps::apply(RowBlock& block) const {
  KERF_REQUIRE(!block.is_sparse && block.dense.cols() == values_of(input), data,
               "rows of {} values are not images of {}x{}x{}", block.x().cols(), input.height,
               input.width, input.channels);
  Matrix<float> out(block.dense.rows(), values_of(output()));
  parallel_for(block.dense.rows(), kPieceRows, [&](Index begin, Index end) {
    Matrix<float> prepared;
    prepare_rows(*this, block.dense, begin, end, prepared);
    const auto to = out.view().slice(begin, end);
    if (whitening.present())
      whitening.apply(prepared.view(), to);
    else if (patch_basis.present())
      project_patches(*this, prepared, to);
    else
      std::copy_n(prepared.data(), prepared.rows() * prepared.cols(), to.data);
  });
  block.dense = std::move(out);
  block.wide.resize(0, 0);  // the steps are taken in single precision
  block.image = output();
}

bool any_step(const ImageOptions& options) {
  return !options.crop.empty() || options.per_image || options.zca > 0 || options.patch > 0;
}

std::pair<Index, Index> parse_crop(const std::string& text) {
  Index height = 0, width = 0;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, height);
  const bool has_x = first.ec == std::errc() && first.ptr < end && *first.ptr == 'x';
  const auto second = has_x ? std::from_chars(first.ptr + 1, end, width) : first;
  KERF_REQUIRE(has_x && second.ec == std::errc() && second.ptr == end && height > 0 && width > 0,
               usage, "{} is '{}': it must be HEIGHTxWIDTH, as in 24x24", spell("crop"), text);
  return {height, width};
}

Index image_steps_bytes(ImageShape image, const ImageOptions& options) {
  const Index d = options.zca > 0 ? values_of(image) : 0;
  const Index p = options.patch * options.patch * image.channels;
  // The covariance in double, and LAPACK's eigenvectors and workspace of twice that.
  return 8 * 4 * (d * d + p * p);
}

ImageSteps fit_image_steps(RowSource& source, ImageShape image, bool is_bytes,
                           const ImageOptions& options, const Progress& progress) {
  KERF_REQUIRE(image.present(), usage, "the rows are not images: say their shape with {}",
               spell("image", "HxWxC"));
  KERF_REQUIRE(options.zca == 0 || options.patch == 0, usage,
               "{} and {} are two ways to whiten: take one", spell_on("zca"), spell("patch"));
  ImageSteps steps;
  steps.input = image;
  if (is_bytes) steps.factor = 1.0f / 255;
  if (!options.crop.empty()) std::tie(steps.height, steps.width) = parse_crop(options.crop);
  KERF_REQUIRE(steps.height <= image.height && steps.width <= image.width, usage,
               "{} is larger than the images, {}x{}", spell("crop", options.crop), image.height,
               image.width);
  const ImageShape cropped = steps.cropped();
  KERF_REQUIRE(options.patch <= std::min(cropped.height, cropped.width), usage,
               "{} is larger than the images, {}x{}", spell("patch", options.patch), cropped.height,
               cropped.width);
  const Index inputs = options.patch * options.patch * image.channels;
  KERF_REQUIRE(options.patch_components <= inputs, usage, "{}: a patch has {} values",
               spell("patch-components", options.patch_components), inputs);
  steps.per_image = options.per_image;
  if (options.zca > 0) steps.whitening = fit_zca(source, steps, options.zca, progress);
  if (options.patch > 0) {
    const Index components = options.patch_components > 0 ? options.patch_components : inputs;
    steps.patch_basis =
        fit_patch_pca(source, steps, options.patch, options.patch_stride, components, progress);
    steps.patch = options.patch;
    steps.stride = options.patch_stride;
  }
  return steps;
}

Index PreparedSource::cols() const { return values_of(steps_.output()); }

bool PreparedSource::next(RowBlock& block) {
  if (!source_.next(block)) return false;
  steps_.apply(block);
  return true;
}

}  // namespace kerf::detail
