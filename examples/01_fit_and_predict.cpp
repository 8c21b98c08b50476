// Train on a CSV file, save, load, score: the whole way in a few lines.
//
// SPDX-License-Identifier: Apache-2.0
#include <kerf/kerf.h>

#include <cstdio>

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "data";
  try {
    kerf::Dataset train = kerf::open_dataset({folder + "/digits_train.csv.gz"});
    kerf::Fit fit = kerf::fit(train, {.map = kerf::maps::Arccos{.features = 2048}});
    fit.model.save("digits.kerf");

    const kerf::Model model = kerf::Model::load("digits.kerf");
    kerf::Dataset test = model.open({folder + "/digits_test.csv.gz"});
    std::printf("accuracy %.4f\n", model.score(test).accuracy);
  } catch (const kerf::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
