// Options with types: FitOptions{.lambda = 1e-3}, maps::Rff{.features = 2048}.  Nothing: the default, in
// brackets.  Values are checked where they are used: Error (usage) with the option's range or words.
//
// Made of describe() by kerf/api/behind/options_header_test.cpp; do not edit.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/api/spec.h"

// clang-format off
namespace kerf {

/// What the columns of files mean.
struct DataOptions {
  Text target = {};  ///< target: last, first, none, a column name or number (0 is the first, -1 the last), or several: A,B [last]
  Text task = {};  ///< what the target is: auto|regression|classification [auto]
  Text drop = {};  ///< columns to leave out: names, numbers, ranges such as 3-7
  Text categorical = {};  ///< columns whose numbers are codes, one input for each: names, numbers, ranges
  Text weights = {};  ///< column with a weight for each row
  Text labels = {};  ///< file with one label per row
  Text delimiter = {};  ///< what separates cells: auto, tab, space or one character [auto]
  Text decimal = {};  ///< decimal mark of numbers: . or , (the other one then parts thousands); auto: a point [auto]
  Text dates = {};  ///< order of day and month in 01/02/2024; auto: where some cell tells it: auto|dmy|mdy [auto]
  Text header = {};  ///< whether the first row holds column names: auto|yes|no [auto]
  Text missing = {};  ///< missing cells (empty, NA, N/A, NaN, None, null, NaT, ?, -, .): error, mean of the column, drop the row, or indicator: mean, and an input that says which were missing: error|mean|drop|indicator [error]
  Text na = {};  ///< more words or numbers that mean a missing cell: A,B; =A,B: these only
  Count rows = {};  ///< read the first rows only (0: all) [0]
  Text image = {};  ///< rows are images: HEIGHTxWIDTHxCHANNELS
  Count max_levels = {};  ///< most different words of an input column [256]

  Params params() const { return given({{"target", target}, {"task", task}, {"drop", drop}, {"categorical", categorical}, {"weights", weights}, {"labels", labels}, {"delimiter", delimiter}, {"decimal", decimal}, {"dates", dates}, {"header", header}, {"missing", missing}, {"na", na}, {"rows", rows}, {"image", image}, {"max-levels", max_levels}}); }
};

/// A fit, besides the data and the map.
struct FitOptions {
  Text scale = {};  ///< how columns are scaled; auto: images unit rows, tables standard, sparse rows the best of unit, rms and none on a sample: auto|standard|channel|rms|unit|none [auto]
  Flag clip = {};  ///< draw numbers outside a column's range in training back to it, smoothly [true]
  Text metric = {};  ///< weights of columns (diagonal) or directions (full) that are learned from the rows before the fit; auto: with map = auto the best of both and none on rows that judge, else none: auto|none|diagonal|full [auto]
  Text solver = {};  ///< how the weights are found; auto: the one expected to be quickest in the memory given: auto|cholesky|dual|pcg|newton|sgd|sparse [auto]
  Text loss = {};  ///< squared: regression, and classes by regression; logistic, squared-hinge: classes: squared|logistic|squared-hinge [squared]
  Number lambda = {};  ///< ridge penalty: minimise mean squared error + lambda |w|^2; auto: cross-validation [auto]
  Text lambda_grid = {};  ///< lambdas to choose from, as in 1e-6,1e-5,1e-4 (default: half decades)
  Flag lambda_per_target = {};  ///< choose lambda for each target by itself [false]
  Text validation = {};  ///< error that chooses lambda: left-out folds; generalised cross-validation, from the sums; or exact leave-one-out, with one more pass: folds|gcv|leave-one-out [folds]
  Count folds = {};  ///< folds of the cross-validation that chooses lambda [5]
  Text class_weight = {};  ///< balanced: every class counts the same, however many rows it has: none|balanced [none]
  Text precision = {};  ///< arithmetic of the sums over rows; of map = exact also its dense rows: single|double [single]
  Count seed = {};  ///< seed of everything random [1]
  Flag variance = {};  ///< keep what variances of predictions need: two more passes, 4 m^2 bytes in the model [false]
  Text noise = {};  ///< of variance: intervals that fit rows left out, or maximum marginal likelihood: leave-one-out|likelihood [leave-one-out]
  Text intervals = {};  ///< conformal: rows left out of the fit say how large errors are, for intervals (sets of classes) that hold at any level asked for later: none|conformal [none]
  Number calibration_part = {};  ///< of intervals = conformal: part of the training rows that is left out; auto: 0.2, at most about 100,000 rows [auto]
  Text checkpoint = {};  ///< folder that a fit goes on from when it was killed; keeps the sums for kerf refit
  Number checkpoint_interval = {};  ///< seconds between checkpoints [60]
  Text schedule = {};  ///< sgd: rates that follow each weight's gradients, fall as 1/(1 + epoch), or stay: adagrad|inverse|constant [adagrad]
  Number learning_rate = {};  ///< sgd: size of the first steps; auto: the best of five on the first rows [auto]
  Count epochs = {};  ///< sgd: most passes over the rows [20]
  Count batch = {};  ///< sgd: rows of a step [256]
  Count patience = {};  ///< sgd: epochs without a lower held-out loss before it stops (0: never stops early) [2]

