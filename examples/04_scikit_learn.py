"""The whole way in Python: train, save, load, score; then the same features in a scikit-learn pipeline.

    python3 examples/04_scikit_learn.py [data]
"""
import sys

import numpy as np

import kerf

folder = sys.argv[1] if len(sys.argv) > 1 else "data"
train, test = (np.loadtxt(f"{folder}/digits_{part}.csv.gz", delimiter=",", skiprows=1) for part in ("train", "test"))

model = kerf.KernelClassifier(map="arccos", features=512).fit(train[:, :-1], train[:, -1].astype(int))
model.save("digits.kerf")  # `kerf predict digits.kerf rows.csv` reads it too

model = kerf.load("digits.kerf")
print(f"accuracy {model.score(test[:, :-1], test[:, -1].astype(int)):.4f}, lambda {model.best_lambda_:.2g}")

try:
    from sklearn.linear_model import RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
except ImportError:
    sys.exit(0)  # scikit-learn is optional

pipeline = make_pipeline(StandardScaler(), kerf.RFF(features=512), RidgeClassifier()).fit(train[:, :-1], train[:, -1])
print(f"accuracy {pipeline.score(test[:, :-1], test[:, -1]):.4f} in a pipeline")
