"""Figure 4 of the paper on compositional kernels: which pixels occur together in random features.

Features of four kernels on 24x24x3 images, all ReLU: flat (one full layer), and one to three layers of convolutions
below it.  For each kernel: correlation over features of the event that a pixel occurs (in any channel) with the same
event of four chosen pixels (crosses).  The table: mean correlation of all pairs of different pixels by the lowest layer
with a node over both of them.  Published as pictures only.
"""

import numpy as np

from harness import Experiment

SIDE = 24
KERNELS = {"flat": [], "one convolution": [(5, 1)], "two convolutions": [(5, 2), (4, 2)], "three convolutions": [(4, 2), (3, 1), (3, 2)]}
PIXELS = [(6, 6), (6, 17), (17, 6), (17, 17)]


def occurrences(experiment, layers, features):
    """Correlation matrix, pixel by pixel, of 'occurs in a feature'."""
    text = ", ".join(["circle 1", *(f"conv {size}/{stride} relu" for size, stride in layers), "full relu"])
    path = experiment.scratch / "features.txt"
    experiment.kerf("skeleton", "features", text, "--image", f"{SIDE}x{SIDE}x3", "--features", features, "--deduplicate=false", "-o", path)
    count = np.zeros((SIDE * SIDE, SIDE * SIDE))
    total = 0
    for line in path.open():
        total += 1
        pixels = sorted({int(word.split(":")[0]) // 3 for word in line.split()[2:]})
        if len(pixels) == 1:
            count[pixels[0], pixels[0]] += 1
        elif pixels:
            count[np.ix_(pixels, pixels)] += 1
    chance = np.diag(count) / total
    covariance = count / total - np.outer(chance, chance)
    with np.errstate(invalid="ignore"):  # pixels that no window covers never occur
        return covariance / np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)))


def shared_layer(layers):
    """For each pair of pixels the lowest layer with a node over both: 1 for the first, ...; len(layers) + 1: the full layer."""
    side, cover = SIDE, [{k} for k in range(SIDE * SIDE)]
    lowest = np.full((SIDE * SIDE, SIDE * SIDE), len(layers) + 1)
    windows = []
    for size, stride in layers:
        out = (side - size) // stride + 1
        cover = [set().union(*(cover[(y * stride + i) * side + x * stride + j] for i in range(size) for j in range(size))) for y in range(out) for x in range(out)]
        side = out
        windows.append(cover)
    for layer in range(len(layers), 0, -1):
        for window in windows[layer - 1]:
            pixels = sorted(window)
            lowest[np.ix_(pixels, pixels)] = layer
    return lowest


def draw(path, maps):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10, "svg.hashsalt": "kerf"})
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(len(maps), len(PIXELS), figsize=(2.3 * len(PIXELS), 2.4 * len(maps)), layout="constrained")
    for (name, correlation), line in zip(maps.items(), axes):
        top = max(np.sort(np.nan_to_num(correlation[y * SIDE + x]))[-6] for y, x in PIXELS)  # all but the pixel itself and its nearest
        for (y, x), axis in zip(PIXELS, line):
            axis.imshow(np.sqrt(np.clip(correlation[y * SIDE + x].reshape(SIDE, SIDE), 0, top)), cmap="magma", vmin=0, vmax=np.sqrt(top))
            axis.plot(x, y, "+", color="deepskyblue", markersize=9, markeredgewidth=2)
            axis.set(xticks=[], yticks=[])
        line[0].set_ylabel(name)
    figure.suptitle("Which pixels occur together in random features: root of the correlation with the pixel at the cross")
    figure.savefig(path, metadata={"Date": None})


def run(experiment):
    features = 50000 if experiment.quick else experiment.arguments.features
    maps = {}
    for name, layers in KERNELS.items():
        correlation = maps[name] = occurrences(experiment, layers, features)
        lowest = shared_layer(layers)
        others = ~np.eye(SIDE * SIDE, dtype=bool) & np.isfinite(correlation)
        for layer in range(1, len(layers) + 2):
            pairs = others & (lowest == layer)
            if pairs.any():
                experiment.row(kernel=name, features=features, pixels_share="only the full layer" if layer == len(layers) + 1 else f"layer {layer}",
                               pairs=int(pairs.sum() // 2), mean_correlation=float(correlation[pairs].mean()))
    experiment.arguments.out.mkdir(parents=True, exist_ok=True)
    page = experiment.file.stem + ("-quick" if experiment.quick else "") + ".svg"
    draw(experiment.arguments.out / page, maps)
    experiment.note(f"![Heat maps]({page})")


if __name__ == "__main__":
    Experiment(__file__, "Which pixels occur together in random features", run,
               [("--features", {"type": int, "default": 500000})])