  Params params() const { return given({{"scale", scale}, {"clip", clip}, {"metric", metric}, {"solver", solver}, {"loss", loss}, {"lambda", lambda}, {"lambda-grid", lambda_grid}, {"lambda-per-target", lambda_per_target}, {"validation", validation}, {"folds", folds}, {"class-weight", class_weight}, {"precision", precision}, {"seed", seed}, {"variance", variance}, {"noise", noise}, {"intervals", intervals}, {"calibration-part", calibration_part}, {"checkpoint", checkpoint}, {"checkpoint-interval", checkpoint_interval}, {"schedule", schedule}, {"learning-rate", learning_rate}, {"epochs", epochs}, {"batch", batch}, {"patience", patience}}); }
};

/// Steps of images before scaling, in this order.
struct ImageOptions {
  Text crop = {};  ///< HxW: the centre of every image (with shift, copies are cropped elsewhere)
  Flag per_image = {};  ///< each image minus its mean, over its standard deviation [false]
  Number zca = {};  ///< ZCA whitening; this part of the mean eigenvalue is added to each (0: none, 0.1 is usual) [0]
  Count patch = {};  ///< patch PCA: every patch of this side becomes its principal components (0: none) [0]
  Count patch_stride = {};  ///< distance between patches of patch [1]
  Count patch_components = {};  ///< components kept of each patch (0: all) [0]

  Params params() const { return given({{"crop", crop}, {"per-image", per_image}, {"zca", zca}, {"patch", patch}, {"patch-stride", patch_stride}, {"patch-components", patch_components}}); }
};

/// Copies of training images.
struct AugmentOptions {
  Flag flip = {};  ///< augmentation: mirror images left to right (every other copy) [false]
  Count shift = {};  ///< augmentation: move images by up to this many pixels, zeros come in [0]
  Number brightness = {};  ///< augmentation: add up to this part of the full range, up or down [0]
  Number contrast = {};  ///< augmentation: stretch around the mean by a factor 1 - this to 1 + this [0]
  Number saturation = {};  ///< augmentation: stretch colours around grey by a factor 1 - this to 1 + this [0]
  Count copies = {};  ///< rows made of each training image when it is augmented, the image itself included [2]

  Params params() const { return given({{"flip", flip}, {"shift", shift}, {"brightness", brightness}, {"contrast", contrast}, {"saturation", saturation}, {"copies", copies}}); }
};

/// Of diagnose().
struct DiagnoseOptions {
  Count sample = {};  ///< rows to look at, drawn by the seed; memory 24 times its square [1000]
  Count seeds = {};  ///< maps to draw: seed, seed + 1, ... [5]
  Number lambda = {};  ///< ridge penalty, as in fit: the kernel matrices are compared with n lambda added [0.0001]
  Text scale = {};  ///< how columns are scaled, as in fit: auto|standard|channel|rms|unit|none [none]
  Count seed = {};  ///< seed of the sample and of the first map [1]

  Params params() const { return given({{"sample", sample}, {"seeds", seeds}, {"lambda", lambda}, {"scale", scale}, {"seed", seed}}); }
};

/// Of plan(): one target is wanted.
struct PlanOptions {
  Number epsilon = {};  ///< target: spectral epsilon at lambda; 0: not asked for [0]
  Number kernel_error = {};  ///< target: relative error of the kernel matrix, Frobenius norm [0]
  Number validation_error = {};  ///< target: part of the held-out rows that is wrong, or 1 - r2 of a regression [0]
  Number lambda = {};  ///< ridge penalty, as in fit; auto: 1e-4, and chosen by each fit for a validation error [auto]
  Number delta = {};  ///< chance of failure that theory's bounds allow [0.1]
  Number holdout = {};  ///< part of the rows that a validation error is of [0.2]
  Count sample = {};  ///< rows to measure on, for epsilon and kernel error [1000]
  Count seeds = {};  ///< maps to draw for each number of features [5]
  Count most = {};  ///< largest number of features to measure; of a validation error no more than rows [16384]
  Text scale = {};  ///< how columns are scaled, as in fit: auto|standard|channel|rms|unit|none [auto]
  Count seed = {};  ///< seed of the sample and of the first map [1]

