"""Fits models that are exported as graphs, and exports each with golden inputs, whose answers are scikit-learn's.

    python3 fitGraphs.py FOLDER
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesRegressor, GradientBoostingClassifier, GradientBoostingRegressor, HistGradientBoostingClassifier,
    HistGradientBoostingRegressor, RandomForestClassifier, RandomForestRegressor, VotingClassifier, VotingRegressor,
)
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.impute import SimpleImputer
from sklearn.linear_model import ElasticNet, LinearRegression, LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    Binarizer, MinMaxScaler, Normalizer, OneHotEncoder, OrdinalEncoder, PolynomialFeatures, RobustScaler, StandardScaler,
)
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from sklearn.tree import DecisionTreeRegressor

from sklearnExport import export_model


def main(folder):
    iris, diabetes = load_iris(), load_diabetes()
    x, y = iris.data, iris.target_names[iris.target]
    two = iris.target > 0
    x2, y2 = x[two], y[two]
    holes = x.copy()
    holes[np.random.default_rng(1).random(holes.shape) < 0.15] = np.nan
    kinds = np.column_stack([x[:, :2], np.floor(x[:, 2]), np.round(x[:, 3])])
    encoded = ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), [0, 1]),
        ("kinds", OneHotEncoder(handle_unknown="ignore"), [2, 3]),
    ])
    rx, ry = diabetes.data, diabetes.target / 50
    counts = np.floor(ry)
    weighted = ColumnTransformer([("a", StandardScaler(), [0, 1]), ("b", "passthrough", [3])], transformer_weights={"a": 3.0, "b": -0.5})
    grouping = dict(min_frequency=30, handle_unknown="infrequent_if_exist")
    strange = np.column_stack([x[:, 0], np.full(len(x), 9.0)])[::12]
    models = {
        "imputedForest": (make_pipeline(SimpleImputer(), RandomForestClassifier(8, max_depth=4, random_state=1)), holes, y),
        "columns": (make_pipeline(encoded, LogisticRegression(max_iter=500)), kinds, y),
        "columnsOrdinal": (make_pipeline(ColumnTransformer([("o", OrdinalEncoder(), [2, 3]), ("drop", "drop", [0])], remainder="passthrough"), GaussianNB()), kinds, y),
        "union": (make_pipeline(FeatureUnion([("pca", PCA(2)), ("svd", TruncatedSVD(2, random_state=1))]), LogisticRegression()), x, y),
        "whitened": (make_pipeline(PCA(3, whiten=True), MLPClassifier((8,), max_iter=300, random_state=1)), x, y),
        "selected": (make_pipeline(RobustScaler(), SelectKBest(f_classif, k=2), LinearSVC()), x, y),
        "clipped": (make_pipeline(MinMaxScaler(clip=True), Normalizer(), KNeighborsClassifier(4)), x, y),
        "polynomial": (make_pipeline(PolynomialFeatures(2), StandardScaler(), LogisticRegression(max_iter=500)), x, y),
        "binary": (make_pipeline(Binarizer(threshold=2.0), BernoulliNB()), x, y),
        "discriminant": (LinearDiscriminantAnalysis(), x, y),
        "discriminantOfTwo": (LinearDiscriminantAnalysis(), x2, y2),
        "boosted": (GradientBoostingClassifier(n_estimators=6, random_state=1), x, y),
        "boostedOfTwo": (GradientBoostingClassifier(n_estimators=6, random_state=1), x2, y2),
        "histogram": (HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5), holes, y),
        "histogramOfTwo": (HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5), x2, y2),
        "gaussian": (GaussianNB(), x, y),
        "multinomial": (MultinomialNB(), x, y),
        "complement": (ComplementNB(), x, y),
        "neighbours": (KNeighborsClassifier(5), x, y),
        "nearNeighbours": (KNeighborsClassifier(5, weights="distance", p=1), x, y),
        "calibrated": (CalibratedClassifierCV(LinearSVC(), cv=3), x, y),
        "calibratedTrees": (CalibratedClassifierCV(RandomForestClassifier(5, max_depth=3, random_state=1), cv=3, method="isotonic"), x2, y2),
        "vote": (VotingClassifier([("a", LogisticRegression(max_iter=500)), ("b", GaussianNB())], voting="soft", weights=[2, 1]), x, y),
        "machineOfPowers": (make_pipeline(PCA(3), SVC(kernel="poly", degree=3, coef0=1.0, probability=True, random_state=1)), x, y),
        "machineOfTwo": (make_pipeline(Normalizer(), SVC()), x2, y2),
        "machineRegressor": (make_pipeline(StandardScaler(), SVR(C=5.0)), rx, ry),
        "machineRegressorOfPowers": (NuSVR(kernel="poly", degree=2, coef0=1.0), x, y == "setosa"),
        "linear": (LinearRegression(), rx, ry),
        "ridge": (make_pipeline(StandardScaler(), Ridge()), rx, ry),
        "elastic": (ElasticNet(alpha=0.01), rx, ry),
        "stochastic": (SGDRegressor(random_state=1), rx, ry),
        "supportLine": (LinearSVR(random_state=1, max_iter=5000), rx, ry),
        "tree": (DecisionTreeRegressor(max_depth=4, random_state=1), rx, ry),
        "forest": (RandomForestRegressor(6, max_depth=5, random_state=1), rx, ry),
        "extra": (ExtraTreesRegressor(6, max_depth=5, random_state=1), rx, ry),
        "boostedRegressor": (GradientBoostingRegressor(n_estimators=8, random_state=1), rx, ry),
        "histogramRegressor": (HistGradientBoostingRegressor(max_iter=8), rx, ry),
        "histogramCounts": (HistGradientBoostingRegressor(max_iter=8, loss="poisson"), rx, counts),
        "perceptronRegressor": (MLPRegressor(hidden_layer_sizes=(12,), activation="tanh", max_iter=400, random_state=1), rx, ry),
        "neighbourRegressor": (KNeighborsRegressor(4, weights="distance"), rx, ry),
        "severalTargets": (LinearRegression(), rx, np.column_stack([ry, -ry])),
        "voteRegressor": (VotingRegressor([("a", LinearRegression()), ("b", DecisionTreeRegressor(max_depth=2))]), rx, ry),
    }
    models.update({
        "columnsWeighted": (make_pipeline(weighted, LogisticRegression()), x, y),
        "grouped": (make_pipeline(OneHotEncoder(drop="first", **grouping), LogisticRegression()), kinds[:, 2:], y),
        "groupedIgnoring": (make_pipeline(OneHotEncoder(max_categories=3, handle_unknown="ignore"), BernoulliNB()), kinds[:, 2:], y),
        "groupedUnknown": (make_pipeline(OneHotEncoder(**grouping), LogisticRegression()), kinds[:, 2:], y, np.concatenate([kinds[::12, 2:], strange])),
        "calibratedMachine": (CalibratedClassifierCV(SVC(), cv=3), x, y),
        "calibratedMachineOfTwo": (CalibratedClassifierCV(NuSVC(), cv=3), x2, y2),
        "calibratedHistogram": (CalibratedClassifierCV(HistGradientBoostingClassifier(max_iter=4), cv=3), x, y),
        "calibratedHistogramOfTwo": (CalibratedClassifierCV(HistGradientBoostingClassifier(max_iter=4), cv=3, method="isotonic"), x2, y2),
        "voteOfLines": (VotingClassifier([(loss, SGDClassifier(loss=loss, random_state=1)) for loss in ("log_loss", "modified_huber")], voting="soft"), x, y),
        "voteOfLinesOfTwo": (VotingClassifier([(loss, SGDClassifier(loss=loss, random_state=1)) for loss in ("log_loss", "modified_huber")], voting="soft"), x2, y2),
        "machineAlone": (SVC(kernel="sigmoid", gamma=0.01), x, y),
        "machineOfPowersAlone": (NuSVC(kernel="poly", degree=2), x, y),
        "stochasticLine": (make_pipeline(PCA(3), SGDClassifier(loss="log_loss", random_state=1)), x, y),
        "stochasticLineOfTwo": (make_pipeline(PCA(3), SGDClassifier(loss="modified_huber", random_state=1)), x2, y2),
    })
    for name, (model, inputs, answers, *asked) in models.items():
        golden = asked[0] if asked else inputs[::12]
        export_model(model.fit(inputs, answers), os.path.join(folder, f"{name}.json"), golden_inputs=golden)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main(sys.argv[1])
