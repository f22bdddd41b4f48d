"""Strings that scikit-learn's models take: columns of categories, and texts as counts of their terms, for sklearnGraph.py.

A query is one text, or a row of columns. On the host each becomes numbers by the parts of an encoding: a column's number, the place
of its category, or pairs of a term's place and its value. What follows here stands for such parts until nodes take them.
"""

import numpy as np

VECTORIZERS = {"CountVectorizer", "TfidfVectorizer", "HashingVectorizer"}
ENCODERS = {"OneHotEncoder", "OrdinalEncoder"}
TEXT_STEPS = VECTORIZERS | {"TfidfTransformer"}
# Python's patterns of words, and how long a run of word characters is at least.
WORD_PATTERNS = {
    r"(?u)\b\w\w+\b": 2, r"\b\w\w+\b": 2, r"(?u)\w\w+": 2, r"\w\w+": 2, r"\w{2,}": 2, r"(?u)\b\w+\b": 1, r"\b\w+\b": 1, r"(?u)\w+": 1,
    r"\w+": 1, r"(?u)\b\w{3,}\b": 3, r"\b\w{3,}\b": 3, r"\w{3,}": 3, r"(?u)\b\w\w\w+\b": 3, r"\b\w\w\w+\b": 3,
}
ANALYZERS = {"word": "word", "char": "char", "char_wb": "charInWords"}
LONGEST_TEXT = 2**18
# Where more terms than this have the same weights, they share a place.
SHARED = 2


def error(message):
    from sklearnGraph import GraphError

    return GraphError(message)


def kind_of(model):
    return type(model).__name__


class Row:
    """Columns of the query as they came: (column, what stands for a missing value) each."""

    def __init__(self, columns):
        self.columns = columns


class Terms:
    """A text's terms, as a vector of features of which most are 0."""

    def __init__(self, place, most, features, is_hashed, part, steps=(), uses=None):
        self.place, self.most, self.features, self.is_hashed, self.part = place, most, features, is_hashed, part
        self.steps = list(steps)
        # Names of constants that are rows of weights.
        self.uses = [] if uses is None else uses
        self.is_plain = False

    @property
    def width(self):
        chosen = [values for kind, values in self.steps if kind == "choose"]
        return len(chosen[-1]) if chosen else self.features

    def then(self, kind, values):
        later = Terms(self.place, self.most, self.features, self.is_hashed, self.part, [*self.steps, (kind, np.asarray(values))], self.uses)
        return later

    def weights(self, weights):
        """Rows for all features, of rows for what the steps leave."""
        for place in range(len(self.steps) - 1, -1, -1):
            kind, values = self.steps[place]
            if kind == "scale":
                weights = values[:, None] * weights
            else:
                before = [chosen for earlier, chosen in self.steps[:place] if earlier == "choose"]
                wide = np.zeros((len(before[-1]) if before else self.features, weights.shape[1]))
                wide[values] = weights
                weights = wide
        return weights

    def may_change(self):
        return not self.steps and not self.uses and self.part["norm"] == "none"

    def binarized(self, graph):
        """Its terms as 1 each; None: they may be below 0."""
        if self.steps or self.is_hashed:
            return None
        part = {key: value for key, value in self.part.items() if key not in ("weights", "terms")}
        return new_terms(graph, {**part, "binary": True, "sublinear": False, "norm": "none"}, self.features)

    def gather_places(self, graph):
        """Hashed terms that weights do not tell apart share a place, or have none where they count nothing."""
        if not self.is_hashed or self.is_plain or not self.uses:
            return
        rows = np.hstack([graph.constants[name][0] for name in self.uses])
        keys = np.ascontiguousarray(rows + 0.0).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
        _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        common = int(np.argmax(counts))
        if counts[common] < SHARED:
            return
        own = np.flatnonzero(inverse.ravel() != common)
        counts_nothing = not np.any(rows[first[common]])
        kept = own if counts_nothing and len(own) > 0 else np.append(own, first[common])
        self.part["space"]["chosen"] = {"hashes": own.tolist(), "rest": -1 if len(kept) == len(own) else len(own)}
        for name in self.uses:
            values, kind = graph.constants[name]
            graph.constants[name] = (values[kept], kind)


class Mixed:
    """Blocks of columns beside one another: (block, width) each, of which one may be unknown."""

    def __init__(self, blocks):
        self.blocks = blocks
        if sum(width is None for _, width in blocks) > 1:
            raise error("several parts beside a text's terms cannot be told apart here: put them into one ColumnTransformer")

    @property
    def width(self):
        widths = [width for _, width in self.blocks]
        return None if None in widths else sum(widths)

    def split(self, weights):
        known = sum(width or 0 for _, width in self.blocks)
        start = 0
        for block, width in self.blocks:
            end = start + (weights.shape[0] - known if width is None else width)
            yield block, weights[start:end]
            start = end


