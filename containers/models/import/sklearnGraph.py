"""Fitted scikit-learn models as graphs of ONNX's operators in double precision, for sklearnExport.py."""

import base64

import numpy as np

from sklearnTexts import Mixed, Row, TEXT_STEPS, Terms, is_text, text_step, takes_texts

DOUBLE, FLOAT, WHOLE = 11, 1, 7
LINEAR_CLASSIFIERS = {
    "LinearSVC", "LogisticRegression", "LogisticRegressionCV", "SGDClassifier", "RidgeClassifier", "RidgeClassifierCV",
    "Perceptron", "PassiveAggressiveClassifier", "LinearDiscriminantAnalysis",
}
# Their scores are decisions, whatever else they can say.
ANSWERING_DECISIONS = LINEAR_CLASSIFIERS - {"LogisticRegression", "LogisticRegressionCV", "LinearDiscriminantAnalysis"}
LINEAR_REGRESSORS = {
    "LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV", "SGDRegressor", "LinearSVR",
    "BayesianRidge", "ARDRegression", "HuberRegressor", "Lars", "LassoLars", "OrthogonalMatchingPursuit", "TheilSenRegressor",
    "PassiveAggressiveRegressor", "QuantileRegressor",
}
TREE_CLASSIFIERS = {"DecisionTreeClassifier", "ExtraTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier"}
TREE_REGRESSORS = {"DecisionTreeRegressor", "ExtraTreeRegressor", "RandomForestRegressor", "ExtraTreesRegressor"}
SELECTORS = {
    "SelectKBest", "SelectPercentile", "SelectFpr", "SelectFdr", "SelectFwe", "SelectFromModel", "RFE", "RFECV", "VarianceThreshold",
}
LARGEST = np.finfo(np.float64).max
# A query holds all differences to the neighbours that it may have.
MOST_DIFFERENCES = 2**22
# Of the support vectors of a kernel machine.
MOST_KERNEL_VALUES = 2**24


class GraphError(ValueError):
    """The model cannot be written as a graph; the message says why and what can be."""


# Longer lists of numbers are written as their bytes.
LISTED = 4096
# Of a text: more features are no row of numbers that kernels could take.
MOST_FEATURES = 2**16


class Graph:
    """Nodes in the order in which they run, over values named v1, v2, ..., and constants c1, c2, ...

    What nodes take is the name of a value; or of a model that takes texts a Row, Terms or Mixed (sklearnTexts.py).
    """

    def __init__(self, max_terms=2048):
        self.nodes = []
        self.constants = {}
        self.takes_missing = False
        self.max_terms = max_terms
        # Of a model that takes texts: what the query's columns become, one behind the other.
        self.parts = []
        self.starts = []
        self.width = 0
        self.known = {}

    def constant(self, values, whole=False):
        values = np.asarray(values, dtype=np.float64)
        if not np.all(np.isfinite(values)):
            raise GraphError("the model has parameters that are no finite numbers: fit it again")
        name = f"c{len(self.constants) + 1}"
        self.constants[name] = (values, WHOLE if whole else DOUBLE)
        return name

    def written_constants(self):
        written = {}
        for name, (values, kind) in self.constants.items():
            if values.size > LISTED:
                numbers = {"base64": base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode()}
            else:
                numbers = {"values": values.ravel().tolist()}
            written[name] = {"dims": list(values.shape), "type": kind, **numbers}
        return written

    def part(self, width, **part):
        """Another part of the encoded input. Returns its place."""
        self.parts.append(part)
        self.starts.append(self.width)
        self.width += width
        return len(self.parts) - 1

    def encoded(self, place, width=1):
        """A part's numbers, as a value."""
        if place not in self.known:
            start = self.starts[place]
            bounds = [self.constant([at], whole=True) for at in (start, start + width, 1)]
            self.known[place] = self.op("Slice", "x", *bounds)
        return self.known[place]

    def number(self, column):
        """A column of a row as a number."""
        for place, part in enumerate(self.parts):
            if part["kind"] == "number" and part["column"] == column:
                return self.encoded(place)
        return self.encoded(self.part(1, kind="number", column=column))

    def joined(self, parts):
        if not parts:
            raise GraphError("encoders leave no column: each has a single category, which is dropped")
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=1)

    def plain(self, x):
        """Whatever x is, as a value of all its columns."""
        if isinstance(x, Row):
            if any(fill is not None for _, fill in x.columns):
                raise GraphError("SimpleImputer of strings can stand before OneHotEncoder and OrdinalEncoder only")
            return self.joined([self.number(column) for column, _ in x.columns])
        if isinstance(x, Mixed):
            return self.joined([self.plain(block) for block, _ in x.blocks])
        if not isinstance(x, Terms):
            return x
        if x.features > MOST_FEATURES:
            raise GraphError(
                f"{x.features} features of a text are more than {MOST_FEATURES}: use n_features or max_features, or a linear model,"
                " naive Bayes, MLP or TruncatedSVD behind the vectorizer, which take any number")
        x.is_plain = True
        value = self.op("TermRow", self.encoded(x.place, 2 * x.most), domain="windjammer", features=x.features)
        for kind, values in x.steps:
            value = self.columns(value, values) if kind == "choose" else self.scaled(value, values)
        return value

    def product(self, x, weights):
        weights = np.asarray(weights, dtype=np.float64)
        if isinstance(x, Mixed):
            return self.op("Sum", *[self.product(block, rows) for block, rows in x.split(weights)])
        if not isinstance(x, Terms):
            return self.op("MatMul", self.plain(x), self.constant(weights))
        constant = self.constant(x.weights(weights))
        x.uses.append(constant)
        return self.op("TermProduct", self.encoded(x.place, 2 * x.most), constant, domain="windjammer")

    def encoding(self):
        """How texts become the input's numbers: of hashed terms only those that weights tell apart have places of their own."""
        for part in self.parts:
            if part["kind"] == "number" and self.takes_missing:
                part["missing"] = True
            terms = part.pop("terms", None)
            if terms is not None:
                terms.gather_places(self)
        return self.parts

    def op(self, kind, *inputs, outputs=1, domain="", **attributes):
        names = [f"v{len(self.nodes) + 1}_{k}" for k in range(outputs)]
        self.nodes.append({"op": kind, "domain": domain, "inputs": list(inputs), "outputs": names, "attributes": attributes})
        return names[0] if outputs == 1 else names

    def weighted(self, x, weight):
        """All columns of x times a number."""
        if isinstance(x, Mixed):
            return Mixed([(self.weighted(block, weight), width) for block, width in x.blocks])
        if isinstance(x, Terms):
            return x.then("scale", np.full(x.width, float(weight)))
        return self.scaled(self.plain(x), float(weight))

    def affine(self, x, weights, offset):
        return self.op("Add", self.product(x, weights), self.constant(offset))

    def columns(self, x, places):
        return self.op("Gather", x, self.constant(places, whole=True), axis=1)

    def double(self, x):
        return self.op("Cast", x, to=DOUBLE)

    def total(self, x, axis=-1, keep=1):
        return self.op("ReduceSum", x, self.constant([axis], whole=True), keepdims=keep)

    def scaled(self, x, factor):
        return self.op("Mul", x, self.constant(factor))

    def both(self, x):
        """Two columns of one decision: its negative and itself."""
        return self.op("MatMul", x, self.constant([[-1.0, 1.0]]))

    def shares(self, x):
        """Rows divided by their sums."""
        return self.op("Div", x, self.total(x))

    def pair(self, second):
        """The probabilities of two classes by that of the second."""
        return self.affine(second, [[-1.0, 1.0]], [1.0, 0.0])


