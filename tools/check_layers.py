#!/usr/bin/env python3
"""Fails if a file includes something that its layer may not know (ARCHITECTURE.md, 'Layers')."""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "core": {"core"},
    "transforms": {"core", "transforms"},
    "sketch": {"core", "transforms", "sketch"},
    "kernels": {"core", "kernels"},
    "io": {"core", "io"},
    "images": {"core", "images"},
    "features": {"core", "transforms", "sketch", "kernels", "features"},
    "model": {"core", "io", "images", "kernels", "features", "model"},
    "learn": {"core", "io", "images", "transforms", "sketch", "kernels", "features", "model", "learn"},
    "diagnostics": {"core", "io", "images", "transforms", "sketch", "kernels", "features", "model", "learn", "diagnostics"},
}
# Foreign libraries that only one file may name.
ONLY_IN = {
    "cblas.h": "kerf/core/blas_calls.h",
    "thread": "kerf/core/parallel.cpp",
    "fftw3.h": "kerf/transforms/fft_fftw.cpp",
    "kissfft/kiss_fft.h": "kerf/transforms/fft_kissfft.cpp",
}
FACES = ("cli", "python", "examples")

root = pathlib.Path(__file__).resolve().parent.parent
problems = []
for path in sorted([*root.glob("kerf/**/*.h"), *root.glob("kerf/**/*.cpp")]):
    name = path.relative_to(root).as_posix()
    layer = path.relative_to(root / "kerf").parts[0]
    if layer == "kerf.h" or name.endswith("_test.cpp"):
        continue
    for include in re.findall(r'#include [<"]([^">]+)[">]', path.read_text()):
        if include.startswith("kerf/") and include.split("/")[1] not in MAY_INCLUDE[layer]:
            problems.append(f"{name}: layer {layer} must not include {include}")
        if include in ONLY_IN and name != ONLY_IN[include]:
            problems.append(f"{name}: only {ONLY_IN[include]} may include <{include}>")
for face in FACES:
    for path in sorted([*(root / face).glob("**/*.h"), *(root / face).glob("**/*.cpp")]):
        for include in re.findall(r'#include "(kerf/[^"]+)"', path.read_text()):
            if include != "kerf/kerf.h":
                problems.append(f"{path.relative_to(root)}: faces include kerf/kerf.h only, not {include}")
print("\n".join(problems) or "layers: ok")
sys.exit(bool(problems))
