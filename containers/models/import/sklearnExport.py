#!/usr/bin/env python3
"""Writes a fitted scikit-learn classifier as JSON, for `windjammer import sklearn`.

From Python (tried with scikit-learn 1.2 and 1.9; Debian: apt-get install python3-sklearn):

    from sklearnExport import export_model
    export_model(model, "digits.json", golden_inputs=X_test[:20])

From a shell, for a model that joblib or pickle saved (loading one runs code: only open files that you trust):

    python3 sklearnExport.py model.joblib --out digits.json --golden X_test.npy

Classifiers: LinearSVC, LogisticRegression(CV), SGDClassifier, RidgeClassifier(CV), Perceptron,
PassiveAggressiveClassifier, SVC and NuSVC (linear, rbf), DecisionTreeClassifier, ExtraTreeClassifier,
RandomForestClassifier, ExtraTreesClassifier, MLPClassifier; a Pipeline of StandardScaler, MinMaxScaler or MaxAbsScaler
and one of them. Golden inputs go into the file with the labels and scores that scikit-learn predicts for them here;
`windjammer test` holds the imported model to them.
"""

import argparse
import json
import sys

import numpy as np
import sklearn

LINEAR = {
    "LinearSVC", "LogisticRegression", "LogisticRegressionCV", "SGDClassifier", "RidgeClassifier", "RidgeClassifierCV",
    "Perceptron", "PassiveAggressiveClassifier",
}
SUPPORT_VECTORS = {"SVC", "NuSVC"}
TREES = {"DecisionTreeClassifier", "ExtraTreeClassifier"}
FORESTS = {"RandomForestClassifier", "ExtraTreesClassifier"}
SCALERS = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler"}
SUPPORTED = sorted(LINEAR | SUPPORT_VECTORS | TREES | FORESTS | {"MLPClassifier"})


class ExportError(ValueError):
    """The model cannot be exported; the message says why and what can be."""


def export_model(model, path, golden_inputs=None, name=None):
    """Writes `model` to `path`. golden_inputs: rows that the model takes; name: 'digits' unless the file is called else."""
    document = describe_model(model, golden_inputs, name or _name_of(path))
    try:
        text = json.dumps(document, allow_nan=False)
    except ValueError as error:
        raise ExportError("the model has parameters that are NaN or infinite: fit it again") from error
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "\n")


def describe_model(model, golden_inputs=None, name="model"):
    """The export as a dictionary."""
    steps, estimator = _split(model)
    kind = type(estimator).__name__
    classes = getattr(estimator, "classes_", None)
    if kind in LINEAR:
        description = _linear(estimator, kind)
    elif kind in SUPPORT_VECTORS:
        description = _support_vectors(estimator, kind)
    elif kind in TREES:
        description = _trees([estimator], kind)
    elif kind in FORESTS:
        description = _trees(_fitted(estimator, "estimators_", kind), kind)
    elif kind == "MLPClassifier":
        description = _perceptron(estimator)
    else:
        raise ExportError(f"{kind} cannot be exported, only {', '.join(SUPPORTED)}")
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
        raise ExportError(f"{kind}: only classifiers with one output of two or more classes can be exported")
    labels = [str(label) for label in classes.tolist()]
    features = int(model.n_features_in_)
    document = {
        "format": "windjammer-sklearn",
        "formatVersion": 1,
        "sklearnVersion": sklearn.__version__,
        "name": name,
        "estimator": " + ".join([type(step).__name__ for step in steps] + [kind]),
        "features": features,
        "classes": labels,
        "steps": [_scaler(step) for step in steps],
        "model": description,
        "golden": [],
    }
    if golden_inputs is not None:
        document["golden"] = _golden(model, description, golden_inputs, labels, features)
    return document


def _split(model):
    if type(model).__name__ != "Pipeline":
        return [], model
    steps = [step for _, step in model.steps if step is not None and step != "passthrough"]
    for step in steps[:-1]:
        if type(step).__name__ not in SCALERS:
            raise ExportError(f"{type(step).__name__} cannot be a step of the pipeline, only {', '.join(sorted(SCALERS))}")
    return steps[:-1], steps[-1]


def _fitted(estimator, attribute, kind):
    value = getattr(estimator, attribute, None)
    if value is None:
        raise ExportError(f"{kind} is not fitted: call fit first")
    return value


def _dense(values):
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def _list(values):
    return np.asarray(values, dtype=np.float64).tolist()


def _scaler(step):
    kind = type(step).__name__
    features = int(_fitted(step, "n_features_in_", kind))
    if kind == "StandardScaler":
        shift = step.mean_ if step.with_mean else np.zeros(features)
        divisor = step.scale_ if step.with_std else np.ones(features)
        return {"kind": "standardize", "shift": _list(shift), "divisor": _list(divisor)}
    if kind == "MaxAbsScaler":
        return {"kind": "standardize", "shift": _list(np.zeros(features)), "divisor": _list(step.scale_)}
    if step.clip:
        raise ExportError("MinMaxScaler(clip=True) cannot be exported: fit it with clip=False")
    return {"kind": "scale", "factor": _list(step.scale_), "offset": _list(step.min_)}