def kind_of(model):
    return type(model).__name__


def dense(values):
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)


# Transformers


def transformed(graph, step, x):
    kind = kind_of(step)
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return x
    if kind == "FunctionTransformer" and step.func is None:
        return x
    if not isinstance(x, str):
        found = text_step(graph, step, x)
        if found is not None:
            return found
        if kind not in ("Pipeline", "FeatureUnion", "TruncatedSVD"):
            x = graph.plain(x)
    if kind == "Pipeline":
        for _, inner in step.steps:
            x = transformed(graph, inner, x)
        return x
    if kind in SELECTORS:
        return graph.columns(x, np.flatnonzero(step.get_support()))
    if kind not in TRANSFORMERS:
        raise GraphError(f"{kind} cannot be a step, only {', '.join(sorted(set(TRANSFORMERS) | SELECTORS | TEXT_STEPS))}")
    return TRANSFORMERS[kind](graph, step, x)


def standard_scaler(graph, step, x):
    if step.with_mean:
        x = graph.op("Sub", x, graph.constant(step.mean_))
    return graph.op("Div", x, graph.constant(step.scale_)) if step.with_std else x


def min_max_scaler(graph, step, x):
    x = graph.op("Add", graph.scaled(x, step.scale_), graph.constant(step.min_))
    if not step.clip:
        return x
    low, high = step.feature_range
    return graph.op("Min", graph.op("Max", x, graph.constant(low)), graph.constant(high))


def robust_scaler(graph, step, x):
    if step.with_centering:
        x = graph.op("Sub", x, graph.constant(step.center_))
    return graph.op("Div", x, graph.constant(step.scale_)) if step.with_scaling else x


def normalizer(graph, step, x):
    axes = graph.constant([-1], whole=True)
    if step.norm == "max":
        size = graph.op("ReduceMax", graph.op("Abs", x), axes, keepdims=1)
    else:
        size = graph.op("ReduceL1" if step.norm == "l1" else "ReduceL2", x, axes, keepdims=1)
    zero = graph.op("Equal", size, graph.constant(0.0))
    return graph.op("Div", x, graph.op("Where", zero, graph.constant(1.0), size))


