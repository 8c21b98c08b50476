// SPDX-License-Identifier: Apache-2.0
#include "kerf/core/system/temporary_files.h"

#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstring>

namespace kerf::detail {
namespace {

/// Fixed places: a signal handler can read neither a list that another thread changes nor its memory.
/// More files at once than there are places are not remembered.
struct Place {
  enum State { free, taken, named };
  std::atomic<State> state = free;
  char path[PATH_MAX] = {};
};
constexpr int kPlaces = 16;
Place places[kPlaces];
std::atomic<bool> wrote = false;

}  // namespace

void TemporaryName::remember(const std::string& path) {
  forget();
  if (path.size() >= PATH_MAX) return;
  for (int i = 0; i < kPlaces; ++i) {
    auto expected = Place::free;
    if (!places[i].state.compare_exchange_strong(expected, Place::taken)) continue;
    std::memcpy(places[i].path, path.c_str(), path.size() + 1);
    places[i].state = Place::named;
    slot_ = i;
    return;
  }
}

void TemporaryName::forget() {
  if (slot_ >= 0) places[slot_].state = Place::free;
  slot_ = -1;
}

void TemporaryName::keep() {
  wrote = true;
  forget();
}

bool wrote_files() { return wrote; }

void remove_temporary_files() {
  for (const Place& place : places)
    if (place.state == Place::named) ::unlink(place.path);
}

}  // namespace kerf::detail