  Params params() const { return given({{"epsilon", epsilon}, {"kernel-error", kernel_error}, {"validation-error", validation_error}, {"lambda", lambda}, {"delta", delta}, {"holdout", holdout}, {"sample", sample}, {"seeds", seeds}, {"most", most}, {"scale", scale}, {"seed", seed}}); }
};

/// Of compare().
struct CompareOptions {
  Count seeds = {};  ///< fits of each: seed, seed + 1, ... [3]
  Number holdout = {};  ///< part of the rows to score on, when there is no test [0.2]
  Count sample = {};  ///< rows for the kernel's error; 0: leave it out [500]
  Number kernel_lambda = {};  ///< penalty at which epsilon and condition numbers are taken [0.0001]

  Params params() const { return given({{"seeds", seeds}, {"holdout", holdout}, {"sample", sample}, {"kernel-lambda", kernel_lambda}}); }
};

/// Of select_rows().
struct SelectOptions {
  Count budget = {};  ///< how many rows to choose [100]
  Text method = {};  ///< greedy: least posterior variance; random and kmeans++ for comparison: greedy|random|kmeans++ [greedy]
  Number lambda = {};  ///< ridge penalty of the model to come, as in fit on budget rows; auto: so that budget x lambda is a thousandth of the features' mean squared length [auto]
  Text scale = {};  ///< how columns are scaled; auto: images unit rows, sparse rms, tables standard: auto|standard|channel|rms|unit|none [auto]
  Count seed = {};  ///< seed of everything random [1]

  Params params() const { return given({{"budget", budget}, {"method", method}, {"lambda", lambda}, {"scale", scale}, {"seed", seed}}); }
};

namespace maps {

/// random Fourier features of Gaussian, Laplacian, Matern and Cauchy kernels
struct Rff {
  static constexpr const char* kMap = "rff";
  Text kernel = {};  ///< shift-invariant kernel: gaussian|laplacian|laplacian-l2|cauchy|matern32|matern52 [gaussian]
  Number bandwidth = {};  ///< length scale s of the kernel; auto: the median distance between rows [auto]
  Count features = {};  ///< number of features [4096]
  Text form = {};  ///< pairs: a cosine and a sine per frequency; phase: one cosine with a random phase: pairs|phase [pairs]

  Params params() const { return given({{"kernel", kernel}, {"bandwidth", bandwidth}, {"features", features}, {"form", form}}); }
};

/// Fourier features with orthogonal frequencies: less variance than rff
struct Orf {
  static constexpr const char* kMap = "orf";
  Text kernel = {};  ///< kernel of the Euclidean distance: gaussian|laplacian-l2|matern32|matern52 [gaussian]
  Number bandwidth = {};  ///< length scale s of the kernel; auto: the median distance between rows [auto]
  Count features = {};  ///< number of features [4096]
  Text form = {};  ///< pairs: a cosine and a sine per frequency; phase: one cosine with a random phase: pairs|phase [pairs]
  Text directions = {};  ///< orthogonal: rows of random orthogonal matrices; structured: fast transforms: orthogonal|structured [orthogonal]

  Params params() const { return given({{"kernel", kernel}, {"bandwidth", bandwidth}, {"features", features}, {"form", form}, {"directions", directions}}); }
};

/// Fourier features by Hadamard transforms: O(m log d) a row, for wide rows
struct Fastfood {
  static constexpr const char* kMap = "fastfood";
  Text kernel = {};  ///< kernel of the Euclidean distance: gaussian|laplacian-l2|matern32|matern52 [gaussian]
  Number bandwidth = {};  ///< length scale s of the kernel; auto: the median distance between rows [auto]
  Count features = {};  ///< number of features [4096]
  Text form = {};  ///< pairs: a cosine and a sine per frequency; phase: one cosine with a random phase: pairs|phase [pairs]

