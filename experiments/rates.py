"""Rates of random feature models: the error of m features falls as 1/sqrt(m), and sqrt(n) features keep the rate of n rows.

The target is f = sum_k c_k k(., x_k), a function of the Gaussian kernel's space with 20 centres in 5 dimensions.
Approximation: f_m = sum_k c_k <z(.), z(x_k)> on m features, its error in L2 over 2,000 new points, ten draws.
Learning: rows y = f(x) + noise (standard deviation 0.5), lambda = 0.1/sqrt(n), and n^(1/4), sqrt(n) or n features; squared L2 distance to f,
mean over draws.  Theory: approximation slope -1/2 in m; the risk of m >= sqrt(n) features falls at least as n^-1/2, like that of the kernel.
"""
import sys

import numpy as np

from harness import ROOT, Experiment

sys.path.insert(0, str(ROOT / "build" / "release" / "python"))
DIMENSIONS, CENTRES, BANDWIDTH, NOISE = 5, 20, 2.0, 0.5


def target():
    """f as a function of rows, with its centres and coefficients."""
    import kerf
    random = np.random.default_rng(0)
    centres = random.normal(size=(CENTRES, DIMENSIONS)).astype(np.float32)
    coefficients = random.normal(size=CENTRES)
    return lambda x: kerf.gram("gaussian", x, centres, bandwidth=BANDWIDTH) @ coefficients, centres, coefficients


def slope(x, y):
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def approximation(experiment, f, centres, coefficients, draws):
    import kerf
    x = np.random.default_rng(1).normal(size=(2000, DIMENSIONS)).astype(np.float32)
    exact, sizes, errors = f(x), [2 ** k for k in range(5, 14)], []
    for m in sizes:
        each = []
        for seed in range(draws):
            features = kerf.RFF(features=m, bandwidth=BANDWIDTH, random_state=seed).fit(x)
            each.append(np.mean((features.transform(x).astype(float) @ (features.transform(centres).T.astype(float) @ coefficients) - exact) ** 2))
        errors.append(np.sqrt(np.mean(each)))
        experiment.row(part="approximation", features=m, rows=None, kind="f_m", error=float(errors[-1]))
    experiment.note(f"Slope of the approximation error in m: {slope(sizes, errors):.3f} (theory -1/2).")


def learning(experiment, f, draws, sizes):
    import kerf
    x_test = np.random.default_rng(2).normal(size=(2000, DIMENSIONS)).astype(np.float32)
    exact = f(x_test)
    kinds = {"m = n^(1/4)": lambda n: round(n ** 0.25), "m = sqrt(n)": lambda n: round(n ** 0.5), "m = n, at most 4,096": lambda n: min(n, 4096)}
    risks = {kind: [] for kind in kinds}
    for n in sizes:
        for kind, count in kinds.items():
            m, each = max(2, count(n) // 2 * 2), []
            for draw in range(draws):
                random = np.random.default_rng(100 + draw)
                x = random.normal(size=(n, DIMENSIONS)).astype(np.float32)
                y = f(x) + NOISE * random.normal(size=n)
                model = kerf.KernelRidge(map="rff", features=m, bandwidth=BANDWIDTH, scale="none", lambda_=0.1 / np.sqrt(n), random_state=draw).fit(x, y)
                each.append(np.mean((model.predict(x_test) - exact) ** 2))
            risks[kind].append(np.mean(each))
            experiment.row(part="learning", features=m, rows=n, kind=kind, error=float(risks[kind][-1]))
    for kind, values in risks.items():
        experiment.note(f"{kind}: slope of the risk in n {slope(sizes, values):.3f}.")


def run(experiment):
    f, centres, coefficients = target()
    draws = 3 if experiment.quick else 10
    approximation(experiment, f, centres, coefficients, draws)
    learning(experiment, f, draws, [2 ** k for k in range(8, 13 if experiment.quick else 17)])
    experiment.plot(x="features", y="error", where={"part": "approximation"}, log_x=True, log_y=True, title="Approximation", y_label="L2 error")
    experiment.plot(x="rows", y="error", group="kind", where={"part": "learning"}, log_x=True, log_y=True, title="Learning", y_label="squared L2 distance")


if __name__ == "__main__":
    Experiment(__file__, "Rates of random feature models", run)