def imputer(graph, step, x):
    if step.add_indicator:
        raise GraphError("SimpleImputer(add_indicator=True) cannot be exported: leave the indicator out")
    values = np.asarray(step.statistics_)
    if values.dtype.kind not in "fiu" or np.any(np.isnan(values.astype(float))):
        raise GraphError("SimpleImputer: columns of strings, or without any value, cannot be exported")
    missing = step.missing_values
    if missing is np.nan or (isinstance(missing, float) and np.isnan(missing)):
        graph.takes_missing = True
        where = graph.op("IsNaN", x)
    else:
        where = graph.op("Equal", x, graph.constant(float(missing)))
    return graph.op("Where", where, graph.constant(values.astype(float)), x)


def pca(graph, step, x):
    if getattr(step, "mean_", None) is not None:
        x = graph.op("Sub", x, graph.constant(step.mean_))
    x = graph.product(x, step.components_.T)
    return graph.op("Div", x, graph.constant(np.sqrt(step.explained_variance_))) if getattr(step, "whiten", False) else x


def categories_of(step, column):
    values = np.asarray(step.categories_[column])
    if values.dtype.kind not in "fiub" or np.any(np.isnan(values.astype(float))):
        raise GraphError(f"{kind_of(step)}: the categories of column {column} are no numbers: encode them as numbers before")
    return values.astype(float)


def one_hot(graph, step, x):
    parts = []
    for column in range(len(step.categories_)):
        parts += one_hot_columns(graph, step, column, graph.columns(x, [column]), categories_of(step, column))
    return graph.joined(parts)


def one_hot_columns(graph, step, at, value, places):
    """What OneHotEncoder makes of one column. Returns a list: of a category that is dropped alone nothing is left.

    value: the column, places: what it is equal to of each category.
    """
    groups = groups_of(step, at)
    dropped = getattr(step, "_drop_idx_after_grouping", step.drop_idx_)
    dropped = None if dropped is None else dropped[at]
    kept = np.arange(len(places) if groups is None else groups.max() + 1)
    if dropped is not None:
        kept = np.delete(kept, int(dropped))
    if len(kept) == 0:
        return []
    if groups is None:
        return [graph.double(graph.op("Equal", value, graph.constant(places[kept])))]
    # Infrequent categories share the last column; so does what is unknown, where it is to be one of them.
    unknown = np.zeros(groups.max() + 1)
    if step.handle_unknown in ("infrequent_if_exist", "warn"):
        unknown[-1] = 1.0
    same = graph.double(graph.op("Equal", value, graph.constant(places)))
    return [graph.affine(same, (np.eye(groups.max() + 1)[groups] - unknown)[:, kept], unknown[kept])]


def groups_of(step, at):
    """The group of each category where an encoder puts infrequent ones together; None: each is its own."""
    return step._default_to_infrequent_mappings[at] if getattr(step, "_infrequent_enabled", False) else None


def ordinal(graph, step, x):
    unknown = unknown_code(step)
    return graph.joined([
        ordinal_column(graph, step, column, graph.columns(x, [column]), categories_of(step, column), unknown)
        for column in range(len(step.categories_))
    ])


def unknown_code(step):
    unknown = step.unknown_value if step.handle_unknown == "use_encoded_value" else -1.0
    if unknown is None or np.isnan(unknown):
        raise GraphError("OrdinalEncoder(unknown_value=nan) cannot be exported: choose a number, such as -1")
    return float(unknown)


def ordinal_column(graph, step, at, value, places, unknown):
    """The code of one column, as one_hot_columns."""
    groups = groups_of(step, at)
    codes = np.arange(len(places)) if groups is None else groups
    same = graph.double(graph.op("Equal", value, graph.constant(places)))
    return graph.affine(same, codes[:, None] - unknown, [unknown])


def binarizer(graph, step, x):
    return graph.double(graph.op("Greater", x, graph.constant(float(step.threshold))))


def polynomial(graph, step, x):
    ones = graph.op("Add", graph.scaled(graph.columns(x, [0]), 0.0), graph.constant([1.0]))
    wide = graph.op("Concat", ones, x, axis=1)
    powers = step.powers_
    degree = max(1, int(powers.sum(axis=1).max()))
    factors = np.zeros((degree, len(powers)))
    for place, row in enumerate(powers):
        used = [feature + 1 for feature, power in enumerate(row) for _ in range(power)]
        factors[: len(used), place] = used
    result = graph.columns(wide, factors[0])
    for row in factors[1:]:
        result = graph.op("Mul", result, graph.columns(wide, row))
    return result


def column_transformer(graph, step, x):
    weights = step.transformer_weights or {}
    parts = []
    for name, inner, _ in step.transformers_:
        places = list(step._transformer_to_input_indices.get(name, []))
        if isinstance(inner, str) and inner == "drop" or len(places) == 0:
            continue
        part = transformed(graph, inner, graph.columns(x, places))
        parts.append(graph.weighted(part, weights[name]) if name in weights else part)
    if not parts:
        raise GraphError("ColumnTransformer: nothing is left of the columns")
    return graph.joined(parts)


def feature_union(graph, step, x):
    weights = step.transformer_weights or {}
    parts = []
    for name, inner in step.transformer_list:
        if isinstance(inner, str) and inner == "drop":
            continue
        part = transformed(graph, inner, x)
        parts.append(graph.weighted(part, weights[name]) if name in weights else part)
    if any(isinstance(part, (Terms, Mixed)) for part in parts):
        return Mixed([(part, part.width if isinstance(part, (Terms, Mixed)) else None) for part in parts])
    return graph.joined([graph.plain(part) for part in parts])