  Params params() const { return given({{"kernel", kernel}, {"bandwidth", bandwidth}, {"features", features}, {"form", form}}); }
};

/// Fourier features with quasi-Monte Carlo frequencies (scrambled Sobol points)
struct Qmc {
  static constexpr const char* kMap = "qmc";
  Text kernel = {};  ///< shift-invariant kernel: gaussian|laplacian|laplacian-l2|cauchy|matern32|matern52 [gaussian]
  Number bandwidth = {};  ///< length scale s of the kernel; auto: the median distance between rows [auto]
  Count features = {};  ///< number of features [4096]
  Text form = {};  ///< pairs: a cosine and a sine per frequency; phase: one cosine with a random phase: pairs|phase [pairs]

  Params params() const { return given({{"kernel", kernel}, {"bandwidth", bandwidth}, {"features", features}, {"form", form}}); }
};

/// many Fourier features, compressed by a random projection (a baseline for tefm)
struct Compact {
  static constexpr const char* kMap = "compact";
  Text kernel = {};  ///< shift-invariant kernel: gaussian|laplacian|laplacian-l2|cauchy|matern32|matern52 [gaussian]
  Number bandwidth = {};  ///< length scale s of the kernel; auto: the median distance between rows [auto]
  Count features = {};  ///< number of features [4096]
  Text form = {};  ///< pairs: a cosine and a sine per frequency; phase: one cosine with a random phase: pairs|phase [pairs]
  Count oversample = {};  ///< features before the compression, per feature [4]

  Params params() const { return given({{"kernel", kernel}, {"bandwidth", bandwidth}, {"features", features}, {"form", form}, {"oversample", oversample}}); }
};

/// random step or ReLU features of the arc-cosine kernels of order 0 and 1
struct Arccos {
  static constexpr const char* kMap = "arccos";
  Count order = {};  ///< order of the kernel: 0 (step) or 1 (ReLU) [1]
  Count features = {};  ///< number of features [4096]
  Text directions = {};  ///< how random directions are drawn: gaussian|sphere|orthogonal|structured|gibbs [sphere]
  Count gibbs_sweeps = {};  ///< sweeps of directions = gibbs [1]
  Number bias = {};  ///< constant coordinate appended to every row; auto: the typical length of a row [auto]

  Params params() const { return given({{"order", order}, {"features", features}, {"directions", directions}, {"gibbs-sweeps", gibbs_sweeps}, {"bias", bias}}); }
};

/// random features of the neural tangent kernel (or NNGP) of a deep ReLU network
struct NtkRf {
  static constexpr const char* kMap = "ntk-rf";
  Text kernel = {};  ///< kernel of the network: all layers trained (ntk) or the last one only (nngp): ntk|nngp [ntk]
  Count depth = {};  ///< number of hidden layers [2]
  Count features = {};  ///< number of features [4096]
  Text directions = {};  ///< how random directions are drawn: gaussian|sphere|orthogonal|structured|gibbs [sphere]
  Text sketch = {};  ///< how the tensor product of a layer is sketched; none: kept whole: tensorsrht|tensorsketch|none [tensorsrht]
  Text split = {};  ///< exact linear parts apart from random even and odd ones: less variance; auto: where rows have at most 1/16 as many columns as there are features, and ntk of at most 512 features: auto|true|false [auto]
  Flag shared_directions = {};  ///< step and ReLU features of a layer use the same directions [true]
  Flag signs = {};  ///< a constant and random signs in place of step features: less variance; split: always [true]
  Count m0 = {};  ///< step features (signs) of a layer; 0: a quarter of the features (split false: as many as ReLU features; sketch none: what fits) [0]
  Count ms = {};  ///< features that are sketched products; 0: half of them (split: what is best) [0]
  Count gibbs_sweeps = {};  ///< sweeps of directions = gibbs [1]
  Number bias = {};  ///< constant coordinate appended to every row; auto: the typical length of a row [auto]

  Params params() const { return given({{"kernel", kernel}, {"depth", depth}, {"features", features}, {"directions", directions}, {"sketch", sketch}, {"split", split}, {"shared-directions", shared_directions}, {"signs", signs}, {"m0", m0}, {"ms", ms}, {"gibbs-sweeps", gibbs_sweeps}, {"bias", bias}}); }
};

/// polynomial features of the NTK or NNGP of any depth and activation: low degrees exact
struct NtkPoly {
  static constexpr const char* kMap = "ntk-poly";
  Text kernel = {};  ///< kernel of the network: all layers trained (ntk) or the last one only (nngp): ntk|nngp [ntk]
  Count depth = {};  ///< number of hidden layers [2]
  Count features = {};  ///< number of features [4096]
  Count degree = {};  ///< degree of the polynomial [16]
  Number bias = {};  ///< constant coordinate appended to every row; auto: the typical length of a row [auto]
  Text activation = {};  ///< activation of the network: relu|leaky-relu|erf|gelu|sin|exponential|polynomial|hermite [relu]
  Number slope = {};  ///< slope of leaky-relu for negative numbers [0.01]
  Text coefficients = {};  ///< of activation polynomial (powers) or hermite (normalised Hermite polynomials), lowest first, as in 0,1,0.5

