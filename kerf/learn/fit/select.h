// Which rows of a dataset to have labelled: its rows as features, then a design (learn/design).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/api/progress.h"
#include "kerf/core/options.h"
#include "kerf/core/spelling.h"
#include "kerf/features/scaling.h"
#include "kerf/io/dataset/dataset.h"
#include "kerf/learn/design/design.h"

namespace kerf::detail {

/// What a selection takes besides the data and the map.
struct SelectOptions {
  Index budget = 100;
  DesignMethod method = DesignMethod::greedy;
  std::optional<double> lambda;
  ScaleKind scale = ScaleKind::automatic;
  Index seed = 1;

  void describe(OptionVisitor& v) {
    v.integer("budget", budget, {1, 1e9}, "how many rows to choose");
    v.choice("method", method,
             "greedy: least posterior variance; random and kmeans++ for comparison");
    v.automatic("lambda", lambda, kAnyPositive,
                "ridge penalty of the model to come, as in fit on " + spell("budget") +
                    " rows; auto: so that "
                    "budget x lambda is a thousandth of the features' mean squared length");
    v.choice("scale", scale,
             "how columns are scaled; auto: images unit rows, sparse rms, tables standard");
    v.integer("seed", seed, {0, 9007199254740992.0}, "seed of everything random");
  }
};

struct SelectedRows {
  std::vector<Index> rows;  ///< their numbers in the files, from 0, in the order of the choice
  Design design;
  std::string map;  ///< as named, or chosen
  Params options;   ///< of it: complete
};

/// `map` may be auto, where the data have a target.  Error (usage) for a wrong map or option, Error (memory) where the features of all rows do not fit.
SelectedRows select_rows(Dataset& data, const std::string& map, const Params& map_options,
                         const SelectOptions& options, const Context& context = {});

}  // namespace kerf::detail