TRANSFORMERS = {
    "StandardScaler": standard_scaler,
    "MinMaxScaler": min_max_scaler,
    "MaxAbsScaler": lambda graph, step, x: graph.op("Div", x, graph.constant(step.scale_)),
    "RobustScaler": robust_scaler,
    "Normalizer": normalizer,
    "SimpleImputer": imputer,
    "PCA": pca,
    "TruncatedSVD": pca,
    "OneHotEncoder": one_hot,
    "OrdinalEncoder": ordinal,
    "Binarizer": binarizer,
    "PolynomialFeatures": polynomial,
    "ColumnTransformer": column_transformer,
    "FeatureUnion": feature_union,
}


# Trees


def ensemble(graph, trees, x, targets):
    """trees: (features, thresholds, left, right, missing to the left or None, is leaf, votes of each node) each."""
    lists = {key: [] for key in ("nodes_featureids", "nodes_splits", "nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs",
                                 "nodes_falseleafs", "nodes_missing_value_tracks_true", "leaf_targetids", "leaf_weights", "tree_roots")}
    for feature, threshold, left, right, missing, is_leaf, target, weight in trees:
        inner, leaf = np.cumsum(~is_leaf) - 1, np.cumsum(is_leaf) - 1
        start, leaves = len(lists["nodes_featureids"]), len(lists["leaf_targetids"])
        if is_leaf[0]:
            # A tree of one leaf: a node whose both ways lead to leaves of the same vote.
            rows = [(0, 0.0, leaves, 1, leaves + 1, 1, 0)]
            lists["leaf_targetids"] += [int(target)] * 2
            lists["leaf_weights"] += [float(weight[0])] * 2
        else:
            place = lambda node: (int(leaves + leaf[node]), 1) if is_leaf[node] else (int(start + inner[node]), 0)
            rows = [
                (int(feature[node]), float(np.clip(threshold[node], -LARGEST, LARGEST)), *place(left[node]), *place(right[node]),
                 0 if missing is None else int(missing[node]))
                for node in np.flatnonzero(~is_leaf)
            ]
            lists["leaf_targetids"] += [int(target)] * int(is_leaf.sum())
            lists["leaf_weights"] += weight[is_leaf].astype(float).tolist()
        lists["tree_roots"].append(start)
        for row in rows:
            for key, value in zip(("nodes_featureids", "nodes_splits", "nodes_truenodeids", "nodes_trueleafs", "nodes_falsenodeids",
                                   "nodes_falseleafs", "nodes_missing_value_tracks_true"), row):
                lists[key].append(value)
    return graph.op("TreeEnsemble", x, domain="ai.onnx.ml", n_targets=targets, aggregate_function=1, post_transform=0,
                    nodes_modes=[0] * len(lists["nodes_featureids"]), **lists)


def takes_missing(tree):
    if getattr(tree.tree_, "missing_go_to_left", None) is None:
        return False
    try:
        from sklearn.utils import get_tags

        return bool(get_tags(tree).input_tags.allow_nan)
    except ImportError:
        return bool(tree._get_tags()["allow_nan"])


def structure(graph, tree):
    """Of a decision tree, without votes."""
    inner = tree.tree_
    if inner.n_outputs != 1:
        raise GraphError("trees with several outputs cannot be exported: fit one model an output")
    missing = None
    if takes_missing(tree):
        graph.takes_missing = True
        missing = np.asarray(inner.missing_go_to_left[: inner.node_count])
    return (inner.feature, inner.threshold, inner.children_left, inner.children_right, missing, inner.children_left < 0)


def single(graph, x):
    """Rounded to single precision, as scikit-learn's trees compare."""
    return graph.double(graph.op("Cast", x, to=FLOAT))


def tree_shares(graph, trees, x, classes):
    """The mean of the trees' shares of classes: for each class as many trees, of its share."""
    parts = []
    for tree in trees:
        values = tree.tree_.value[:, 0, :]
        totals = values.sum(axis=1, keepdims=True)
        shares = values / np.where(totals == 0, 1, totals) / len(trees)
        parts += [(*structure(graph, tree), target, shares[:, target]) for target in range(classes)]
    return ensemble(graph, parts, single(graph, x), classes)


def tree_sums(graph, trees, x, targets, factor):
    """trees: a list for each target of trees whose values are added up."""
    parts = [(*structure(graph, tree), target, factor * tree.tree_.value[:, 0, 0]) for target, column in enumerate(trees) for tree in column]
    return ensemble(graph, parts, single(graph, x), targets)


def trees_of(model):
    return list(model.estimators_) if hasattr(model, "estimators_") else [model]