  Params params() const { return given({{"kernel", kernel}, {"depth", depth}, {"features", features}, {"degree", degree}, {"bias", bias}, {"activation", activation}, {"slope", slope}, {"coefficients", coefficients}}); }
};

/// sketch of the neural tangent kernel of a ReLU network by Taylor series, layer by layer
struct NtkSketch {
  static constexpr const char* kMap = "ntk-sketch";
  Count depth = {};  ///< number of hidden layers [2]
  Count features = {};  ///< number of features [4096]
  Count degree = {};  ///< degree of the series of a layer's covariance [8]
  Count step_degree = {};  ///< degree of the series of its derivative [7]
  Text powers = {};  ///< how powers are sketched: chain, or polysketch as published: chain|polysketch [chain]
  Flag renormalise = {};  ///< scale every layer to the length it estimates [true]
  Count m1 = {};  ///< sketch of a layer's covariance; 0: as many as features [0]
  Count m0 = {};  ///< sketch of a layer's derivative; 0: as many as features [0]
  Count ms = {};  ///< sketched products of a layer; 0: as many as features [0]
  Number bias = {};  ///< constant coordinate appended to every row; auto: the typical length of a row [auto]

  Params params() const { return given({{"depth", depth}, {"features", features}, {"degree", degree}, {"step-degree", step_degree}, {"powers", powers}, {"renormalise", renormalise}, {"m1", m1}, {"m0", m0}, {"ms", ms}, {"bias", bias}}); }
};

/// gradients of one random ReLU network: a baseline for the other NTK maps
struct GradRf {
  static constexpr const char* kMap = "grad-rf";
  Count depth = {};  ///< number of hidden layers [1]
  Count features = {};  ///< number of features [4096]
  Number bias = {};  ///< constant coordinate appended to every row; auto: the typical length of a row [auto]

  Params params() const { return given({{"depth", depth}, {"features", features}, {"bias", bias}}); }
};

/// random convolutions for the convolutional neural tangent kernel (images)
struct CntkRf {
  static constexpr const char* kMap = "cntk-rf";
  Text image = {};  ///< HEIGHTxWIDTHxCHANNELS of a row; auto: as the data says, a table's rows are one pixel [auto]
  Count depth = {};  ///< number of convolutions [3]
  Count filter = {};  ///< side of the filters in pixels [3]
  Text padding = {};  ///< zeros around images (same) or none (valid): same|valid [same]
  Text pooling = {};  ///< mean over pixels before the output (gap) or a weight for each pixel (none): gap|none [gap]
  Flag train_first_layer = {};  ///< count the first convolution as trained [false]
  Flag mirror = {};  ///< count images and their mirror images as the same: (k(x, y) + k(x, y mirrored)) / 2 [false]
  Count features = {};  ///< number of features [4096]
  Count width = {};  ///< random filters (channels) of a layer [96]
  Count ms = {};  ///< numbers that a pixel's products are sketched to; 0: 4/3 of the width [0]
  Count m0 = {};  ///< random filters of the last layer, whose signs are used; 0: the width [0]
  Flag renormalise = {};  ///< scale every layer to the length it estimates [true]

