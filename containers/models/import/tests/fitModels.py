"""Fits one scikit-learn model of each kind on half of load_digits, exports them, and writes what scikit-learn predicts for
the other half: python3 fitModels.py FOLDER"""

import json
import os
import sys
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, PassiveAggressiveClassifier, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from sklearnExport import export_model  # noqa: E402

warnings.filterwarnings("ignore")  # Models that have not converged are as good to compare.

MANY = {
    "linearSvc": LinearSVC(random_state=0, max_iter=200),
    "logisticRegression": LogisticRegression(max_iter=100),
    "logisticOneVsRest": LogisticRegression(solver="liblinear", max_iter=50),
    "sgd": SGDClassifier(random_state=0, max_iter=20),
    "ridge": RidgeClassifier(),
    "perceptron": Perceptron(random_state=0),
    "passiveAggressive": PassiveAggressiveClassifier(random_state=0),
    "svcLinear": SVC(kernel="linear"),
    "svcRbf": SVC(kernel="rbf", C=2),
    "svcRbfFlat": SVC(kernel="rbf", gamma=0.05, C=0.1),
    "svcBreakTies": SVC(kernel="rbf", break_ties=True),
    "svcOneVsOne": SVC(kernel="rbf", decision_function_shape="ovo"),
    "nuSvc": NuSVC(nu=0.2),
    "decisionTree": DecisionTreeClassifier(random_state=0),
    "extraTree": ExtraTreeClassifier(random_state=0),
    "randomForest": RandomForestClassifier(n_estimators=50, random_state=0),
    "extraTrees": ExtraTreesClassifier(n_estimators=20, max_depth=8, random_state=0),
    "mlpRelu": MLPClassifier((48,), random_state=0, max_iter=40),
    "mlpTanh": MLPClassifier((24, 16), activation="tanh", random_state=0, max_iter=40),
    "mlpLogistic": MLPClassifier((24,), activation="logistic", random_state=0, max_iter=40),
    "mlpIdentity": MLPClassifier((12,), activation="identity", random_state=0, max_iter=20),
    "standardizedSvc": make_pipeline(StandardScaler(), SVC()),
    "minMaxLogistic": make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=50)),
    "passedThrough": Pipeline([("p", "passthrough"), ("n", None), ("s", Pipeline([("t", StandardScaler())])), ("m", SVC())]),
    "maxAbsForest": make_pipeline(MaxAbsScaler(), RandomForestClassifier(n_estimators=9, max_depth=5, random_state=1)),
}
# Even against odd digits: models of two classes go other ways in scikit-learn.
TWO = {
    "twoLinearSvc": LinearSVC(random_state=0, max_iter=200),
    "twoLogistic": LogisticRegression(max_iter=50),
    "twoMultinomial": LogisticRegression(multi_class="multinomial", max_iter=50),
    "twoSvcLinear": SVC(kernel="linear"),
    "twoSvcRbf": SVC(),
    "twoForest": RandomForestClassifier(n_estimators=10, random_state=0),
    "twoMlp": MLPClassifier((16,), random_state=0, max_iter=30),
    "twoRidge": RidgeClassifier(),
}


def main(folder):
    inputs, digits = load_digits(return_X_y=True)
    train, test = np.arange(0, len(inputs), 2), np.arange(1, len(inputs), 2)
    models = []
    for names, labels in ((MANY, digits), (TWO, np.where(digits % 2 == 0, "even", "odd"))):
        for name, model in names.items():
            model.fit(inputs[train], labels[train])
            export_model(model, os.path.join(folder, name + ".json"), golden_inputs=inputs[test[:40]])
            predicted = [str(label) for label in model.predict(inputs[test]).tolist()]
            models.append({"name": name, "labels": predicted})
    with open(os.path.join(folder, "predictions.json"), "w", encoding="utf-8") as file:
        json.dump({"inputs": inputs[test].tolist(), "models": models}, file)


if __name__ == "__main__":
    main(sys.argv[1])
