// Image steps and augmentation against loops that say what they should do.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kerf/api/error.h"
#include "kerf/images/augment.h"
#include "kerf/images/image_steps.h"

namespace kerf::detail {
namespace {

constexpr ImageShape kShape{7, 6, 3};
constexpr Index kValues = 7 * 6 * 3;

/// Images with correlated pixels, targets 0, 1, 2, ...
struct Images {
  Matrix<float> x;
  Matrix<double> y;
  explicit Images(Index rows) : x(rows, kValues), y(rows, 1) {
    const rng::Key key{5};
    for (Index i = 0; i < rows; ++i) {
      y(i, 0) = static_cast<double>(i);
      double state = 0;
      for (Index k = 0; k < kValues; ++k) {
        state = 0.8 * state + rng::normal(key, static_cast<std::uint64_t>(i * kValues + k));
        x(i, k) = static_cast<float>(100 + 20 * state);
      }
    }
  }
};

/// The images as a stream in blocks of any size.
class ImageSource final : public RowSource {
 public:
  ImageSource(const Images& images, Index block_rows)
      : rows_(images.x.view(), images.y.view(), block_rows) {}
  Index cols() const override { return kValues; }
  void rewind() override {
    rows_.rewind();
    next_row_ = 0;
  }
  bool next(RowBlock& block) override {
    if (!rows_.next(block)) return false;
    block.image = kShape;
    block.first_row = next_row_;
    next_row_ += block.rows();
    return true;
  }