  Params params() const { return given({{"image", image}, {"depth", depth}, {"filter", filter}, {"padding", padding}, {"pooling", pooling}, {"train-first-layer", train_first_layer}, {"mirror", mirror}, {"features", features}, {"width", width}, {"ms", ms}, {"m0", m0}, {"renormalise", renormalise}}); }
};

/// sketch of the convolutional neural tangent kernel by Taylor series of every pixel (images)
struct CntkSketch {
  static constexpr const char* kMap = "cntk-sketch";
  Text image = {};  ///< HEIGHTxWIDTHxCHANNELS of a row; auto: as the data says, a table's rows are one pixel [auto]
  Count depth = {};  ///< number of convolutions [3]
  Count filter = {};  ///< side of the filters in pixels [3]
  Text padding = {};  ///< zeros around images (same) or none (valid): same|valid [same]
  Text pooling = {};  ///< mean over pixels before the output (gap) or a weight for each pixel (none): gap|none [gap]
  Flag train_first_layer = {};  ///< count the first convolution as trained [false]
  Flag mirror = {};  ///< count images and their mirror images as the same: (k(x, y) + k(x, y mirrored)) / 2 [false]
  Count features = {};  ///< number of features [4096]
  Count degree = {};  ///< degree of the series of a layer's covariance [8]
  Count step_degree = {};  ///< degree of the series of its derivative [7]
  Text powers = {};  ///< how powers are sketched: chain, or polysketch as published: chain|polysketch [chain]
  Flag renormalise = {};  ///< scale every layer to the length it estimates [true]
  Count m1 = {};  ///< sketch of a pixel's covariance [64]
  Count m0 = {};  ///< sketch of a pixel's derivative [128]
  Count ms = {};  ///< numbers that a pixel's products are sketched to [128]

  Params params() const { return given({{"image", image}, {"depth", depth}, {"filter", filter}, {"padding", padding}, {"pooling", pooling}, {"train-first-layer", train_first_layer}, {"mirror", mirror}, {"features", features}, {"degree", degree}, {"step-degree", step_degree}, {"powers", powers}, {"renormalise", renormalise}, {"m1", m1}, {"m0", m0}, {"ms", ms}}); }
};

/// gradients of one random convolutional network: a baseline for the other CNTK maps
struct CntkGradRf {
  static constexpr const char* kMap = "cntk-grad-rf";
  Text image = {};  ///< HEIGHTxWIDTHxCHANNELS of a row; auto: as the data says, a table's rows are one pixel [auto]
  Count depth = {};  ///< number of convolutions [3]
  Count filter = {};  ///< side of the filters in pixels [3]
  Text padding = {};  ///< zeros around images (same) or none (valid): same|valid [same]
  Text pooling = {};  ///< mean over pixels before the output (gap) or a weight for each pixel (none): gap|none [gap]
  Flag train_first_layer = {};  ///< count the first convolution as trained [false]
  Flag mirror = {};  ///< count images and their mirror images as the same: (k(x, y) + k(x, y mirrored)) / 2 [false]
  Count features = {};  ///< number of features [4096]

  Params params() const { return given({{"image", image}, {"depth", depth}, {"filter", filter}, {"padding", padding}, {"pooling", pooling}, {"train-first-layer", train_first_layer}, {"mirror", mirror}, {"features", features}}); }
};

/// the columns themselves: a linear model, also of wide sparse rows
struct Linear {
  static constexpr const char* kMap = "linear";
  Count features = {};  ///< number of features, at least one for each column; 0: as many as columns [0]

  Params params() const { return given({{"features", features}}); }
};

/// Nystroem features of any exact kernel: the kernel with landmark rows of the data
struct Nystrom {
  static constexpr const char* kMap = "nystrom";
  Text kernel = {};  ///< exact kernel: gaussian|laplacian|laplacian-l2|cauchy|matern32|matern52|linear|arccos|nngp|ntk|skeleton|cntk [gaussian]
  Count features = {};  ///< number of landmark rows [4096]
  Text landmarks = {};  ///< landmark rows: drawn uniformly, by leverage, or centres of clusters: uniform|leverage|centres [uniform]
  Number bandwidth = {};  ///< of gaussian, laplacian, laplacian-l2, cauchy, matern32, matern52: length s over which the kernel falls off; auto: median distance of two rows [auto]
  Count order = {};  ///< of arccos: 0: steps, 1: rectified linear units [1]
  Number bias = {};  ///< of arccos, nngp, ntk: constant coordinate appended to every row [auto]
  Count depth = {};  ///< of cntk: number of convolutions; of nngp, ntk: number of hidden layers [1]
  Text activation = {};  ///< of nngp, ntk: activation of the network: relu|leaky-relu|erf|gelu|sin|exponential|polynomial|hermite [relu]
  Number slope = {};  ///< of nngp, ntk: slope of leaky-relu for negative numbers [0.01]
  Text coefficients = {};  ///< of nngp, ntk: of activation polynomial (powers) or hermite (normalised Hermite polynomials), lowest first, as in 0,1,0.5
  Text skeleton = {};  ///< of skeleton: layers, as in 'circle 0.5, conv 5/2 relu, full relu', or a JSON file [circle 1, full relu]
  Text image = {};  ///< of cntk: HEIGHTxWIDTHxCHANNELS of a row; auto: as the data says, a table's rows are one pixel; of skeleton: shape of the rows as images, HxWxC; auto: that of the data [auto]
  Count filter = {};  ///< of cntk: side of the filters in pixels [3]
  Text padding = {};  ///< of cntk: zeros around images (same) or none (valid): same|valid [same]
  Text pooling = {};  ///< of cntk: mean over pixels before the output (gap) or a weight for each pixel (none): gap|none [gap]
  Flag train_first_layer = {};  ///< of cntk: count the first convolution as trained [false]
  Flag mirror = {};  ///< of cntk: count images and their mirror images as the same: (k(x, y) + k(x, y mirrored)) / 2 [false]

