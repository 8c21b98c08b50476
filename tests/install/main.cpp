// Trains, saves, loads and predicts through the installed library.
//
// SPDX-License-Identifier: Apache-2.0
#include <kerf/kerf.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  kerf::Dataset data = kerf::open_dataset({argv[1]});
  kerf::fit(data, {.map = kerf::maps::Rff{.features = 128}}).model.save(argv[2]);
  const kerf::Model model = kerf::Model::load(argv[2]);
  const kerf::Score score = model.score(data);
  try {
    kerf::Model::load("nowhere.kerf");
    return 3;
  } catch (const kerf::Error& error) {  // across the border of a shared library too
    if (error.kind() != kerf::ErrorKind::data) return 4;
  }
  std::printf("kerf %s: accuracy %.3f\n", kerf::version(), score.accuracy);
  return score.accuracy > 0.9 ? 0 : 1;
}
