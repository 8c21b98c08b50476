// A model of a file through kerf.h, for the test that all faces make the same one.
//
//   kerf_cpp_fit DATA[,LABELS] MODEL MAP [NAME=VALUE ...]      data.NAME: of the data, map.NAME: of the map
//
// SPDX-License-Identifier: Apache-2.0
#include <kerf/kerf.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  kerf::DataOptions data;
  kerf::FitRequest request{.map = argv[3], .command = "kerf.h"};
  for (int i = 4; i < argc; ++i) {
    const std::string option = argv[i];
    const std::string name = option.substr(0, option.find('=')),
                      value = option.substr(name.size() + 1);
    if (name == "data.missing")
      data.missing = value;
    else if (name == "data.labels")
      data.labels = value;
    else if (name == "data.task")
      data.task = value;
    else if (name.starts_with("map."))
      request.map.options[name.substr(4)] = value;
    else
      request.by_name[name] = value;
  }
  try {
    kerf::Dataset rows = kerf::open_dataset({argv[1]}, data);
    kerf::fit(rows, request).model.save(argv[2]);
  } catch (const kerf::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