  Params params() const { return given({{"kernel", kernel}, {"features", features}, {"landmarks", landmarks}, {"bandwidth", bandwidth}, {"order", order}, {"bias", bias}, {"depth", depth}, {"activation", activation}, {"slope", slope}, {"coefficients", coefficients}, {"skeleton", skeleton}, {"image", image}, {"filter", filter}, {"padding", padding}, {"pooling", pooling}, {"train-first-layer", train_first_layer}, {"mirror", mirror}}); }
};

/// features of any base map, compressed to the subspace that matters for the data
struct Tefm {
  static constexpr const char* kMap = "tefm";
  Count features = {};  ///< number of features [4096]
  Text base = {};  ///< map whose features are compressed: any but nystrom and tefm [rff]
  Count oversample = {};  ///< features before the compression, per feature [4]
  Text variant = {};  ///< g: Gaussian range finder; s: by an SRHT of the rows: g|s [g]
  Count power = {};  ///< power steps of variant g: passes over the rows, less error [0]
  Text kernel = {};  ///< kernel of the base map; auto: its default [auto]
  Number bandwidth = {};  ///< of base maps that have one [auto]
  Number bias = {};  ///< of base maps that have one [auto]
  Count depth = {};  ///< of base maps that have one [1]
  Text base_options = {};  ///< other options of the base map, as in order=0,form=phase

  Params params() const { return given({{"features", features}, {"base", base}, {"oversample", oversample}, {"variant", variant}, {"power", power}, {"kernel", kernel}, {"bandwidth", bandwidth}, {"bias", bias}, {"depth", depth}, {"base-options", base_options}}); }
};

/// compositional kernels: products along random paths
struct Skeleton {
  static constexpr const char* kMap = "skeleton";
  Count features = {};  ///< number of distinct features [4096]
  Text skeleton = {};  ///< layers, as in 'circle 0.5, conv 5/2 relu, full relu', or a JSON file [circle 1, full relu]
  Text image = {};  ///< shape of the rows as images, HxWxC; auto: that of the data [auto]
  Text real_form = {};  ///< a feature's cosine or sine, by chance; or both as a pair of columns: phase|pair [phase]
  Text sphere_form = {};  ///< features of sphere bases: two neighbouring coordinates, or one: pair|coordinate [pair]
  Flag deduplicate = {};  ///< merge equal features, so that more are drawn [true]
  Flag hybrid = {};  ///< baseline: a random Fourier feature for each node exp over circles, not a product [false]

  Params params() const { return given({{"features", features}, {"skeleton", skeleton}, {"image", image}, {"real-form", real_form}, {"sphere-form", sphere_form}, {"deduplicate", deduplicate}, {"hybrid", hybrid}}); }
};

}  // namespace maps

namespace kernels {

/// exp(-|x-y|^2 / (2 s^2)), s the bandwidth
struct Gaussian {
  static constexpr const char* kKernel = "gaussian";
  Number bandwidth = {};  ///< length s over which the kernel falls off; auto: median distance of two rows [auto]

  Params params() const { return given({{"bandwidth", bandwidth}}); }
};

/// exp(-|x-y|_1 / s), the sum of absolute differences
struct Laplacian {
  static constexpr const char* kKernel = "laplacian";
  Number bandwidth = {};  ///< length s over which the kernel falls off; auto: median distance of two rows [auto]

  Params params() const { return given({{"bandwidth", bandwidth}}); }
};

/// exp(-|x-y| / s), the Euclidean distance
struct LaplacianL2 {
  static constexpr const char* kKernel = "laplacian-l2";
  Number bandwidth = {};  ///< length s over which the kernel falls off; auto: median distance of two rows [auto]

  Params params() const { return given({{"bandwidth", bandwidth}}); }
};

/// product over coordinates of 1 / (1 + (x_j-y_j)^2 / s^2)
struct Cauchy {
  static constexpr const char* kKernel = "cauchy";
  Number bandwidth = {};  ///< length s over which the kernel falls off; auto: median distance of two rows [auto]