def steps_of(model):
    """All estimators in a model, it among them."""
    if model is None or isinstance(model, str):
        return []
    inner = []
    if kind_of(model) == "Pipeline":
        inner = [step for _, step in model.steps]
    elif kind_of(model) == "ColumnTransformer":
        inner = [step for _, step, _ in model.transformers_]
    elif kind_of(model) == "FeatureUnion":
        inner = [step for _, step in model.transformer_list]
    return [model] + [found for step in inner for found in steps_of(step)]


def holds_texts(values):
    return np.asarray(values).dtype.kind not in "fiub"


def takes_texts(model):
    for step in steps_of(model):
        kind = kind_of(step)
        if kind in VECTORIZERS or (kind in ENCODERS and any(holds_texts(values) for values in step.categories_)):
            return True
        if kind == "SimpleImputer" and holds_texts(step.statistics_):
            return True
    return False


def is_text(model):
    """Whether a query is one text: what takes it first is a vectorizer, or a union of them."""
    kind = kind_of(model)
    if kind == "Pipeline":
        steps = [step for _, step in model.steps if step is not None and not isinstance(step, str)]
        return bool(steps) and is_text(steps[0])
    if kind == "FeatureUnion":
        return all(is_text(step) for _, step in model.transformer_list if not isinstance(step, str))
    return kind in VECTORIZERS


def text_step(graph, step, x):
    """What a step makes of a Row, Terms or Mixed; None: nothing that is special to these."""
    kind = kind_of(step)
    if isinstance(x, Row):
        if kind in ROW_STEPS:
            return ROW_STEPS[kind](graph, step, x)
        return None
    if isinstance(x, Terms):
        return terms_step(step, kind, x)
    return None


def terms_step(step, kind, x):
    if kind == "TfidfTransformer":
        if not x.may_change():
            raise error("TfidfTransformer can stand right behind CountVectorizer or HashingVectorizer(norm=None) only")
        weigh(x.part, step)
        return x
    if kind == "Normalizer" and step.norm in ("l1", "l2") and x.may_change():
        x.part["norm"] = step.norm
        return x
    if kind == "MaxAbsScaler" or (kind == "StandardScaler" and not step.with_mean):
        scale = getattr(step, "scale_", None)
        return x if scale is None else x.then("scale", 1.0 / scale)
    if hasattr(step, "get_support"):
        return x.then("choose", np.flatnonzero(step.get_support()))
    return None


def weigh(part, step):
    """What TfidfTransformer, or that of TfidfVectorizer, makes of counts."""
    part["sublinear"] = bool(step.sublinear_tf)
    if step.use_idf:
        part["weights"] = np.asarray(step.idf_, dtype=np.float64).tolist()
    part["norm"] = step.norm or "none"


def new_terms(graph, part, features):
    most = min(graph.max_terms, features)
    place = graph.part(2 * most, **{**part, "most": most})
    made = graph.parts[place]
    terms = Terms(place, most, features, "hashed" in made["space"], made)
    made["terms"] = terms
    return terms


def vectorizer(graph, step, x):
    kind = kind_of(step)
    if len(x.columns) != 1:
        raise error(f"{kind} of {len(x.columns)} columns: it takes one text (name the column without a list)")
    for name in ("preprocessor", "tokenizer"):
        if getattr(step, name) is not None:
            raise error(f"{kind}({name}=...) cannot be exported: it is code of yours; serve the model as a Python module")
    if step.input != "content":
        raise error(f"{kind}(input={step.input!r}) cannot be exported, only input='content'")
    if step.analyzer not in ANALYZERS:
        raise error(f"{kind}(analyzer={step.analyzer!r}) cannot be exported, only {', '.join(ANALYZERS)}")
    is_words = step.analyzer == "word"
    if is_words and step.token_pattern not in WORD_PATTERNS:
        raise error(f"{kind}(token_pattern={step.token_pattern!r}) cannot be exported, only {', '.join(WORD_PATTERNS)}")
    if callable(step.strip_accents):
        raise error(f"{kind}(strip_accents=...) cannot be exported, only None, 'ascii' and 'unicode'")
    low, high = step.ngram_range
    part = {
        "kind": "terms",
        "column": x.columns[0][0],
        "longest": LONGEST_TEXT,
        "analyzer": ANALYZERS[step.analyzer],
        "lowercase": bool(step.lowercase),
        "accents": {None: "keep", "ascii": "ascii", "unicode": "strip"}[step.strip_accents],
        "shortest": WORD_PATTERNS[step.token_pattern] if is_words else 1,
        "grams": [int(low), int(high)],
        "stopWords": sorted(step.get_stop_words() or []) if is_words else [],
        "binary": bool(step.binary),
        "sublinear": False,
        "norm": "none",
    }
    if kind == "HashingVectorizer":
        space = {"hashed": int(step.n_features), "alternates": bool(step.alternate_sign)}
        return new_terms(graph, {**part, "space": space, "norm": step.norm or "none"}, int(step.n_features))
    vocabulary = [""] * len(step.vocabulary_)
    for term, place in step.vocabulary_.items():
        vocabulary[int(place)] = str(term)
    if kind == "TfidfVectorizer":
        weigh(part, step)
    return new_terms(graph, {**part, "space": {"vocabulary": vocabulary}}, len(vocabulary))


