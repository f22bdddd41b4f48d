"""Writes the small exports that the unit tests import, with what scikit-learn predicts: python3 smallModels.py FOLDER"""

import os
import sys
import warnings

import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from sklearnExport import export_model  # noqa: E402

warnings.filterwarnings("ignore")

MODELS = {
    "logistic": LogisticRegression(),
    "standardizedSvc": make_pipeline(StandardScaler(), SVC(C=10)),
    "forest": RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0),
    "perceptron": MLPClassifier((5,), activation="tanh", random_state=0, max_iter=200),
}


def main(folder):
    data = load_iris()
    names = data.target_names[data.target]
    golden = data.data[np.arange(3, 150, 12)]
    for name, model in MODELS.items():
        export_model(model.fit(data.data, names), os.path.join(folder, name + ".json"), golden_inputs=golden)
    # Trees take missing values since scikit-learn 1.4; here petals of one kind lack a length, and others some values.
    gaps = data.data.copy()
    gaps[data.target == 1, 2] = np.nan
    gaps[np.arange(0, 150, 7), 0] = np.nan
    model = RandomForestClassifier(n_estimators=5, max_depth=3, random_state=0).fit(gaps, names)
    export_model(model, os.path.join(folder, "forestOfGaps.json"), golden_inputs=gaps[np.arange(0, 150, 6)])
    two = data.target > 0
    model = LinearSVC(random_state=0).fit(data.data[two], names[two])
    export_model(model, os.path.join(folder, "twoClasses.json"), golden_inputs=data.data[two][::9])


if __name__ == "__main__":
    main(sys.argv[1])
