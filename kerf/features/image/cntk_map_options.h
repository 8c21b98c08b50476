// The options that the maps of the convolutional tangent kernel have in common.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/kernels/image/cntk.h"

namespace kerf::detail {

struct CntkMapOptions {
  CntkOptions network;
  Index features = 4096;
  Index width = 96;
  Index ms = 0;
  Index m0 = 0;
  bool renormalise = true;

  static void resolve(OpenOptions& options) { CntkOptions::resolve(options); }
  void describe(OptionVisitor& v) {
    network.describe(v);
    v.integer("features", features, {2, 1 << 24}, "number of features");
    v.integer("width", width, {1, 1 << 16}, "random filters (channels) of a layer");
    v.integer("ms", ms, {0, 1 << 16},
              "numbers that a pixel's products are sketched to; 0: 4/3 of the width");
    v.integer("m0", m0, {0, 1 << 16},
              "random filters of the last layer, whose signs are used; 0: the width");
    v.flag("renormalise", renormalise, "scale every layer to the length it estimates");
  }

  /// ms and m0 with the defaults put in.
  Index products() const { return ms > 0 ? ms : std::max<Index>(2, 4 * width / 3); }
  Index last_filters() const { return m0 > 0 ? m0 : width; }
};

}  // namespace kerf::detail
