// kerf: kernel learning at the cost of linear models.  The public interface, and nothing else.
//
//   open_dataset()                   files, memory or a stream as rows             api/dataset.h
//   fit(), BlockwiseFit              rows to a complete model                      api/fit.h
//   Model                            prediction, scores, files                     api/model.h
//   FeatureMap, Kernel               features of rows, exact kernels               api/features.h
//   diagnose(), plan(), compare(), select_rows()                                   api/insight.h
//   maps::Rff, FitOptions, ...       options with types, next to options by name   api/options.h
//   Error, Progress, Context, Matrix, threads(): words of all of these
//
// What throws throws kerf::Error (api/error.h); exceptions of your own functions come through.  Handles (Model, FeatureMap, Kernel) are immutable and
// safe from several threads at once; a Dataset or a BlockwiseFit belongs to one thread at a time.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/api/dataset.h"
#include "kerf/api/error.h"
#include "kerf/api/features.h"
#include "kerf/api/fit.h"
#include "kerf/api/insight.h"
#include "kerf/api/matrix.h"
#include "kerf/api/model.h"
#include "kerf/api/options.h"
#include "kerf/api/progress.h"
#include "kerf/api/runtime.h"
