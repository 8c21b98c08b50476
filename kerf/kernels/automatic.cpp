// SPDX-License-Identifier: Apache-2.0
#include "kerf/kernels/automatic.h"

#include "kerf/core/rows/image_text.h"

namespace kerf::detail {

std::string OpenOptions::given(const char* name, const char* otherwise) const {
  const auto found = params_.find(name);
  return found == params_.end() ? otherwise : found->second;
}

void OpenOptions::settle(const char* name, const std::string& value) {
  if (is_open(name)) params_[name] = value;
}

void OpenOptions::settle_distance(const char* name, DistanceNorm norm) {
  if (is_open(name)) params_[name] = format_number(data_.typical_distance(norm));
}

void OpenOptions::settle_length(const char* name) {
  if (is_open(name)) params_[name] = format_number(data_.typical_length());
}

void OpenOptions::settle_image(const char* name) {
  const ImageShape table{1, 1, summary().cols};
  settle(name, format_image_shape(summary().image.present() ? summary().image : table));
}

}  // namespace kerf::detail