def boosted_sums(graph, model, x):
    columns = list(np.asarray(model.estimators_).T)
    if kind_of(model.init_) not in ("DummyClassifier", "DummyRegressor") and model.init_ != "zero":
        raise GraphError(f"{kind_of(model)} with init={model.init_!r} cannot be exported")
    start = np.ravel(model._raw_predict_init(np.zeros((1, model.n_features_in_))))
    sums = tree_sums(graph, columns, x, len(columns), model.learning_rate)
    return graph.op("Add", sums, graph.constant(start))


def histogram_sums(graph, model, x):
    graph.takes_missing = True
    parts = []
    for iteration in model._predictors:
        for target, predictor in enumerate(iteration):
            nodes = predictor.nodes
            if np.any(nodes["is_categorical"] != 0):
                raise GraphError(f"{kind_of(model)} with categorical features cannot be exported: encode them as numbers")
            is_leaf = nodes["is_leaf"] != 0
            parts.append((nodes["feature_idx"], nodes["num_threshold"], nodes["left"], nodes["right"], nodes["missing_go_to_left"],
                          is_leaf, target, nodes["value"]))
    sums = ensemble(graph, parts, x, len(model._predictors[0]))
    return graph.op("Add", sums, graph.constant(np.ravel(model._baseline_prediction)))


# Classifiers: decisions whose largest is the label, and scores


def two_or_more(graph, sums, classes, factor=1.0):
    """Probabilities of sums that are log odds."""
    if classes > 2:
        return graph.op("Softmax", sums, axis=-1)
    return graph.pair(graph.op("Sigmoid", graph.scaled(sums, factor) if factor != 1.0 else sums))


def even_shares(graph, chances, classes):
    """Rows divided by their sums; where that is 0, the same for each class."""
    summed = graph.total(chances)
    zero = graph.op("Equal", summed, graph.constant(0.0))
    shares = graph.op("Div", chances, graph.op("Where", zero, graph.constant(1.0), summed))
    return graph.op("Where", zero, graph.constant([1.0 / classes] * classes), shares)


def linear_classifier(graph, model, x):
    kind = kind_of(model)
    coefficients = np.atleast_2d(dense(model.coef_))
    intercepts = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (coefficients.shape[0],))
    raw = graph.affine(x, coefficients.T, intercepts)
    decisions = graph.both(raw) if coefficients.shape[0] == 1 else raw
    if kind == "LinearDiscriminantAnalysis":
        return decisions, two_or_more(graph, raw, len(model.classes_))
    if not kind.startswith("LogisticRegression"):
        return decisions, decisions
    multi = getattr(model, "multi_class", "auto")
    if multi == "ovr" or model.solver == "liblinear" or (multi != "multinomial" and len(model.classes_) == 2):
        chances = graph.op("Sigmoid", decisions)
        return decisions, chances if coefficients.shape[0] == 1 else graph.shares(chances)
    return decisions, graph.op("Softmax", decisions, axis=-1)


def stochastic_probabilities(graph, model, x):
    decisions, _ = linear_classifier(graph, model, x)
    if model.loss == "log_loss":
        chances = graph.op("Sigmoid", decisions)
        return decisions, chances if len(model.classes_) == 2 else graph.shares(chances)
    inside = graph.op("Min", graph.op("Max", decisions, graph.constant(-1.0)), graph.constant(1.0))
    chances = graph.scaled(graph.op("Add", inside, graph.constant(1.0)), 0.5)
    return decisions, chances if len(model.classes_) == 2 else even_shares(graph, chances, len(model.classes_))


def forest_classifier(graph, model, x):
    scores = tree_shares(graph, trees_of(model), x, len(model.classes_))
    return scores, scores


def boosting_classifier(graph, model, x):
    classes = len(model.classes_)
    sums = boosted_sums(graph, model, x)
    scores = two_or_more(graph, sums, classes, 2.0 if model.loss == "exponential" else 1.0)
    return (graph.both(sums) if classes == 2 else sums), scores


def histogram_classifier(graph, model, x):
    classes = len(model.classes_)
    sums = histogram_sums(graph, model, x)
    return (graph.both(sums) if classes == 2 else sums), two_or_more(graph, sums, classes)


def kernel_sums(graph, model, x, weights):
    """Kernels of x and the support vectors, times a column of weights for each result."""
    if model.kernel == "linear":
        return graph.product(x, model.support_vectors_.T @ weights)
    rows, width = model.support_vectors_.shape
    if rows * width > MOST_KERNEL_VALUES:
        raise GraphError(f"{kind_of(model)} of {rows} x {width} values is too large: at most {MOST_KERNEL_VALUES} in all")
    vectors = dense(model.support_vectors_)
    if model.kernel not in ("rbf", "poly", "sigmoid"):
        raise GraphError(f"{kind_of(model)}(kernel={model.kernel!r}) cannot be exported, only linear, rbf, poly and sigmoid")
    gamma = float(model._gamma)
    if model.kernel == "rbf":
        x = graph.plain(x)
        squares = graph.op("Add", graph.total(graph.op("Mul", x, x)), graph.constant((vectors**2).sum(axis=1)))
        kernel = graph.op("Exp", graph.scaled(graph.op("Add", squares, graph.product(x, -2.0 * vectors.T)), -gamma))
    else:
        inner = graph.affine(x, gamma * vectors.T, np.full(len(vectors), float(model.coef0)))
        kernel = graph.op("Tanh", inner) if model.kernel == "sigmoid" else graph.op("Pow", inner, graph.constant(float(model.degree)))
    return graph.product(kernel, weights)


