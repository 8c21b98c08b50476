"""Mean squared error of NTK entries against the number of features, on MNIST rows: Figure 2 of Han et al.

Depths 1, 2 and 4; gradients of a random network (grad-rf), the whole tensor product (none), the two sketches of the
papers in their layers (--split false, averaged over ms = 0.2, 0.5, 0.8 of the features, where the paper takes 0.1 to 0.9, for tensorsketch
and tensorsrht), the split layers and ntk-poly.  The paper takes 10,000 rows and gives a plot, no numbers.
"""
import numpy as np

from harness import Experiment
from ntk_common import features, kernel, mnist_rows

PAPER = ["--split", "false", "--signs", "false", "--directions", "gaussian", "--shared-directions", "false"]


def mean_squared_error(exact, z):
    """None for a dead network, all of whose features are 0 on most rows: the error would be that of no features, the mean of K^2."""
    return float(np.mean((z @ z.T - exact) ** 2)) if np.mean(z.any(axis=1)) > 0.5 else None


def run(experiment):
    x = mnist_rows(experiment, 200 if experiment.quick else 500, 7)
    dead = []
    sizes = [256, 1024] if experiment.quick else [512, 1024, 2048, 4096, 8192]
    for depth in (1, 2, 4):
        exact = kernel(experiment, x, "--kernel", "ntk", "--depth", depth, "--bias", 0)

        def error(m, *flags):
            return mean_squared_error(exact, features(experiment, x, "--depth", depth, "--bias", 0, "--features", m, *flags))

        for m in sizes:
            shares = [m * k // 10 for k in ((5,) if experiment.quick else (2, 5, 8))]
            rows = {name: float(np.mean([error(m, "--map", "ntk-rf", "--sketch", name, "--ms", ms, *PAPER) for ms in shares]))
                    for name in ("tensorsketch", "tensorsrht")}
            rows["split"] = error(m, "--map", "ntk-rf", "--split", "true")
            rows["poly"] = error(m, "--map", "ntk-poly")
            if m >= 784 + 1 + depth:  # one unit a layer
                rows["grad-rf"] = error(m, "--map", "grad-rf")
            # Layers of w step and w ReLU features need P_L features: P_0 = d, P_l = w + w P_{l-1}.
            if m >= 785 + depth:
                rows["none"] = error(m, "--map", "ntk-rf", "--sketch", "none", *PAPER)
            for name, value in rows.items():
                if value is None:
                    dead.append(f"{name} at depth {depth}, {m:,} features")
                else:
                    experiment.row(depth=depth, features=m, method=name, mean_squared_error=value)
    experiment.note("Kernel entries lie between 0 and depth + 1.")
    if dead:
        experiment.note("Left out, since all features of most rows are 0 (dead networks: of few units a layer none fires): " + "; ".join(dead) + ".")
    for depth in (1, 2, 4):
        experiment.plot(x="features", y="mean_squared_error", group="method", log_x=True, log_y=True, where={"depth": depth}, title=f"depth {depth}")


if __name__ == "__main__":
    Experiment(__file__, "NTK entries on MNIST: error against dimension", run)
