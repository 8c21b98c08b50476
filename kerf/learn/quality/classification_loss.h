// Losses of classification, row by row, with the derivatives that Newton's method needs.
//
//   logistic        -log p_y, p = softmax(f);        one score (two classes): log(1 + exp(-s f))
//   squared hinge   sum_k max(0, 1 - s_k f_k)^2, s_k = 1 for the row's class, else -1
//
// f: one score for each class, or one for two classes (positive: class 1).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "kerf/core/view.h"
#include "kerf/learn/options/fit_options.h"

namespace kerf::detail {

double loss_value(Loss loss, Index label, std::span<const double> scores);
/// Groups of scores whose losses are apart, so that each can be minimised for itself: every score
/// (squared hinge), or all together.
Index loss_groups(Loss loss, Index scores);
/// out = the loss of each group.
void group_losses(Loss loss, Index label, std::span<const double> scores, std::span<double> out);
/// out = derivatives with respect to the scores.
void loss_gradient(Loss loss, Index label, std::span<const double> scores, std::span<double> out);
/// out = (second derivatives) u; for the squared hinge the generalised ones.
void loss_curvature(Loss loss, Index label, std::span<const double> scores,
                    std::span<const double> u, std::span<double> out);
/// out = the diagonal of the second derivatives.
void curvature_diagonal(Loss loss, Index label, std::span<const double> scores,
                        std::span<double> out);

}  // namespace kerf::detail
