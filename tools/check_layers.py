#!/usr/bin/env python3
"""Fails if a file includes something that its room may not know (ARCHITECTURE.md, 'Rooms').

A room is a folder with sources.  The files of `features/` itself are the contract of its rooms and stand below them; the files named
registry.cpp list what the rooms hold and may look into all of them.
"""
import pathlib
import re
import sys

# Words that the whole library shares with those who use it; what else is in api/ stands above everything.
WORDS = {f"kerf/api/{word}.h" for word in ("error", "export", "matrix", "params", "progress", "score", "task")}
CORE = ["core", "core/random", "core/system", "core/rows"]
BASE = [*CORE, "linalg"]
# Each room with the rooms it may include besides itself.
ROOMS = {
    "core": [],
    "core/system": ["core"],
    "core/random": ["core"],
    "core/rows": ["core", "core/random", "core/system"],
    "linalg": CORE,
    "transforms": CORE,
    "sketch": [*BASE, "transforms"],
    "images": BASE,
    "io": [*CORE, "io/bytes"],
    "io/bytes": CORE,
    "io/text": [*CORE, "io", "io/bytes"],
    "io/arrays": [*CORE, "io", "io/bytes"],
    "io/memory": [*CORE, "io", "io/arrays"],
    "io/table": [*CORE, "io", "io/text"],
    "io/dataset": [*CORE, "io", "io/arrays", "io/table"],
    "kernels": CORE,
    "kernels/gram": [*BASE, "kernels"],
    "kernels/distance": [*BASE, "kernels", "kernels/gram"],
    "kernels/network": [*BASE, "kernels", "kernels/gram"],
    "kernels/image": [*BASE, "images", "kernels", "kernels/gram", "kernels/network"],
    "kernels/skeleton": [*BASE, "kernels", "kernels/network"],
}
KERNELS = [room for room in ROOMS if room.startswith("kernels")]
FEATURES = [*BASE, "transforms", "sketch", *KERNELS, "features", "features/directions"]
ROOMS |= {
    "features": [*BASE, *KERNELS],
    "features/directions": [*BASE, "transforms", "sketch"],
    "features/fourier": FEATURES,
    "features/network": FEATURES,
    "features/skeleton": FEATURES,
    "features/image": [*FEATURES, "images", "features/network"],
    "features/learned": [*FEATURES, "features/fourier"],
}
MODEL = [*BASE, "images", "io", "io/table", *KERNELS, "features", "features/learned"]
LEARN = [*MODEL, "model", "learn/options"]
ROOMS |= {
    "model": MODEL,
    "learn/options": [*MODEL, "model"],
    "learn/design": BASE,
    "learn/ridge": LEARN,
    "learn/lambda": [*LEARN, "learn/ridge"],
    "learn/rows": [*LEARN, "learn/ridge"],
    "learn/quality": [*LEARN, "learn/ridge", "learn/rows"],
    "learn/solvers": [*LEARN, "sketch", "learn/ridge", "learn/lambda", "learn/rows", "learn/quality"],
    "learn/choice": [*LEARN, "learn/ridge", "learn/lambda", "learn/rows", "learn/solvers"],
    "learn/metric": [*LEARN, "learn/ridge", "learn/lambda"],
    "learn/score": LEARN,
    "learn/fit": [*LEARN, "io/dataset", "learn/design", "learn/ridge", "learn/lambda", "learn/rows", "learn/quality", "learn/solvers", "learn/choice", "learn/metric"],
}
INSIGHT = ROOMS["learn/fit"] + ["learn/fit", "learn/score", "learn/design"]
ROOMS |= {
    "insight/measure": INSIGHT,
    "insight/plan": [*INSIGHT, "insight/measure"],
    "insight/compare": [*INSIGHT, "insight/measure"],
    "insight/pages": [*INSIGHT, "insight/measure", "insight/plan", "insight/compare"],
}
ROOMS["api"] = []
ROOMS["api/behind"] = [room for room in ROOMS]
# Foreign libraries that only one file may name.
ONLY_IN = {
    "cblas.h": "kerf/linalg/blas_calls.h",
    "thread": "kerf/core/system/parallel.cpp",
    "fftw3.h": "kerf/transforms/fft_fftw.cpp",
    "kissfft/kiss_fft.h": "kerf/transforms/fft_kissfft.cpp",
}
# What is built with the library sees it from inside; everybody else sees what is installed.
FACES = {"cli": "kerf/inside.h", "python": "kerf/inside.h", "examples": "kerf/kerf.h", "tests/install": "kerf/kerf.h"}
MOST_FILES = 25  # of its own in a room; more, and nobody finds anything

root = pathlib.Path(__file__).resolve().parent.parent
problems = []


def room_of(name):
    return name.removeprefix("kerf/").rpartition("/")[0]


def may_include(name, target):
    room, other = room_of(name), room_of(target)
    if target in WORDS:
        return True
    if other == room or other in ROOMS[room]:
        return True
    return name.endswith("/registry.cpp") and other.startswith(room + "/")


sources = sorted([*root.glob("kerf/**/*.h"), *root.glob("kerf/**/*.cpp")])
count = {}
for path in sources:
    name = path.relative_to(root).as_posix()
    if name in ("kerf/kerf.h", "kerf/inside.h"):
        continue
    room = room_of(name)
    count[room] = count.get(room, 0) + (not name.endswith("_test.cpp"))
    if room not in ROOMS:
        problems.append(f"{name}: {room} is no room that tools/check_layers.py knows")
        continue
    if name.endswith("_test.cpp"):
        continue
    for include in re.findall(r'#include [<"]([^">]+)[">]', path.read_text()):
        if include.startswith("kerf/") and not may_include(name, include):
            problems.append(f"{name}: room {room} must not include {include}")
        if include in ONLY_IN and name != ONLY_IN[include]:
            problems.append(f"{name}: only {ONLY_IN[include]} may include <{include}>")
for folder in {parent for path in sources for parent in path.relative_to(root).parents[:-1]}:
    if not (root / folder / "README.md").is_file():
        problems.append(f"{folder}: no README.md that says what it does, what calls what and where an addition goes")
for room, files in count.items():
    if files > MOST_FILES:
        problems.append(f"kerf/{room}: {files} files, more than {MOST_FILES}: it wants another room")
for face, header in FACES.items():
    for path in sorted([*(root / face).glob("**/*.h"), *(root / face).glob("**/*.cpp")]):
        for include in re.findall(r'#include [<"](kerf/[^">]+)[">]', path.read_text()):
            if include != header and path.name != "cpp_fit.cpp":  # a user's program
                problems.append(f"{path.relative_to(root)}: {face} includes {header} only, not {include}")
print("\n".join(problems) or "layers: ok")
sys.exit(bool(problems))
