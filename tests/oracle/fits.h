// Data that tests fit, and models looked at row by row.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <string>
#include <vector>

#include "kerf/learn/fit/trainer.h"

namespace kerf::detail::oracle {

struct Data {
  Matrix<float> x;
  Matrix<double> y;
};

/// Three Gaussian inputs a row.
inline Matrix<float> three_inputs(Index rows, std::uint64_t seed) {
  Matrix<float> x(rows, 3);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < 3; ++j)
      x(i, j) =
          static_cast<float>(rng::normal(rng::Key{seed}, static_cast<std::uint64_t>(i * 3 + j)));
  return x;
}

/// Smooth functions of three inputs with a little noise, one for each target.
inline Data smooth_targets(Index rows, Index targets) {
  Data data{three_inputs(rows, 5), Matrix<double>(rows, targets)};
  for (Index i = 0; i < rows; ++i)
    for (Index t = 0; t < targets; ++t)
      data.y(i, t) = 5 + std::sin((1.0 + static_cast<double>(t)) * data.x(i, 0)) +
                     std::cos(data.x(i, 1)) * data.x(i, 2) +
                     0.1 * rng::normal(rng::Key{6}, static_cast<std::uint64_t>(i * targets + t));
  return data;
}

inline FitResult fit_targets(const Data& data, const std::string& features,
                             const FitOptions& options, Index memory = 0) {
  MemorySource source(data.x.view(), data.y.view(), 100);
  const DataSummary summary = summarise(source, Task::regression, {}, rng::Key{1});
  return fit(source, summary, "rff", {{"features", features}, {"bandwidth", "2"}}, options, memory);
}

/// Classes by the angle of the first two inputs, a tenth of the labels moved on by one.
inline Data ring_of_classes(Index rows, Index classes) {
  Data data{three_inputs(rows, 15), Matrix<double>(rows, 1)};
  for (Index i = 0; i < rows; ++i) {
    const double turn = std::atan2(data.x(i, 0), data.x(i, 1)) / (2 * 3.14159265358979) + 0.5;
    auto label = std::min(static_cast<Index>(turn * static_cast<double>(classes)), classes - 1);
    if (rng::uniform(rng::Key{16}, static_cast<std::uint64_t>(i)) < 0.1)
      label = (label + 1) % classes;
    data.y(i, 0) = static_cast<double>(label);
  }
  return data;
}

/// "0", "1", ...
inline std::vector<std::string> class_names(Index classes) {
  std::vector<std::string> names;
  for (Index k = 0; k < classes; ++k) names.push_back(std::to_string(k));
  return names;
}

inline FitResult fit_classes(const Data& data, Index classes, const FitOptions& options,
                             const std::string& features = "64", const Progress& progress = {},
                             const char* bandwidth = "1.5") {
  MemorySource source(data.x.view(), data.y.view(), 100);
  const DataSummary summary =
      summarise(source, Task::classification, class_names(classes), rng::Key{1});
  return fit(source, summary, "rff", {{"features", features}, {"bandwidth", bandwidth}}, options, 0,
             progress);
}

/// All rows in one block, without targets.
inline RowBlock block_of(const Data& data) {
  RowBlock block;
  MemorySource(data.x.view(), {}, data.x.rows()).next(block);
  return block;
}

inline Matrix<float> features_of(const Model& model, const Data& data) {
  RowBlock block = block_of(data);
  Matrix<float> z;
  Predictor(model).features(block, z);
  return z;
}

inline Matrix<double> scores_of(const Model& model, const Data& data) {
  RowBlock block = block_of(data);
  Matrix<double> scores;
  Predictor(model).scores(block, scores);
  return scores;
}

}  // namespace kerf::detail::oracle
