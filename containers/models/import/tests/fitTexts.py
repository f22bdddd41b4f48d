"""Fits models that take texts, or rows with columns of strings, and exports each with golden inputs, whose answers are scikit-learn's.

    python3 fitTexts.py FOLDER
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, PassiveAggressiveClassifier, Ridge, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearnExport import export_model

WORDS = {
    "sport": "Match goal team striker league cup Spieler Tor ÉQUIPE été naïve match-winner 3:2 90min été".split(),
    "cooking": "Butter flour oven whisk crème brûlée Öl Salz saucepan simmer taste_it 200° ½ cup".split(),
    "space": "Orbit rocket launch moon ΟΔΥΣΣΕΥΣ спутник Луна 月 火箭 telescope gamma-ray x1 İstanbul".split(),
}
COMMON = "the a of and to in is it with for on that by this was at from I".split()


def texts(random, count):
    kinds = sorted(WORDS)
    labels = [kinds[place] for place in random.integers(0, len(kinds), count)]
    made = []
    for label in labels:
        words = [str(random.choice(WORDS[label] if random.random() < 0.4 else COMMON)) for _ in range(random.integers(3, 40))]
        if random.random() < 0.3:
            words.append(str(random.choice(WORDS[kinds[random.integers(0, 3)]])).upper())
        spaces = [" ", "  ", "\t", "\n\n", ", ", "! ", "\u00a0", "--"]
        made.append("".join(word + str(random.choice(spaces)) for word in words))
    return np.array(made, dtype=object), np.array(labels)


def table(random, count):
    """Colour, size (a string of digits), a number, a flag, a note that nothing reads, and what follows of them."""
    colours = random.choice(["red", "green", "blue", "très vert"], count).astype(object)
    sizes = random.choice(["1", "10", "2"], count).astype(object)
    numbers = random.normal(size=count).round(3)
    flags = random.random(count) < 0.5
    labels = np.where((colours == "red") | (numbers > 1), "yes", np.where(sizes == "10", "perhaps", "no"))
    rows = np.empty((count, 5), dtype=object)
    rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3], rows[:, 4] = colours, sizes, numbers, flags, [f"note {k}" for k in range(count)]
    return rows, labels


def main(folder):
    random = np.random.default_rng(5)
    x, y = texts(random, 240)
    golden = np.concatenate([texts(random, 30)[0], ["nothing known", "  the  ", "x"]]).tolist()
    two = y != "space"
    table_x, table_y = table(random, 300)
    holes = table_x.copy()
    holes[random.random(len(holes)) < 0.2, 0] = np.nan
    ignoring = OneHotEncoder(handle_unknown="ignore")
    mixed = ColumnTransformer([("colour", ignoring, [0, 1]), ("flag", OrdinalEncoder(), [3]), ("number", StandardScaler(), [2])])
    imputed = ColumnTransformer([
        ("colour", make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(drop="first")), [0]),
        ("size", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-7), [1]),
    ])
    noted = table_x.copy()
    noted[:, 4] = x[: len(x)].tolist() + x[: len(table_x) - len(x)].tolist()
    noted_y = np.concatenate([y, y[: len(table_x) - len(x)]])
    both = ColumnTransformer([("note", TfidfVectorizer(), 4), ("colour", ignoring, [0]), ("rest", "passthrough", [2])])
    weighted = ColumnTransformer(
        [("note", FeatureUnion([("w", TfidfVectorizer()), ("c", HashingVectorizer(n_features=64))], transformer_weights={"c": 3.0}), 4), ("colour", ignoring, [0]), ("rest", "passthrough", [2])],
        transformer_weights={"note": 0.5, "colour": 2.0, "rest": -1.0})
    grouped = ColumnTransformer([("colour", OneHotEncoder(min_frequency=80, handle_unknown="infrequent_if_exist"), [0, 1]), ("number", StandardScaler(), [2])])
    ordered = {"min_frequency": 80} if "min_frequency" in OrdinalEncoder().get_params() else {}
    grouped_codes = ColumnTransformer([("codes", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, **ordered), [0, 1]), ("number", "passthrough", [2])])
    gaps = table_x.copy()
    gaps[::7, 2] = np.nan
    some_missing = ColumnTransformer([("colour", ignoring, [0]), ("number", make_pipeline(SimpleImputer(), StandardScaler()), [2]), ("flag", StandardScaler(), [3])])
    strange = table_x[:20].copy()
    strange[::3, 0] = "mauve"
    strange[1::3, 1] = "11"
    models = {
        "counts": (make_pipeline(CountVectorizer(), MultinomialNB()), x, y, golden),
        "classic": (make_pipeline(CountVectorizer(stop_words="english", ngram_range=(1, 2)), TfidfTransformer(), SGDClassifier(random_state=1)), x, y, golden),
        "tfidf": (make_pipeline(TfidfVectorizer(sublinear_tf=True, min_df=2), LogisticRegression()), x, y, golden),
        "tfidfOfTwo": (make_pipeline(TfidfVectorizer(stop_words=["the", "moon"], norm="l1"), LinearSVC()), x[two], y[two], golden),
        "hashed": (make_pipeline(HashingVectorizer(), SGDClassifier(random_state=1)), x, y, golden),
        "hashedFew": (make_pipeline(HashingVectorizer(n_features=64, ngram_range=(1, 3)), LogisticRegression()), x, y, golden),
        "hashedCounts": (make_pipeline(HashingVectorizer(n_features=2**18, alternate_sign=False, norm=None, binary=True), TfidfTransformer(use_idf=False), ComplementNB()), x, y, golden),
        "hashedBayes": (make_pipeline(HashingVectorizer(n_features=2**17, alternate_sign=False, norm=None), MultinomialNB()), x, y, golden),
        "characters": (make_pipeline(TfidfVectorizer(analyzer="char", ngram_range=(1, 3), strip_accents="ascii"), PassiveAggressiveClassifier(random_state=1)), x, y, golden),
        "charactersInWords": (make_pipeline(CountVectorizer(analyzer="char_wb", ngram_range=(2, 6), lowercase=False), ComplementNB()), x, y, golden),
        "plainLetters": (make_pipeline(TfidfVectorizer(strip_accents="unicode", token_pattern=r"(?u)\b\w+\b"), LogisticRegression()), x, y, golden),
        "binary": (make_pipeline(CountVectorizer(), BernoulliNB()), x, y, golden),
        "union": (make_pipeline(FeatureUnion([("words", TfidfVectorizer()), ("letters", TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 3)))]), LogisticRegression()), x, y, golden),
        "semantic": (make_pipeline(TfidfVectorizer(), TruncatedSVD(8, random_state=1), Normalizer(), KNeighborsClassifier(3)), x, y, golden[:30]),
        "selected": (make_pipeline(CountVectorizer(), SelectKBest(chi2, k=20), MaxAbsScaler(), LogisticRegression()), x, y, golden),
        "scaled": (make_pipeline(CountVectorizer(binary=True), StandardScaler(with_mean=False), LinearSVC()), x, y, golden),
        "trees": (make_pipeline(TfidfVectorizer(max_features=40), RandomForestClassifier(8, random_state=1)), x, y, golden),
        "perceptron": (make_pipeline(TfidfVectorizer(), MLPClassifier((8,), max_iter=200, random_state=1)), x, y, golden),
        "vote": (make_pipeline(HashingVectorizer(alternate_sign=False), VotingClassifier([("a", LogisticRegression()), ("b", MultinomialNB())], voting="soft")), x, y, golden),
        "machine": (make_pipeline(TfidfVectorizer(), SVC(kernel="linear")), x, y, golden),
        "machineOfTwo": (make_pipeline(HashingVectorizer(), SVC(kernel="linear")), x[two], y[two], golden[:30]),
        "machineRbf": (make_pipeline(TfidfVectorizer(), SVC(break_ties=True)), x, y, golden),
        "machineRegressor": (make_pipeline(TfidfVectorizer(), SVR(kernel="sigmoid")), x, np.array([len(text) / 50 for text in x]), golden),
        "textRegressor": (make_pipeline(TfidfVectorizer(), Ridge()), x, np.array([len(text) / 50 for text in x]), golden),
        "table": (make_pipeline(mixed, LogisticRegression()), table_x, table_y, table_x[::12]),
        "tableUnknown": (make_pipeline(ColumnTransformer([("colour", ignoring, [0, 1]), ("rest", "passthrough", [2])]), DecisionTreeClassifier(max_depth=5)), table_x, table_y, strange),
        "tableImputed": (make_pipeline(imputed, GradientBoostingClassifier(n_estimators=5, random_state=1)), holes, table_y, np.concatenate([holes[::12], strange[1::3]])),
        "tableAlone": (make_pipeline(OneHotEncoder(), LogisticRegression()), table_x[:, :2], table_y, table_x[::12, :2]),
        "tableGaps": (make_pipeline(some_missing, LogisticRegression()), gaps, table_y, gaps[::12]),
        "tableGrouped": (make_pipeline(grouped, LogisticRegression()), table_x, table_y, np.concatenate([table_x[::12], strange])),
        "tableGroupedCodes": (make_pipeline(grouped_codes, LogisticRegression()), table_x, table_y, np.concatenate([table_x[::12], strange])),
        "weighted": (make_pipeline(weighted, LogisticRegression(max_iter=300)), noted, noted_y, noted[::15]),
        "topics": (make_pipeline(TfidfVectorizer(ngram_range=(1, 2), stop_words="english"), SGDClassifier(loss="log_loss", random_state=1)), x, y, golden),
        "tableWithTexts": (make_pipeline(both, LogisticRegression(max_iter=300)), noted, noted_y, noted[::15]),
    }
    for name, (model, inputs, answers, asked) in models.items():
        export_model(model.fit(inputs, answers), os.path.join(folder, f"{name}.json"), golden_inputs=asked)


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("ignore")
    main(sys.argv[1])
