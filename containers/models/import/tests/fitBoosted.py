"""Fits small models of XGBoost and LightGBM, whichever are installed, and writes their JSON with what they answer.

    python3 fitBoosted.py FOLDER
"""

import json
import sys

import numpy as np


def data(classes, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(120, 4)).round(2)
    score = x[:, 0] - 0.7 * x[:, 1] + 0.5 * x[:, 2] * x[:, 3]
    y = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes)) if classes > 0 else score
    x[rng.random(x.shape) < 0.1] = np.nan
    return x, y


def case(kind, x, answers):
    return {"kind": kind, "inputs": [[None if np.isnan(v) else float(v) for v in row] for row in x], "answers": np.asarray(answers, dtype=float).tolist()}


def main(folder):
    asked = 10
    try:
        import xgboost

        for name, classes, parameters in [
            ("binary", 2, {"objective": "binary:logistic"}),
            ("classes", 3, {"objective": "multi:softprob", "num_class": 3}),
            ("regression", 0, {"objective": "reg:squarederror"}),
            ("poisson", 2, {"objective": "count:poisson"}),
            ("hinge", 2, {"objective": "binary:hinge", "base_score": 0.3}),
            ("raw", 2, {"objective": "binary:logitraw", "base_score": 0.7}),
        ]:
            x, y = data(classes, 3)
            booster = xgboost.train({"max_depth": 2, "eta": 0.5, **parameters}, xgboost.DMatrix(x, label=y), 3)
            booster.save_model(f"{folder}/model.json")
            model = json.load(open(f"{folder}/model.json", encoding="utf-8"))
            answers = booster.predict(xgboost.DMatrix(x[:asked]))
            write(folder, f"xgboost-{name}", model, case(name, x[:asked], answers))
    except ImportError:
        print("no xgboost")
    try:
        import lightgbm

        for name, classes, parameters in [
            ("binary", 2, {"objective": "binary"}),
            ("classes", 3, {"objective": "multiclass", "num_class": 3}),
            ("regression", 0, {"objective": "regression"}),
        ]:
            x, y = data(classes, 4)
            options = {"num_leaves": 4, "min_data_in_leaf": 4, "verbose": -1, "deterministic": True, **parameters}
            booster = lightgbm.train(options, lightgbm.Dataset(x, label=y), 3)
            write(folder, f"lightgbm-{name}", booster.dump_model(), case(name, x[:asked], booster.predict(x[:asked])))
    except ImportError:
        print("no lightgbm")


def write(folder, name, model, answers):
    with open(f"{folder}/{name}.json", "w", encoding="utf-8") as file:
        json.dump({"model": model, **answers}, file)


if __name__ == "__main__":
    main(sys.argv[1])
