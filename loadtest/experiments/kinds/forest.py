"""Fits a random forest of scikit-learn and exports it: forest.py SKLEARN_EXPORT_FOLDER PIXELS LABELS SEED OUT."""

import sys

import numpy

exports, pixels, labels, seed, out = sys.argv[1:]
sys.path.insert(0, exports)

from sklearn.ensemble import RandomForestClassifier  # noqa: E402
from sklearnExport import export_model  # noqa: E402

truth = numpy.fromfile(labels, dtype=numpy.uint8)
digits = numpy.fromfile(pixels, dtype=numpy.float32).reshape(len(truth), -1)
model = RandomForestClassifier(n_estimators=20, max_depth=10, random_state=int(seed)).fit(digits, truth)
export_model(model, out)
