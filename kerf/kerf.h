// kerf: kernel learning at the cost of linear models.  The supported public interface, and nothing
// else: programs include this header only.
//
//   open_dataset()      files to rows, targets and a summary            io/dataset.h
//   summarise()         the same summary for rows in memory              core/data_summary.h
//   greedy_design()     the rows worth labelling                         learn/design.h
//   fit()               rows to a trained model                          learn/trainer.h
//   IncrementalFit      the same, block by block                          learn/incremental.h
//   Predictor           a model applied to rows                          model/model.h
//   save_model(), load_model()                                           model/model_file.h
//   feature_maps(), find_feature_map()    features of rows               features/feature_map.h
//   fit_report()        a fit as an HTML page                            diagnostics/fit_report.h
//   kernels(), find_kernel(), gram        exact kernels                  kernels/kernel.h
//   parse_skeleton(), SkeletonFeatures    compositional kernels          kernels/skeleton_text.h
//   compare_spectra()   how close features are to their kernel           diagnostics/spectral.h
//   diagnose()          the same on a sample of rows, over seeds         diagnostics/diagnose.h
//   make_plan()         how many features meet a target                  diagnostics/plan.h
//   compare_maps()      maps and sizes on one's data                     diagnostics/compare.h
//
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "kerf/core/error.h"
#include "kerf/core/option_value.h"
#include "kerf/core/options.h"
#include "kerf/core/progress.h"
#include "kerf/core/random/random.h"
#include "kerf/core/rows/data_summary.h"
#include "kerf/core/rows/matrix.h"
#include "kerf/core/rows/row_filter.h"
#include "kerf/core/rows/row_source.h"
#include "kerf/core/spelling.h"
#include "kerf/core/system/atomic_file.h"
#include "kerf/core/system/interrupt.h"
#include "kerf/core/system/memory.h"
#include "kerf/core/system/parallel.h"
#include "kerf/core/system/temporary_files.h"
#include "kerf/core/version.h"
#include "kerf/core/view.h"
#include "kerf/features/automatic.h"
#include "kerf/features/feature_map.h"
#include "kerf/features/scaling.h"
#include "kerf/features/skeleton/skeleton_features.h"
#include "kerf/images/image_pipeline.h"
#include "kerf/insight/compare/compare.h"
#include "kerf/insight/measure/diagnose.h"
#include "kerf/insight/measure/spectral.h"
#include "kerf/insight/pages/fit_report.h"
#include "kerf/insight/pages/insight_json.h"
#include "kerf/insight/pages/skeleton_picture.h"
#include "kerf/insight/plan/plan.h"
#include "kerf/io/arrays/npy_writer.h"
#include "kerf/io/dataset/dataset.h"
#include "kerf/io/memory/memory_reader.h"
#include "kerf/io/table/encoding.h"
#include "kerf/kernels/gram/gram.h"
#include "kerf/kernels/kernel.h"
#include "kerf/kernels/skeleton/skeleton_bounds.h"
#include "kerf/kernels/skeleton/skeleton_kernel.h"
#include "kerf/learn/design/design.h"
#include "kerf/learn/fit/evaluate.h"
#include "kerf/learn/fit/incremental.h"
#include "kerf/learn/fit/journey.h"
#include "kerf/learn/fit/trainer.h"
#include "kerf/learn/solvers/solver.h"
#include "kerf/model/model.h"
#include "kerf/model/model_file.h"

namespace kerf {
using namespace detail;  // until everything that programs need is in api/
}