def support_classifier(graph, model, x):
    """Votes, and as scores the one-against-rest decision function."""
    votes, _, scores = support_votes(graph, model, x)
    return (scores if model.break_ties and model.decision_function_shape == "ovr" and len(model.classes_) > 2 else votes), scores


def support_function(graph, model, x):
    """scikit-learn's decision function in place of votes."""
    if len(model.classes_) == 2:
        _, sums, scores = support_votes(graph, model, x)
        return sums, scores
    if model.decision_function_shape != "ovr":
        raise GraphError(f"{kind_of(model)}(decision_function_shape={model.decision_function_shape!r}) cannot be calibrated here, only 'ovr'")
    scores = support_votes(graph, model, x)[2]
    return scores, scores


def support_probabilities(graph, model, x):
    raise GraphError(f"probabilities of {kind_of(model)} cannot be exported: put CalibratedClassifierCV({kind_of(model)}()) in its place")


def support_votes(graph, model, x):
    """One decision for each pair of classes and a vote of each; the decisions' sums for each class; the one-against-rest decision function."""
    classes, ends = len(model.classes_), np.cumsum(model.n_support_)
    # The public attributes of a machine of two classes have the opposite signs of libsvm's.
    sign = -1.0 if classes == 2 else 1.0
    dual, offsets = sign * dense(model.dual_coef_), sign * np.asarray(model.intercept_, dtype=np.float64)
    pairs = [(i, j) for i in range(classes) for j in range(i + 1, classes)]
    weights, first, second = np.zeros((ends[-1], len(pairs))), np.zeros((len(pairs), classes)), np.zeros((len(pairs), classes))
    for place, (i, j) in enumerate(pairs):
        for own, row in ((i, j - 1), (j, i)):
            span = slice(ends[own] - model.n_support_[own], ends[own])
            weights[span, place] = dual[row, span]
        first[place, i], second[place, j] = 1.0, 1.0
    decisions = graph.op("Add", kernel_sums(graph, model, x, weights), graph.constant(offsets))
    is_first = graph.double(graph.op("Greater", decisions, graph.constant(0.0)))
    # A vote that is not the first's is the second's.
    votes = graph.affine(is_first, first - second, second.sum(axis=0))
    sums = graph.product(decisions, first - second)
    size = graph.op("Add", graph.scaled(graph.op("Abs", sums), 3.0), graph.constant([3.0]))
    return votes, sums, graph.op("Add", votes, graph.op("Div", sums, size))


def support_regressor(graph, model, x):
    sums = kernel_sums(graph, model, x, dense(model.dual_coef_).T)
    return graph.op("Add", sums, graph.constant(np.asarray(model.intercept_, dtype=np.float64)))


def perceptron(graph, model, x):
    activation = {"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid", "identity": None}[model.activation]
    for place, (weights, biases) in enumerate(zip(model.coefs_, model.intercepts_)):
        x = graph.affine(x, weights, biases)
        if place < len(model.coefs_) - 1 and activation is not None:
            x = graph.op(activation, x)
    return x


def perceptron_classifier(graph, model, x):
    if model.out_activation_ == "logistic" and model.n_outputs_ > 1:
        raise GraphError("MLPClassifier with several labels an input cannot be exported")
    scores = two_or_more(graph, perceptron(graph, model, x), len(model.classes_))
    return scores, scores


def gaussian(graph, model, x):
    variances = getattr(model, "var_", None)
    variances = model.sigma_ if variances is None else variances
    apart = graph.op("Sub", graph.op("Unsqueeze", x, graph.constant([1], whole=True)), graph.constant(model.theta_))
    ratio = graph.op("Div", graph.op("Mul", apart, apart), graph.constant(variances))
    offset = np.log(model.class_prior_) - 0.5 * np.log(2.0 * np.pi * variances).sum(axis=1)
    joint = graph.op("Add", graph.scaled(graph.total(ratio, 2, 0), -0.5), graph.constant(offset))
    return joint, graph.op("Softmax", joint, axis=-1)


def discrete(graph, model, x):
    kind = kind_of(model)
    logs, prior = model.feature_log_prob_, model.class_log_prior_
    if kind == "BernoulliNB":
        if isinstance(x, Terms) and model.binarize == 0.0 and x.binarized(graph) is not None:
            x = x.binarized(graph)
        elif model.binarize is not None:
            x = graph.plain(x)
            x = graph.double(graph.op("Greater", x, graph.constant(float(model.binarize))))
        absent = np.log(1 - np.exp(logs))
        joint = graph.affine(x, (logs - absent).T, prior + absent.sum(axis=1))
    elif kind == "ComplementNB":
        joint = graph.affine(x, logs.T, prior if len(model.classes_) == 1 else np.zeros(len(model.classes_)))
    else:
        joint = graph.affine(x, logs.T, prior)
    return joint, graph.op("Softmax", joint, axis=-1)