def scalar(value):
    """A category as JSON has it."""
    if value is None or (isinstance(value, float) and np.isnan(value)) or kind_of(value) in ("NAType", "NaTType"):
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    return str(value)


def category(graph, step, at, column, fill):
    """The place of a column's category among those of an encoder, as a value; -1: it is none of them."""
    values = [scalar(value) for value in np.asarray(step.categories_[at], dtype=object)]
    missing = {}
    if fill is not None:
        if scalar(fill) not in values:
            raise error(f"SimpleImputer fills in {fill!r}, which the encoder behind it does not know: fit them together")
        missing = {"missing": values.index(scalar(fill))}
    unknown = "refuse" if step.handle_unknown == "error" else "code"
    place = graph.part(1, kind="category", column=column, categories=values, unknown=unknown, **missing)
    return graph.encoded(place), len(values)


def is_number_column(step, at, fill):
    return fill is None and not holds_texts(step.categories_[at])


def one_hot(graph, step, x):
    from sklearnGraph import categories_of, one_hot_columns

    parts = []
    for at, (column, fill) in enumerate(x.columns):
        if is_number_column(step, at, fill):
            value, places = graph.number(column), categories_of(step, at)
        else:
            value, count = category(graph, step, at, column, fill)
            places = np.arange(count, dtype=float)
        parts += one_hot_columns(graph, step, at, value, places)
    return graph.joined(parts)


def ordinal(graph, step, x):
    from sklearnGraph import categories_of, groups_of, ordinal_column, unknown_code

    parts = []
    unknown = unknown_code(step)
    for at, (column, fill) in enumerate(x.columns):
        if is_number_column(step, at, fill):
            parts.append(ordinal_column(graph, step, at, graph.number(column), categories_of(step, at), unknown))
            continue
        if any(scalar(value) is None for value in np.asarray(step.categories_[at], dtype=object)):
            raise error("OrdinalEncoder: categories that are missing cannot be exported: impute them before it")
        value, count = category(graph, step, at, column, fill)
        if unknown != -1.0 or groups_of(step, at) is not None:
            value = ordinal_column(graph, step, at, value, np.arange(count, dtype=float), unknown)
        parts.append(value)
    return graph.joined(parts)


def imputer(graph, step, x):
    if not holds_texts(step.statistics_):
        return None
    missing = step.missing_values
    if missing is not None and not (isinstance(missing, float) and np.isnan(missing)) and kind_of(missing) != "NAType":
        raise error("SimpleImputer of strings can be exported where nan or None is missing, which is null in a query")
    if step.add_indicator:
        raise error("SimpleImputer(add_indicator=True) cannot be exported: leave the indicator out")
    return Row([(column, fill if held is None else held) for (column, held), fill in zip(x.columns, step.statistics_)])


def columns(graph, step, x):
    """ColumnTransformer over a row: each of its parts by itself."""
    from sklearnGraph import transformed

    weights = step.transformer_weights or {}
    blocks = []
    for name, inner, _ in step.transformers_:
        places = list(step._transformer_to_input_indices.get(name, []))
        if isinstance(inner, str) and inner == "drop" or len(places) == 0:
            continue
        made = transformed(graph, inner, Row([x.columns[place] for place in places]))
        made = graph.plain(made) if isinstance(made, Row) else made
        span = step.output_indices_[name]
        blocks.append((graph.weighted(made, weights[name]) if name in weights else made, span.stop - span.start))
    if not blocks:
        raise error("ColumnTransformer: nothing is left of the columns")
    if any(isinstance(block, (Terms, Mixed)) for block, _ in blocks):
        return Mixed(blocks)
    return graph.joined([block for block, _ in blocks])


ROW_STEPS = {
    "ColumnTransformer": columns,
    "OneHotEncoder": one_hot,
    "OrdinalEncoder": ordinal,
    "SimpleImputer": imputer,
    **{kind: vectorizer for kind in VECTORIZERS},
}