  Params params() const { return given({{"bandwidth", bandwidth}}); }
};

/// (1 + r) exp(-r), r = sqrt(3) |x-y| / s
struct Matern32 {
  static constexpr const char* kKernel = "matern32";
  Number bandwidth = {};  ///< length s over which the kernel falls off; auto: median distance of two rows [auto]

  Params params() const { return given({{"bandwidth", bandwidth}}); }
};

/// (1 + r + r^2/3) exp(-r), r = sqrt(5) |x-y| / s
struct Matern52 {
  static constexpr const char* kKernel = "matern52";
  Number bandwidth = {};  ///< length s over which the kernel falls off; auto: median distance of two rows [auto]

  Params params() const { return given({{"bandwidth", bandwidth}}); }
};

/// x'y, the inner product: a linear model
struct Linear {
  static constexpr const char* kKernel = "linear";

  Params params() const { return given({}); }
};

/// arc-cosine kernel of order 0 or 1 (one random layer)
struct Arccos {
  static constexpr const char* kKernel = "arccos";
  Count order = {};  ///< 0: steps, 1: rectified linear units [1]
  Number bias = {};  ///< constant coordinate appended to every row [auto]

  Params params() const { return given({{"order", order}, {"bias", bias}}); }
};

/// infinitely wide random network (Gaussian process)
struct Nngp {
  static constexpr const char* kKernel = "nngp";
  Count depth = {};  ///< number of hidden layers [1]
  Number bias = {};  ///< constant coordinate appended to every row [auto]
  Text activation = {};  ///< activation of the network: relu|leaky-relu|erf|gelu|sin|exponential|polynomial|hermite [relu]
  Number slope = {};  ///< slope of leaky-relu for negative numbers [0.01]
  Text coefficients = {};  ///< of activation polynomial (powers) or hermite (normalised Hermite polynomials), lowest first, as in 0,1,0.5

  Params params() const { return given({{"depth", depth}, {"bias", bias}, {"activation", activation}, {"slope", slope}, {"coefficients", coefficients}}); }
};

/// neural tangent kernel of an infinitely wide network
struct Ntk {
  static constexpr const char* kKernel = "ntk";
  Count depth = {};  ///< number of hidden layers [1]
  Number bias = {};  ///< constant coordinate appended to every row [auto]
  Text activation = {};  ///< activation of the network: relu|leaky-relu|erf|gelu|sin|exponential|polynomial|hermite [relu]
  Number slope = {};  ///< slope of leaky-relu for negative numbers [0.01]
  Text coefficients = {};  ///< of activation polynomial (powers) or hermite (normalised Hermite polynomials), lowest first, as in 0,1,0.5

  Params params() const { return given({{"depth", depth}, {"bias", bias}, {"activation", activation}, {"slope", slope}, {"coefficients", coefficients}}); }
};

/// compositional kernel of a computation skeleton
struct Skeleton {
  static constexpr const char* kKernel = "skeleton";
  Text skeleton = {};  ///< layers, as in 'circle 0.5, conv 5/2 relu, full relu', or a JSON file [circle 1, full relu]
  Text image = {};  ///< shape of the rows as images, HxWxC; auto: that of the data [auto]

  Params params() const { return given({{"skeleton", skeleton}, {"image", image}}); }
};

/// convolutional neural tangent kernel of infinitely wide networks on images
struct Cntk {
  static constexpr const char* kKernel = "cntk";
  Text image = {};  ///< HEIGHTxWIDTHxCHANNELS of a row; auto: as the data says, a table's rows are one pixel [auto]
  Count depth = {};  ///< number of convolutions [3]
  Count filter = {};  ///< side of the filters in pixels [3]
  Text padding = {};  ///< zeros around images (same) or none (valid): same|valid [same]
  Text pooling = {};  ///< mean over pixels before the output (gap) or a weight for each pixel (none): gap|none [gap]
  Flag train_first_layer = {};  ///< count the first convolution as trained [false]
  Flag mirror = {};  ///< count images and their mirror images as the same: (k(x, y) + k(x, y mirrored)) / 2 [false]

  Params params() const { return given({{"image", image}, {"depth", depth}, {"filter", filter}, {"padding", padding}, {"pooling", pooling}, {"train-first-layer", train_first_layer}, {"mirror", mirror}}); }
};

}  // namespace kernels
}  // namespace kerf
// clang-format on