def _linear(model, kind):
    coefficients = np.atleast_2d(_dense(_fitted(model, "coef_", kind)))
    intercepts = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (coefficients.shape[0],))
    return {
        "kind": "linear",
        "coefficients": _list(coefficients),
        "intercepts": _list(intercepts),
        "probabilities": _probabilities(model, kind),
    }


def _probabilities(model, kind):
    if not kind.startswith("LogisticRegression"):
        return "none"
    multi_class = getattr(model, "multi_class", "auto")
    if multi_class == "ovr" or model.solver == "liblinear":
        return "logistic"
    if multi_class != "multinomial" and len(model.classes_) == 2:
        return "logistic"
    # A multinomial fit of two classes has one decision d for both: softmax of (-d, d).
    return "softmax"


def _support_vectors(model, kind):
    dual = _fitted(model, "dual_coef_", kind)
    if model.kernel not in ("linear", "rbf"):
        raise ExportError(f"{kind}(kernel={model.kernel!r}) cannot be exported, only 'linear' and 'rbf'")
    # The public attributes of a machine of two classes have the opposite signs of libsvm's.
    sign = -1.0 if len(model.classes_) == 2 else 1.0
    return {
        "kind": "supportVectors",
        "kernel": model.kernel,
        "gamma": float(model._gamma) if model.kernel == "rbf" else 0.0,
        "vectors": _list(_dense(model.support_vectors_)),
        "vectorsOfClass": [int(count) for count in model.n_support_],
        "dualCoefficients": _list(sign * _dense(dual)),
        "intercepts": _list(sign * np.asarray(model.intercept_)),
        "breakTies": bool(model.break_ties and model.decision_function_shape == "ovr"),
    }


def _trees(trees, kind):
    return {"kind": "trees", "trees": [_tree(_fitted(tree, "tree_", kind)) for tree in trees]}


def _tree(tree):
    if tree.n_outputs != 1:
        raise ExportError("trees with several outputs cannot be exported: fit one model an output")
    is_leaf = tree.children_left < 0
    values = tree.value[is_leaf, 0, :]
    totals = values.sum(axis=1, keepdims=True)
    totals[totals == 0.0] = 1.0
    return {
        "feature": np.where(is_leaf, -1, tree.feature).tolist(),
        "threshold": _list(np.where(is_leaf, 0.0, tree.threshold)),
        "left": tree.children_left.tolist(),
        "right": tree.children_right.tolist(),
        "leafProbabilities": _list(values / totals),
    }


def _perceptron(model):
    coefs = _fitted(model, "coefs_", "MLPClassifier")
    if model.out_activation_ == "logistic" and model.n_outputs_ > 1:
        raise ExportError("MLPClassifier with several labels an input cannot be exported")
    return {
        "kind": "perceptron",
        "activation": model.activation,
        "layers": [{"weights": _list(w), "biases": _list(b)} for w, b in zip(coefs, model.intercepts_)],
    }


def _golden(model, description, inputs, labels, features):
    inputs = np.asarray(inputs, dtype=np.float64)
    if inputs.ndim != 2 or inputs.shape[1] != features:
        raise ExportError(f"golden inputs have the shape {inputs.shape}, the model takes rows of {features} values")
    predicted = [str(label) for label in model.predict(inputs).tolist()]
    scores = _scores(model, description, inputs, len(labels))
    return [
        {"input": _list(row), "label": label, "scores": _list(score)}
        for row, label, score in zip(inputs, predicted, scores)
    ]


def _scores(model, description, inputs, classes):
    """What the imported model answers as scores, by scikit-learn: one value a class."""
    kind = description["kind"]
    if kind == "trees" or kind == "perceptron" or description.get("probabilities", "none") != "none":
        return model.predict_proba(inputs)
    decisions = np.asarray(model.decision_function(inputs))
    if kind == "linear":
        return np.stack([-decisions, decisions], axis=1) if classes == 2 else decisions
    if classes == 2:
        confidence = np.stack([-decisions, decisions], axis=1)
        return (np.stack([-decisions >= 0, -decisions < 0], axis=1)) + confidence / (3 * (np.abs(confidence) + 1))
    if decisions.shape[1] == classes and _split(model)[1].decision_function_shape == "ovr":
        return decisions
    from sklearn.utils.multiclass import _ovr_decision_function

    return _ovr_decision_function(decisions < 0, -decisions, classes)


def _name_of(path):
    return str(path).replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0] or "model"


def main():
    parser = argparse.ArgumentParser(description="write a fitted scikit-learn classifier as JSON for windjammer")
    parser.add_argument("model", help="a file that joblib or pickle wrote; loading it runs code, so trust it")
    parser.add_argument("--out", required=True, help="the JSON file to write")
    parser.add_argument("--golden", help="a .npy file with rows to predict here and test the import with")
    parser.add_argument("--name", help="the model's name, in place of the file's")
    options = parser.parse_args()
    import joblib

    try:
        golden = None if options.golden is None else np.load(options.golden, allow_pickle=False)
        export_model(joblib.load(options.model), options.out, golden, options.name)
    except (ExportError, OSError) as error:
        sys.exit(f"sklearnExport: {error}")


if __name__ == "__main__":
    main()
