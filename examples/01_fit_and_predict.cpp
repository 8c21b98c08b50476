// Train on a CSV file, save, load, score: the whole way in ten lines.
//
// SPDX-License-Identifier: Apache-2.0
#include <kerf/kerf.h>

#include <cstdio>

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "data";
  try {
    using namespace kerf;
    Dataset train = open_dataset({folder + "/digits_train.csv.gz"}, {}, rng::Key{1});
    FitResult fit = kerf::fit(*train.source, train.summary, "arccos", {{"features", "2048"}}, {});
    fit.model.encoding = train.encoding;
    save_model(fit.model, "digits.kerf");

    const Model model = load_model("digits.kerf");
    const auto test = open_for_model({folder + "/digits_test.csv.gz"}, *model.encoding, {});
    std::printf("accuracy %.4f\n", evaluate(model, *test).accuracy);
  } catch (const kerf::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
