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
and one of them, `passthrough` and None steps among them. Trees that learned where missing values go (scikit-learn 1.3 and
later) keep those routes: the imported model takes NaN as they do. Other classifiers, regressors and transformers (sklearnGraph.py beside this file has them) are written as graphs of operators: regressors of every kind,
boosted trees, neighbours, naive Bayes, calibrated and voting classifiers, behind ColumnTransformer, encoders, imputers, PCA and selectors.
Columns of strings (encoders of categories) and texts (CountVectorizer, TfidfVectorizer, HashingVectorizer) are taken as they are: the imported
model takes `strings`, one text a query or a list with a value for each column.
Golden inputs go into the file with the labels and scores that scikit-learn predicts for them here;
`windjammer test` holds the imported model to them.
"""

import argparse
import json
import math
import os
import sys

try:
    import numpy as np
    from sklearn import __version__ as SKLEARN_VERSION
except ImportError as error:
    sys.exit(f"sklearnExport: {error}: install scikit-learn (pip install scikit-learn, or apt-get install python3-sklearn)")

# Beside this file, wherever it is run from.
sys.path.append(os.path.dirname(os.path.abspath(__file__)))
import sklearnGraph
import sklearnTexts

LINEAR = {
    "LinearSVC", "LogisticRegression", "LogisticRegressionCV", "SGDClassifier", "RidgeClassifier", "RidgeClassifierCV",
    "Perceptron", "PassiveAggressiveClassifier",
}
SUPPORT_VECTORS = {"SVC", "NuSVC"}
TREES = {"DecisionTreeClassifier", "ExtraTreeClassifier"}
FORESTS = {"RandomForestClassifier", "ExtraTreesClassifier"}
SCALERS = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler"}
WAY_ON = "; it can be served as it is, as a Python module (docs/guides/models.md#python)"
SEARCHES = {"GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"}
SUPPORTED = sorted(LINEAR | SUPPORT_VECTORS | TREES | FORESTS | {"MLPClassifier"})


class ExportError(ValueError):
    """The model cannot be exported; the message says why and what can be."""


def export_model(model, path, golden_inputs=None, name=None, max_terms=2048):
    """Writes `model` to `path`. golden_inputs: rows that the model takes; name: 'digits' unless the file is called else.

    max_terms: different terms that a text may have of those that the model knows.
    """
    document = describe_model(model, golden_inputs, name or _name_of(path), max_terms)
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(document, allow_nan=False) + "\n")


def describe_model(model, golden_inputs=None, name="model", max_terms=2048):
    """The export as a dictionary. Raises ExportError, whatever is wrong."""
    try:
        return _document(model, golden_inputs, name, max_terms)
    except ExportError:
        raise
    except Exception as error:  # pylint: disable=broad-except
        problem = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ExportError(
            f"{_kind(model)} of scikit-learn {SKLEARN_VERSION} cannot be exported ({problem}): fit it again with this release"
        ) from error


def _is_plain(model):
    """Whether all of a model is what the first version of the format has."""
    steps = _steps(model)
    kinds = [_kind(step) for step in steps]
    plain = all(kind in SCALERS and not getattr(step, "clip", False) for kind, step in zip(kinds[:-1], steps))
    if kinds and kinds[-1] in SUPPORT_VECTORS and steps[-1].kernel not in ("linear", "rbf"):
        return False
    return not kinds or (plain and (kinds[-1] in SUPPORTED or not sklearnGraph.can_be_graph(steps[-1])))


def _graph_document(model, golden_inputs, name, max_terms):
    """A graph of operators, version 2 of the format."""
    steps = _steps(model)
    names = None
    if not sklearnGraph.is_text(model):
        features = int(_fitted(steps[0], "n_features_in_", _kind(steps[0])))
        names = [str(one) for one in getattr(steps[0], "feature_names_in_", [f"x{place}" for place in range(features)])]
    if isinstance(max_terms, bool) or not isinstance(max_terms, int) or not 1 <= max_terms <= 2**16:
        raise ExportError(f"max_terms is {max_terms!r}, expected a whole number from 1 to {2**16}")
    try:
        graph = sklearnGraph.graph_of(model, names, max_terms)
    except sklearnGraph.GraphError as error:
        raise ExportError(f"{error}{WAY_ON}") from error
    document = {
        "format": "windjammer-sklearn",
        "formatVersion": 2,
        "sklearnVersion": SKLEARN_VERSION,
        "name": name,
        "estimator": " + ".join(_kind(step) for step in steps),
        **({} if "features" in graph else {"features": features}),
        **graph,
        "golden": [],
    }
    labels = None
    if "decisions" in graph["outputs"]:
        labels = document["classes"] = [str(label) for label in steps[-1].classes_.tolist()]
        if len(labels) < 2:
            raise ExportError(f"{_kind(steps[-1])} knows the class {labels[0]} alone: fit it on two or more")
    if names is not None and "encoding" in graph and graph["takesMissing"]:
        asked = [] if golden_inputs is None else _text_rows(golden_inputs, names)[1]
        _refuse_missing(model, graph["encoding"]["parts"], names, asked)
    if golden_inputs is not None:
        rows = _text_rows(golden_inputs, names) if "encoding" in graph else _number_rows(golden_inputs, features, graph)
        document["golden"] = _graph_golden(model, graph, *rows, labels)
    return document


def _refuse_missing(model, parts, names, asked):
    """Leaves `missing` with the columns of numbers in which scikit-learn takes one: it is asked with each, in the first of the rows that it answers."""
    for row in [*asked[:8], _made_up_row(parts, names)]:
        row = [np.nan if value is None else value for value in row]
        if _answers(model, names, row):
            for part in parts:
                gap = [np.nan if column == part["column"] else value for column, value in enumerate(row)]
                if part["kind"] == "number" and not _answers(model, names, gap):
                    part.pop("missing", None)
            return


def _made_up_row(parts, names):
    row = [""] * len(names)
    for part in parts:
        row[part["column"]] = part["categories"][0] if part["kind"] == "category" else 0.0 if part["kind"] == "number" else "text"
    return row


def _answers(model, names, row):
    rows = np.empty((1, len(row)), dtype=object)
    rows[0] = row
    if hasattr(_steps(model)[0], "feature_names_in_"):
        import pandas

        rows = pandas.DataFrame(rows, columns=names)
    try:
        model.predict(rows)
    except (TypeError, ValueError):
        return False
    return True


def _text_rows(inputs, names):
    """What scikit-learn is to predict, and the same as queries: texts, or lists with a value for each column."""
    if names is None:
        inputs = list(inputs)
        bad = next((place for place, text in enumerate(inputs) if not isinstance(text, str) or text == ""), None)
        if bad is not None:
            raise ExportError(f"golden_inputs[{bad}] is no text: the model takes texts that are not empty")
        return inputs, inputs
    rows = [[sklearnTexts.scalar(value) for value in row] for row in np.asarray(inputs, dtype=object).tolist()]
    bad = next((place for place, row in enumerate(rows) if len(row) != len(names)), None)
    if bad is not None:
        raise ExportError(f"golden_inputs[{bad}] has {len(rows[bad])} values, the model takes rows of {len(names)}")
    return inputs, rows


def _number_rows(inputs, features, graph):
    inputs = np.asarray(_dense(inputs), dtype=np.float64)
    if inputs.ndim != 2 or inputs.shape[1] != features:
        raise ExportError(f"golden inputs have the shape {inputs.shape}, the model takes rows of {features} values")
    if np.any(np.isinf(inputs)) or (np.any(np.isnan(inputs)) and not graph["takesMissing"]):
        raise ExportError("golden inputs hold values that are no finite numbers: leave those rows out")
    return inputs, [[None if math.isnan(value) else value for value in row] for row in inputs.tolist()]


def _graph_golden(model, graph, inputs, rows, labels):
    if len(rows) == 0:
        return []
    predicted = model.predict(inputs)
    if labels is None:
        return [{"input": row, "scores": np.ravel(value).astype(float).tolist()} for row, value in zip(rows, predicted)]
    final = _steps(model)[-1]
    if _kind(final) in SUPPORT_VECTORS:
        scores = _support_scores(model, final, inputs, len(labels))
    elif _kind(final) in sklearnGraph.ANSWERING_DECISIONS:
        scores = np.asarray(model.decision_function(inputs))
        scores = np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores
    else:
        scores = model.predict_proba(inputs) if hasattr(model, "predict_proba") else None
    return [
        {"input": row, "label": str(label), **({} if scores is None else {"scores": _list(scores[place])})}
        for place, (row, label) in enumerate(zip(rows, predicted.tolist()))
    ]


def _document(model, golden_inputs, name, max_terms):
    if not _is_plain(model):
        return _graph_document(model, golden_inputs, name, max_terms)
    steps, estimator = _split(model)
    kind = _kind(estimator)
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
    elif kind in SEARCHES:
        raise ExportError(f"{kind} cannot be exported: export its best_estimator_")
    else:
        raise ExportError(f"{kind} cannot be exported, only {', '.join(sorted({*SUPPORTED, *sklearnGraph.SUPPORTED}))}{WAY_ON}")
    classes = getattr(estimator, "classes_", None)
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
        raise ExportError(f"{kind}: only classifiers with one output of two or more classes can be exported{WAY_ON}")
    labels = [str(label) for label in classes.tolist()]
    # Not the pipeline's: that asks its first step, which may be 'passthrough'.
    first = (steps + [estimator])[0]
    features = int(_fitted(first, "n_features_in_", _kind(first)))
    takes_missing = description["kind"] == "trees" and "missingLeft" in description["trees"][0]
    document = {
        "format": "windjammer-sklearn",
        "formatVersion": 1,
        "sklearnVersion": SKLEARN_VERSION,
        "name": name,
        "estimator": " + ".join([_kind(step) for step in steps] + [kind]),
        "features": features,
        "classes": labels,
        "steps": [_scaler(step) for step in steps],
        "model": description,
        "golden": [],
    }
    for part in ("steps", "model"):
        bad = _not_finite(document[part], part)
        if bad is not None:
            raise ExportError(f"the parameter {bad[0]} of {kind} is {bad[1]}: fit the model again")
    if golden_inputs is not None:
        document["golden"] = _golden(model, description, golden_inputs, labels, features, takes_missing)
    return document


def _kind(estimator):
    return type(estimator).__name__


def _not_finite(value, place):
    """The first number in a part of the document that JSON cannot hold, with its place; None: there is none."""
    if isinstance(value, dict):
        parts = ((f"{place}.{key}", one) for key, one in value.items())
    elif isinstance(value, list):
        parts = ((f"{place}[{index}]", one) for index, one in enumerate(value))
    else:
        return (place, value) if isinstance(value, float) and not math.isfinite(value) else None
    return next((bad for bad in (_not_finite(one, inner) for inner, one in parts) if bad is not None), None)


def _split(model):
    steps = _steps(model)
    if not steps:
        raise ExportError("the pipeline has no step but 'passthrough': it needs a classifier at its end")
    for step in steps[:-1]:
        if _kind(step) not in SCALERS:
            raise ExportError(f"{_kind(step)} cannot be a step of the pipeline, only {', '.join(sorted(SCALERS))}")
    return steps[:-1], steps[-1]


def _steps(model):
    """Steps of a pipeline, and of pipelines in it, that do something."""
    if _kind(model) != "Pipeline":
        return [model]
    return [inner for _, step in model.steps if step is not None and step != "passthrough" for inner in _steps(step)]


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
    takes_missing = all(_takes_missing(tree) for tree in trees)
    return {"kind": "trees", "trees": [_tree(_fitted(tree, "tree_", kind), takes_missing) for tree in trees]}


def _takes_missing(tree):
    """Whether this release of scikit-learn predicts with NaN for such a tree."""
    if getattr(getattr(tree, "tree_", None), "missing_go_to_left", None) is None:
        return False
    try:
        from sklearn.utils import get_tags

        return bool(get_tags(tree).input_tags.allow_nan)
    except ImportError:
        return bool(tree._get_tags()["allow_nan"])


def _tree(tree, takes_missing):
    if tree.n_outputs != 1:
        raise ExportError("trees with several outputs cannot be exported: fit one model an output")
    is_leaf = tree.children_left < 0
    values = tree.value[is_leaf, 0, :]
    totals = values.sum(axis=1, keepdims=True)
    totals[totals == 0.0] = 1.0
    # Infinity parts what is missing from everything else: all numbers go to the left.
    largest = np.finfo(np.float64).max
    threshold = np.where(np.isinf(tree.threshold), np.copysign(largest, tree.threshold), tree.threshold)
    missing = {"missingLeft": (tree.missing_go_to_left[: len(is_leaf)] != 0).tolist()} if takes_missing else {}
    return {
        "feature": np.where(is_leaf, -1, tree.feature).tolist(),
        "threshold": _list(np.where(is_leaf, 0.0, threshold)),
        "left": tree.children_left.tolist(),
        "right": tree.children_right.tolist(),
        **missing,
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


def _golden(model, description, inputs, labels, features, takes_missing):
    try:
        inputs = np.asarray(_dense(inputs), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ExportError(f"golden inputs must be rows of numbers ({error})") from error
    if inputs.ndim != 2 or inputs.shape[1] != features:
        raise ExportError(f"golden inputs have the shape {inputs.shape}, the model takes rows of {features} values")
    for row, column in np.argwhere(~np.isfinite(inputs)).tolist():
        value = inputs[row, column]
        if np.isnan(value) and takes_missing:
            continue
        way = "leave that row out" if takes_missing or not np.isnan(value) else "the model takes no missing values, leave that row out"
        raise ExportError(f"golden_inputs[{row}][{column}] is {value}: {way}")
    if len(inputs) == 0:
        return []
    predicted = [str(label) for label in model.predict(inputs).tolist()]
    scores = _scores(model, description, inputs, len(labels))
    golden = [
        {"input": _list(row), "label": label, "scores": _list(score)}
        for row, label, score in zip(inputs, predicted, scores)
    ]
    bad = _not_finite([case["scores"] for case in golden], "scores")
    if bad is not None:
        raise ExportError(f"scikit-learn's {bad[0]} of the golden inputs is {bad[1]}: leave that row out")
    # JSON has no NaN: what is missing is null.
    for case in golden:
        case["input"] = [None if math.isnan(value) else value for value in case["input"]]
    return golden


def _scores(model, description, inputs, classes):
    """What the imported model answers as scores, by scikit-learn: one value a class."""
    kind = description["kind"]
    if kind == "trees" or kind == "perceptron" or description.get("probabilities", "none") != "none":
        return model.predict_proba(inputs)
    decisions = np.asarray(model.decision_function(inputs))
    if kind == "linear":
        return np.stack([-decisions, decisions], axis=1) if classes == 2 else decisions
    return _support_scores(model, _split(model)[1], inputs, classes)


def _support_scores(model, estimator, inputs, classes):
    """The one-against-rest decision function."""
    decisions = np.asarray(model.decision_function(inputs))
    if classes == 2:
        confidence = np.stack([-decisions, decisions], axis=1)
        return (np.stack([-decisions >= 0, -decisions < 0], axis=1)) + confidence / (3 * (np.abs(confidence) + 1))
    if decisions.shape[1] == classes and estimator.decision_function_shape == "ovr":
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
    parser.add_argument("--max-terms", type=int, default=2048, help="different known terms that a text may have")
    options = parser.parse_args()
    try:
        golden = None if options.golden is None else _loaded(options.golden, _load_rows)
        export_model(_loaded(options.model, _load_model), options.out, golden, options.name, options.max_terms)
    except (ExportError, OSError) as error:
        sys.exit(f"sklearnExport: {error}")


def _load_rows(path):
    return np.load(path, allow_pickle=False)


def _load_model(path):
    import joblib

    return joblib.load(path)


def _loaded(path, load):
    try:
        return load(path)
    except OSError:
        raise
    except Exception as error:  # pylint: disable=broad-except
        problem = f"{type(error).__name__}: {error}".splitlines()[0]
        needs = "joblib or pickle must have written it" if load is _load_model else "numpy.save must have written it, as numbers"
        raise ExportError(f"{path} cannot be loaded ({problem}): {needs}, with the libraries and releases that are installed here") from error


if __name__ == "__main__":
    main()