def neighbours(graph, model, x, answers):
    """The (weighted) mean of the neighbours' answers."""
    metric, p = model.effective_metric_, model.effective_metric_params_.get("p", 2)
    if metric == "manhattan" or (metric == "minkowski" and p == 1):
        reduction = "ReduceL1"
    elif metric == "euclidean" or (metric == "minkowski" and p == 2):
        reduction = "ReduceL2"
    else:
        raise GraphError(f"{kind_of(model)}(metric={metric!r}) cannot be exported, only euclidean and manhattan")
    points = dense(model._fit_X)
    if points.size > MOST_DIFFERENCES:
        raise GraphError(f"{kind_of(model)} of {points.shape[0]} x {points.shape[1]} values is too large: at most {MOST_DIFFERENCES} in all")
    apart = graph.op("Sub", graph.op("Unsqueeze", x, graph.constant([1], whole=True)), graph.constant(points))
    distances = graph.op(reduction, apart, graph.constant([2], whole=True), keepdims=0)
    near, places = graph.op("TopK", distances, graph.constant([model.n_neighbors], whole=True), outputs=2, axis=-1, largest=0)
    found = graph.op("Gather", graph.constant(answers), places, axis=0)
    if model.weights == "uniform":
        return graph.op("ReduceMean", found, graph.constant([1], whole=True), keepdims=0)
    if model.weights != "distance":
        raise GraphError(f"{kind_of(model)} with weights of its own cannot be exported")
    # Where a point is met exactly, those that are count alone.
    met = graph.double(graph.op("Equal", near, graph.constant(0.0)))
    any_met = graph.op("Greater", graph.total(met), graph.constant(0.0))
    weights = graph.op("Where", any_met, met, graph.op("Reciprocal", near))
    shares = graph.op("Unsqueeze", graph.shares(weights), graph.constant([2], whole=True))
    return graph.total(graph.op("Mul", found, shares), 1, 0)


def neighbour_classifier(graph, model, x):
    if model.outputs_2d_:
        raise GraphError("KNeighborsClassifier with several outputs cannot be exported")
    scores = neighbours(graph, model, x, np.eye(len(model.classes_))[model._y])
    return scores, scores


def calibrated(graph, model, x):
    classes = len(model.classes_)
    total = None
    for part in model.calibrated_classifiers_:
        inner = getattr(part, "estimator", None) or part.base_estimator
        if len(inner.classes_) != classes:
            raise GraphError("CalibratedClassifierCV: a fold of its training data lacks a class: fit it with fewer folds")
        decisions, scores = last_step(graph, inner, x, DECISION_FUNCTIONS)
        raw = decisions if hasattr(inner, "decision_function") else scores
        columns = []
        for place, calibrator in enumerate(part.calibrators):
            column = graph.columns(raw, [1 if classes == 2 else place])
            columns.append(calibrated_column(graph, calibrator, column))
        if classes == 2:
            chances = graph.pair(columns[0])
        else:
            chances = even_shares(graph, graph.op("Concat", *columns, axis=1), classes)
        total = chances if total is None else graph.op("Add", total, chances)
    scores = graph.scaled(total, 1.0 / len(model.calibrated_classifiers_))
    return scores, scores


def calibrated_column(graph, calibrator, column):
    kind = kind_of(calibrator)
    if kind == "_SigmoidCalibration":
        return graph.op("Sigmoid", graph.op("Add", graph.scaled(column, -float(calibrator.a_)), graph.constant([-float(calibrator.b_)])))
    if kind != "IsotonicRegression":
        raise GraphError(f"CalibratedClassifierCV with {kind} cannot be exported, only sigmoid and isotonic")
    at, values = np.asarray(calibrator.X_thresholds_, dtype=float), np.asarray(calibrator.y_thresholds_, dtype=float)
    if len(at) == 1:
        return graph.op("Add", graph.scaled(column, 0.0), graph.constant([values[0]]))
    # Straight lines between thresholds: each adds as much as lies below the value.
    inside = graph.op("Min", graph.op("Max", column, graph.constant(at[:-1])), graph.constant(at[1:]))
    slopes = np.diff(values) / np.diff(at)
    return graph.affine(graph.op("Sub", inside, graph.constant(at[:-1])), slopes[:, None], [values[0]])


def voting_classifier(graph, model, x):
    if model.voting != "soft":
        raise GraphError("VotingClassifier(voting='hard') cannot be exported: vote with voting='soft'")
    parts = [last_step(graph, inner, x, PROBABILITIES)[1] for inner in model.estimators_]
    scores = weighted_mean(graph, parts, model._weights_not_none)
    return scores, scores


def weighted_mean(graph, parts, weights):
    shares = np.ones(len(parts)) / len(parts) if weights is None else np.asarray(weights, dtype=float) / np.sum(weights)
    terms = [graph.scaled(part, float(share)) for part, share in zip(parts, shares)]
    return terms[0] if len(terms) == 1 else graph.op("Sum", *terms)


