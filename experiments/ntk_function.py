"""The normalised ReLU NTK function of several depths, and polynomials fitted to depth 3: Figure 1 of Zandieh et al.

Both come out of the program: the exact kernel of rows on a circle, and the features of ntk-poly, which for two columns
are exact monomials, so that their inner products are the fitted polynomial itself.
"""
import numpy as np

from harness import Experiment
from ntk_common import features, kernel


def run(experiment):
    cosines = np.cos(np.linspace(0, np.pi, 41))
    circle = np.stack([cosines, np.sqrt(np.maximum(0, 1 - cosines ** 2))], axis=1)
    for depth in (2, 4, 8, 16, 32):
        values = kernel(experiment, circle, "--kernel", "ntk", "--depth", depth, "--bias", 0)[0] / (depth + 1)
        for a, value in zip(cosines, values):
            experiment.row(cosine=float(a), function=f"L = {depth}", value=float(value))
    exact = kernel(experiment, circle, "--kernel", "ntk", "--depth", 3, "--bias", 0)[0] / 4
    for a, value in zip(cosines, exact):
        experiment.row(cosine=float(a), fit="depth 3, exact", fitted=float(value))
    for degree in (4, 8, 16, 32):
        z = features(experiment, circle, "--map", "ntk-poly", "--depth", 3, "--bias", 0, "--degree", degree, "--features", 1000)
        values = z @ z[0] / 4
        for a, value in zip(cosines, values):
            experiment.row(cosine=float(a), fit=f"degree {degree}", fitted=float(value))
        experiment.note(f"Depth 3, degree {degree}: largest error {np.abs(values - exact).max():.3f} of the value at 1.\n")
    experiment.plot(x="cosine", y="value", group="function", title="ReLU NTK / (L + 1)")
    experiment.plot(x="cosine", y="fitted", group="fit", title="polynomials with non-negative coefficients, L = 3")


if __name__ == "__main__":
    Experiment(__file__, "The NTK function and its polynomial fits", run)
