// What a shared library shows of itself: the names of this folder and nothing else.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define KERF_API __attribute__((visibility("default")))
