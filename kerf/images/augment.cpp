// SPDX-License-Identifier: Apache-2.0
#include "kerf/images/augment.h"

#include <algorithm>

#include "kerf/core/require.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/parallel.h"
#include "kerf/images/mirror.h"

namespace kerf::detail {
namespace {

constexpr Index kPieceRows = 32;

/// The random numbers of one copy of one image, by name.
enum class Draw : std::uint64_t { mirror, shift_y, shift_x, brightness, contrast, saturation };

double draw(rng::Key key, Draw what) { return rng::uniform(key, static_cast<std::uint64_t>(what)); }

/// Uniform in [-size, size].
double draw_around_zero(rng::Key key, Draw what, double size) {
  return (2 * draw(key, what) - 1) * size;
}

Index draw_shift(rng::Key key, Draw what, Index size) {
  const auto places = static_cast<std::uint64_t>(2 * size + 1);
  return static_cast<Index>(rng::below(key, static_cast<std::uint64_t>(what), places)) - size;
}

/// Pixel (y, x) of the result is pixel (y - down, x - right) of the image, or zero.
void shift(std::span<float> image, ImageShape shape, Index down, Index right) {
  std::vector<float> moved(image.size(), 0.0f);
  const Index row = shape.width * shape.channels, offset = std::abs(right) * shape.channels;
  for (Index y = std::max<Index>(0, down); y < std::min(shape.height, shape.height + down); ++y) {
    const float* from = image.data() + (y - down) * row + (right < 0 ? offset : 0);
    float* to = moved.data() + y * row + (right > 0 ? offset : 0);
    if (offset < row) std::copy_n(from, row - offset, to);
  }
  std::ranges::copy(moved, image.begin());
}

void stretch_contrast(std::span<float> image, Index channels, double factor) {
  const double pixels = static_cast<double>(image.size()) / static_cast<double>(channels);
  const auto step = static_cast<std::size_t>(channels);
  for (std::size_t c = 0; c < step; ++c) {
    double mean = 0;
    for (std::size_t i = c; i < image.size(); i += step) mean += image[i] / pixels;
    for (std::size_t i = c; i < image.size(); i += step)
      image[i] = static_cast<float>(mean + factor * (image[i] - mean));
  }
}

void stretch_colour(std::span<float> image, Index channels, double factor) {
  const auto step = static_cast<std::size_t>(channels);
  for (std::size_t at = 0; at < image.size(); at += step) {
    const auto pixel = image.subspan(at, step);
    double grey = 0;
    for (const float v : pixel) grey += v / static_cast<double>(channels);
    for (float& v : pixel) v = static_cast<float>(grey + factor * (v - grey));
  }
}

}  // namespace

AugmentedSource::AugmentedSource(RowSource& source, const AugmentOptions& options, bool is_bytes,
                                 rng::Key key, bool fresh)
    : source_(source),
      options_(options),
      range_(is_bytes ? 255 : 1),
      key_(key.child("augment")),
      fresh_(fresh) {}

void AugmentedSource::rewind() {
  source_.rewind();
  ++pass_;
}

void AugmentedSource::change(std::span<float> image, ImageShape shape, Index row,
                             Index copy) const {
  const auto& o = options_;
  const rng::Key stream = fresh_ ? key_.child(static_cast<std::uint64_t>(pass_)) : key_;
  const rng::Key key =
      stream.child(static_cast<std::uint64_t>(row)).child(static_cast<std::uint64_t>(copy));
  const bool mirrored = fresh_ ? draw(key, Draw::mirror) < 0.5 : copy % 2 == 1;
  if (o.flip && mirrored) mirror_image(image, shape);
  if (o.shift > 0)
    shift(image, shape, draw_shift(key, Draw::shift_y, o.shift),
          draw_shift(key, Draw::shift_x, o.shift));
  if (o.brightness > 0) {
    const double add = draw_around_zero(key, Draw::brightness, o.brightness) * range_;
    for (float& v : image) v = static_cast<float>(v + add);
  }
  if (o.contrast > 0)
    stretch_contrast(image, shape.channels, 1 + draw_around_zero(key, Draw::contrast, o.contrast));
  if (o.saturation > 0 && shape.channels > 1)
    stretch_colour(image, shape.channels,
                   1 + draw_around_zero(key, Draw::saturation, o.saturation));
}

bool AugmentedSource::next(RowBlock& block) {
  if (!source_.next(input_)) return false;
  KERF_REQUIRE(!input_.is_sparse && input_.image.present(), usage,
               "only images can be augmented: say their shape with {}", spell("image", "HxWxC"));
  const Index copies = options_.copies, rows = input_.rows();
  block.first_row = input_.first_row * copies;
  block.is_sparse = false;
  block.image = input_.image;
  block.copies = copies;
  block.dense.resize(rows * copies, input_.dense.cols());
  block.targets.resize(rows * copies, input_.targets.cols());
  block.numbers.clear();
  if (copies > 1 || !input_.numbers.empty())
    for (Index i = 0; i < rows; ++i)
      block.numbers.insert(block.numbers.end(), copies, input_.number_of(i));
  block.weights.clear();
  for (const double weight : input_.weights)
    block.weights.insert(block.weights.end(), copies, weight);
  parallel_for(rows, kPieceRows, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i)
      for (Index copy = 0; copy < copies; ++copy) {
        const auto image = block.dense.row(i * copies + copy);
        std::ranges::copy(input_.dense.row(i), image.begin());
        std::ranges::copy(input_.targets.row(i), block.targets.row(i * copies + copy).begin());
        if (copy > 0 || fresh_) change(image, block.image, input_.first_row + i, copy);
      }
  });
  return true;
}

}  // namespace kerf::detail