 private:
  MemorySource rows_;
  Index next_row_ = 0;
};

float pixel(std::span<const float> image, ImageShape s, Index y, Index x, Index c) {
  return image[(y * s.width + x) * s.channels + c];
}

RowBlock prepared(const Images& images, const ImageSteps& steps, Index block_rows = 64) {
  ImageSource source(images, block_rows);
  PreparedSource all(source, steps);
  return read_all(all);
}

ImageSteps fitted(const Images& images, const ImageOptions& options, Index block_rows = 64) {
  ImageSource source(images, block_rows);
  return fit_image_steps(source, kShape, false, options);
}

TEST(ImageSteps, CropTakesTheCentre) {
  const Images images(3);
  ImageOptions options;
  options.crop = "5x2";
  const RowBlock out = prepared(images, fitted(images, options));
  ASSERT_EQ(out.dense.cols(), 5 * 2 * 3);
  for (Index i = 0; i < 3; ++i)
    for (Index y = 0; y < 5; ++y)
      for (Index x = 0; x < 2; ++x)
        for (Index c = 0; c < 3; ++c)
          EXPECT_EQ(pixel(out.dense.row(i), {5, 2, 3}, y, x, c),
                    pixel(images.x.row(i), kShape, y + 1, x + 2, c));
}

TEST(ImageSteps, PerImageHasMeanZeroAndVarianceOne) {
  const Images images(4);
  ImageOptions options;
  options.per_image = true;
  const RowBlock out = prepared(images, fitted(images, options));
  for (Index i = 0; i < 4; ++i) {
    double sum = 0, squares = 0;
    for (const float v : out.dense.row(i)) {
      sum += v;
      squares += v * v;
    }
    EXPECT_NEAR(sum / kValues, 0, 1e-5);
    EXPECT_NEAR(squares / kValues, 1, 1e-5);
  }
}

TEST(ImageSteps, AConstantImageStaysFinite) {
  Images images(2);
  images.x.fill(3.0f);
  ImageOptions options;
  options.per_image = true;
  const RowBlock out = prepared(images, fitted(images, options));
  for (const float v : out.dense.row(0)) EXPECT_EQ(v, 0);
}

/// Covariance of the rows, entry by entry, in double.
Matrix<double> covariance_of(const Matrix<float>& rows) {
  const Index d = rows.cols();
  std::vector<double> mean(d, 0.0);
  for (Index i = 0; i < rows.rows(); ++i)
    for (Index k = 0; k < d; ++k) mean[k] += rows(i, k) / static_cast<double>(rows.rows());
  Matrix<double> c(d, d);
  c.fill(0);
  for (Index i = 0; i < rows.rows(); ++i)
    for (Index a = 0; a < d; ++a)
      for (Index b = 0; b < d; ++b)
        c(a, b) +=
            (rows(i, a) - mean[a]) * (rows(i, b) - mean[b]) / static_cast<double>(rows.rows());
  return c;
}

TEST(ImageSteps, ZcaWhitens) {
  const Images images(1000);
  ImageOptions options;
  options.zca = 1e-6;
  const ImageSteps steps = fitted(images, options);
  const Matrix<double> c = covariance_of(prepared(images, steps).dense);
  // Smallest eigenvalue of the covariance is about 0.05 of its mean: epsilon changes 1 by 2e-5, and
  // single precision by d 2^-24 times the condition number.
  for (Index a = 0; a < kValues; ++a)
    for (Index b = 0; b < kValues; ++b) EXPECT_NEAR(c(a, b), a == b ? 1 : 0, 1e-3);
  // Symmetric: a whitened image is an image still.
  for (Index a = 0; a < kValues; ++a)
    for (Index b = 0; b < a; ++b)
      EXPECT_NEAR(steps.whitening.matrix()(a, b), steps.whitening.matrix()(b, a), 1e-5);
}

/// Patches of all images, cut by the obvious loop.
Matrix<float> patches_of(const Images& images, Index size, Index stride) {
  const Index down = (kShape.height - size) / stride + 1,
              across = (kShape.width - size) / stride + 1;
  Matrix<float> out(images.x.rows() * down * across, size * size * 3);
  Index at = 0;
  for (Index i = 0; i < images.x.rows(); ++i)
    for (Index py = 0; py < down; ++py)
      for (Index px = 0; px < across; ++px, ++at)
        for (Index y = 0; y < size; ++y)
          for (Index x = 0; x < size; ++x)
            for (Index c = 0; c < 3; ++c)
              out(at, (y * size + x) * 3 + c) =
                  pixel(images.x.row(i), kShape, py * stride + y, px * stride + x, c);
  return out;
}

TEST(ImageSteps, PatchPcaGivesUncorrelatedComponentsInOrder) {
  const Images images(200);
  ImageOptions options;
  options.patch = 3;
  options.patch_stride = 2;
  const ImageSteps steps = fitted(images, options);
  EXPECT_EQ(steps.output(), (ImageShape{3, 2, 27}));
  const RowBlock out = prepared(images, steps);
  Matrix<float> components(200 * 6, 27);
  std::copy_n(out.dense.data(), 200 * 6 * 27, components.data());
  const Matrix<double> c = covariance_of(components);
  const Matrix<double> before = covariance_of(patches_of(images, 3, 2));
  double total = 0, total_before = 0;
  for (Index a = 0; a < 27; ++a) {
    total += c(a, a);
    total_before += before(a, a);
    if (a > 0) {
      EXPECT_LE(c(a, a), c(a - 1, a - 1) * (1 + 1e-6));
    }
    for (Index b = 0; b < a; ++b) EXPECT_NEAR(c(a, b), 0, 1e-4 * c(0, 0));
  }
  EXPECT_NEAR(total, total_before, 1e-4 * total_before);
  // Fewer components are the first ones.
  options.patch_components = 4;
  const RowBlock few = prepared(images, fitted(images, options));
  ASSERT_EQ(few.image.channels, 4);
  for (Index k = 0; k < 6; ++k)
    for (Index q = 0; q < 4; ++q) EXPECT_EQ(few.dense(0, k * 4 + q), out.dense(0, k * 27 + q));
}

TEST(ImageSteps, AnyBlockSizeGivesTheSameBits) {
  const Images images(70);
  for (const double zca : {0.0, 0.1}) {
    ImageOptions options;
    options.zca = zca;
    options.patch = zca > 0 ? 0 : 3;
    const ImageSteps steps = fitted(images, options);
    const RowBlock whole = prepared(images, steps, 70), cut = prepared(images, steps, 9);
    EXPECT_TRUE(std::equal(whole.dense.data(), whole.dense.data() + 70 * whole.dense.cols(),
                           cut.dense.data()));
  }
}

TEST(ImageSteps, WrongOptionsAreErrors) {
  const Images images(3);
  const auto message = [&](ImageShape shape, const ImageOptions& options) -> std::string {
    ImageSource source(images, 8);
    try {
      fit_image_steps(source, shape, false, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  ImageOptions crop, both, patch, components;
  crop.crop = "9x2";
  both.zca = 0.1;
  both.patch = 3;
  patch.patch = 8;
  components.patch = 2;
  components.patch_components = 13;
  EXPECT_NE(message(kShape, crop).find("larger than the images"), std::string::npos);
  EXPECT_NE(message(kShape, both).find("take one"), std::string::npos);
  EXPECT_NE(message(kShape, patch).find("larger than the images"), std::string::npos);
  EXPECT_NE(message(kShape, components).find("has 12 values"), std::string::npos);
  EXPECT_NE(message({}, crop).find("shape with image"), std::string::npos);
  for (const char* text : {"", "5", "5x", "x5", "5x5x3", "0x3", "-1x3", "axb"})
    EXPECT_THROW(parse_crop(text), Error) << text;
}

RowBlock augmented(const Images& images, const AugmentOptions& options, Index block_rows = 64) {
  ImageSource source(images, block_rows);
  AugmentedSource all(source, options, false, rng::Key{3});
  return read_all(all);
}

TEST(Augment, CopiesStandTogetherAndTheFirstIsTheImage) {
  const Images images(5);
  AugmentOptions options;
  options.flip = true;
  options.copies = 3;
  const RowBlock out = augmented(images, options);
  ASSERT_EQ(out.rows(), 15);
  for (Index i = 0; i < 5; ++i)
    for (Index copy = 0; copy < 3; ++copy) {
      EXPECT_EQ(out.targets(i * 3 + copy, 0), static_cast<double>(i));
      for (Index y = 0; y < 7; ++y)
        for (Index x = 0; x < 6; ++x)
          EXPECT_EQ(pixel(out.dense.row(i * 3 + copy), kShape, y, x, 1),
                    pixel(images.x.row(i), kShape, y, copy == 1 ? 5 - x : x, 1));
    }
}

TEST(Augment, ShiftsAreWholeMovesAndAllOfThemHappen) {
  const Images images(200);
  AugmentOptions options;
  options.shift = 2;
  const RowBlock out = augmented(images, options);
  std::set<std::pair<Index, Index>> seen;
  for (Index i = 0; i < 200; ++i) {
    const auto moved = out.dense.row(2 * i + 1);
    for (Index down = -2; down <= 2; ++down)
      for (Index right = -2; right <= 2; ++right) {
        bool same = true;
        for (Index y = 0; y < 7 && same; ++y)
          for (Index x = 0; x < 6 && same; ++x) {
            const Index sy = y - down, sx = x - right;
            const bool inside = sy >= 0 && sy < 7 && sx >= 0 && sx < 6;
            same = pixel(moved, kShape, y, x, 2) ==
                   (inside ? pixel(images.x.row(i), kShape, sy, sx, 2) : 0.0f);
          }
        if (same) seen.insert({down, right});
      }
  }
  EXPECT_EQ(seen.size(), 25u);  // each is missed with probability 25 (24/25)^200 < 0.01: fixed seed
}

TEST(Augment, ColoursKeepWhatTheyShould) {
  const Images images(20);
  AugmentOptions brightness, contrast, saturation;
  brightness.brightness = contrast.contrast = saturation.saturation = 0.5;
  const RowBlock bright = augmented(images, brightness), strong = augmented(images, contrast),
                 vivid = augmented(images, saturation);
  for (Index i = 0; i < 20; ++i) {
    const auto image = images.x.row(i);
    const float added = bright.dense(2 * i + 1, 0) - image[0];
    EXPECT_LE(std::abs(added), 0.5f + 1e-4f);
    double mean = 0, mean_strong = 0;
    for (Index k = 0; k < kValues; k += 3) {
      mean += image[k];
      mean_strong += strong.dense(2 * i + 1, k);
      double grey = 0, grey_vivid = 0;
      for (Index c = 0; c < 3; ++c) {
        EXPECT_NEAR(bright.dense(2 * i + 1, k + c) - image[k + c], added, 1e-4);
        grey += image[k + c];
        grey_vivid += vivid.dense(2 * i + 1, k + c);
      }
      EXPECT_NEAR(grey, grey_vivid, 1e-3);
    }
    EXPECT_NEAR(mean, mean_strong, 1e-2);
  }
}

TEST(Augment, SameRowsForAnyBlockSizeAndEveryPass) {
  const Images images(50);
  AugmentOptions options;
  options.flip = true;
  options.shift = 1;
  options.contrast = 0.3;
  const RowBlock whole = augmented(images, options), cut = augmented(images, options, 7);
  EXPECT_TRUE(std::equal(whole.dense.data(), whole.dense.data() + 100 * kValues, cut.dense.data()));
  // Fresh draws differ from pass to pass, and change the first copy too.
  ImageSource source(images, 64);
  AugmentedSource fresh(source, options, false, rng::Key{3}, true);
  const RowBlock first = read_all(fresh), second = read_all(fresh);
  EXPECT_FALSE(
      std::equal(first.dense.data(), first.dense.data() + 100 * kValues, second.dense.data()));
}

}  // namespace
}  // namespace kerf::detail
