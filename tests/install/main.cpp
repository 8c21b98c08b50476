// Trains, saves, loads and predicts through the installed library.
//
// SPDX-License-Identifier: Apache-2.0
#include <kerf/kerf.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  kerf::Dataset data = kerf::open_dataset({argv[1]}, {}, kerf::rng::Key{1});
  kerf::FitResult fit = kerf::fit(*data.source, data.summary, "rff", {{"features", "128"}}, {});
  fit.model.encoding = data.encoding;
  kerf::save_model(fit.model, argv[2]);
  const kerf::Model model = kerf::load_model(argv[2]);
  const kerf::Score score = kerf::evaluate(model, *data.source);
  std::printf("kerf %s: accuracy %.3f\n", kerf::version(), score.accuracy);
  return score.accuracy > 0.9 ? 0 : 1;
}
