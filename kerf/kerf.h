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
#include "kerf/core/atomic_file.h"
#include "kerf/core/data_summary.h"
#include "kerf/core/error.h"
#include "kerf/core/interrupt.h"
#include "kerf/core/matrix.h"
#include "kerf/core/memory.h"
#include "kerf/core/option_value.h"
#include "kerf/core/options.h"
#include "kerf/core/parallel.h"
#include "kerf/core/progress.h"
#include "kerf/core/random.h"
#include "kerf/core/row_filter.h"
#include "kerf/core/row_source.h"
#include "kerf/core/temporary_files.h"
#include "kerf/core/version.h"
#include "kerf/core/view.h"
#include "kerf/diagnostics/compare.h"
#include "kerf/diagnostics/diagnose.h"
#include "kerf/diagnostics/fit_report.h"
#include "kerf/diagnostics/insight_json.h"
#include "kerf/diagnostics/plan.h"
#include "kerf/diagnostics/skeleton_picture.h"
#include "kerf/diagnostics/spectral.h"
#include "kerf/features/automatic.h"
#include "kerf/features/feature_map.h"
#include "kerf/features/scaling.h"
#include "kerf/features/skeleton_features.h"
#include "kerf/images/image_pipeline.h"
#include "kerf/io/dataset.h"
#include "kerf/io/encoding.h"
#include "kerf/io/npy_writer.h"
#include "kerf/kernels/gram.h"
#include "kerf/kernels/kernel.h"
#include "kerf/kernels/skeleton_bounds.h"
#include "kerf/kernels/skeleton_kernel.h"
#include "kerf/learn/design.h"
#include "kerf/learn/evaluate.h"
#include "kerf/learn/incremental.h"
#include "kerf/learn/trainer.h"
#include "kerf/model/model.h"
#include "kerf/model/model_file.h"