CLASSIFIERS = {
    **{kind: linear_classifier for kind in LINEAR_CLASSIFIERS},
    **{kind: forest_classifier for kind in TREE_CLASSIFIERS},
    "GradientBoostingClassifier": boosting_classifier,
    "HistGradientBoostingClassifier": histogram_classifier,
    "MLPClassifier": perceptron_classifier,
    "GaussianNB": gaussian,
    "MultinomialNB": discrete,
    "ComplementNB": discrete,
    "BernoulliNB": discrete,
    "KNeighborsClassifier": neighbour_classifier,
    "CalibratedClassifierCV": calibrated,
    "VotingClassifier": voting_classifier,
    "SVC": support_classifier,
    "NuSVC": support_classifier,
}
# Where another model asks them: the first of the two is what decision_function answers, where there is one,
DECISION_FUNCTIONS = {**CLASSIFIERS, "SVC": support_function, "NuSVC": support_function}
# or the second what predict_proba does.
PROBABILITIES = {
    **CLASSIFIERS, "SGDClassifier": stochastic_probabilities, "SVC": support_probabilities, "NuSVC": support_probabilities,
}


# Regressors


def linear_regressor(graph, model, x):
    coefficients = np.atleast_2d(dense(model.coef_))
    return graph.affine(x, coefficients.T, np.broadcast_to(np.asarray(model.intercept_, dtype=float), (coefficients.shape[0],)))


def forest_regressor(graph, model, x):
    trees = trees_of(model)
    return tree_sums(graph, [trees], x, 1, 1.0 / len(trees))


def histogram_regressor(graph, model, x):
    sums = histogram_sums(graph, model, x)
    return graph.op("Exp", sums) if model.loss in ("poisson", "gamma") else sums


def neighbour_regressor(graph, model, x):
    answers = dense(model._y)
    return neighbours(graph, model, x, answers[:, None] if answers.ndim == 1 else answers)


def voting_regressor(graph, model, x):
    return weighted_mean(graph, [regressor(graph, inner, x) for inner in model.estimators_], model._weights_not_none)


REGRESSORS = {
    **{kind: linear_regressor for kind in LINEAR_REGRESSORS},
    **{kind: forest_regressor for kind in TREE_REGRESSORS},
    "GradientBoostingRegressor": boosted_sums,
    "HistGradientBoostingRegressor": histogram_regressor,
    "MLPRegressor": perceptron,
    "KNeighborsRegressor": neighbour_regressor,
    "VotingRegressor": voting_regressor,
    "SVR": support_regressor,
    "NuSVR": support_regressor,
}
SUPPORTED = sorted(set(CLASSIFIERS) | set(REGRESSORS))
# What begins with a product, which needs no row of all features of a text.
SPARSE_AWARE = LINEAR_CLASSIFIERS | LINEAR_REGRESSORS | {
    "MultinomialNB", "ComplementNB", "BernoulliNB", "MLPClassifier", "MLPRegressor", "CalibratedClassifierCV", "VotingClassifier",
    "VotingRegressor", "SVC", "NuSVC", "SVR", "NuSVR",
}


def classifier(graph, model, x):
    return last_step(graph, model, x, CLASSIFIERS)


def regressor(graph, model, x):
    return last_step(graph, model, x, REGRESSORS)


def last_step(graph, model, x, table):
    if kind_of(model) == "Pipeline":
        for _, step in model.steps[:-1]:
            x = transformed(graph, step, x)
        return last_step(graph, model.steps[-1][1], x, table)
    if kind_of(model) not in SPARSE_AWARE:
        x = graph.plain(x)
    if kind_of(model) not in table:
        raise GraphError(f"{kind_of(model)} cannot be exported here, only {', '.join(sorted(table))}")
    return table[kind_of(model)](graph, model, x)


def final(model):
    while kind_of(model) == "Pipeline":
        model = model.steps[-1][1]
    return model


def can_be_graph(model):
    kind = kind_of(final(model))
    return kind in CLASSIFIERS or kind in REGRESSORS


def graph_of(model, names=None, max_terms=2048):
    """Nodes, constants and outputs of a fitted model, and whether it takes missing values.

    names: of the columns of a row; None: a query is one text, or numbers alone.
    """
    if not can_be_graph(model):
        raise GraphError(f"{kind_of(final(model))} cannot be exported, only {', '.join(SUPPORTED)}")
    graph = Graph(max_terms)
    x = "x"
    if is_text(model):
        x = Row([(0, None)])
    elif takes_texts(model):
        x = Row([(column, None) for column in range(len(names))])
    if kind_of(final(model)) in REGRESSORS:
        outputs = {"values": regressor(graph, model, x)}
    else:
        decisions, scores = classifier(graph, model, x)
        outputs = {"decisions": decisions, "scores": scores}
    encoding = {}
    if x != "x":
        columns = {} if is_text(model) else {"columns": list(names)}
        encoding = {"encoding": {**columns, "parts": graph.encoding()}, "features": graph.width}
    return {"nodes": graph.nodes, "constants": graph.written_constants(), "outputs": outputs, "takesMissing": graph.takes_missing, **encoding}
