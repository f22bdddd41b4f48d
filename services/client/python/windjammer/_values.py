"""What goes to a server and what comes from it, as values of Python."""

from __future__ import annotations

import base64
import math
import uuid
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import RefusedError, UnexpectedAnswer, refusal_of

#: Numbers, a text, or bytes; arrays of numpy too. What the application takes says its `input_type`. Of models that take rows a value for
#: each column, as a list or by their names.
Input = Union[str, bytes, bytearray, memoryview, Sequence[Optional[float]], Mapping[str, Any], Any]


@dataclass(frozen=True)
class ModelAnswer:
    """A model that answered."""

    name: str
    version: str
    cached: bool


@dataclass(frozen=True)
class Prediction:
    """An answer of the server."""

    #: Names the query in feedback.
    query_id: str
    #: What the models answered, as JSON has it; the application's default output where `is_default`.
    output: Any
    is_default: bool
    default_reason: Optional[str]
    default_explanation: Optional[str]
    #: Share of the asked models that agree with the output, 0 to 1.
    confidence: float
    cached: bool
    models: Tuple[ModelAnswer, ...]
    #: With `votes`: what each linked model says by itself, as docs/reference/rest.md has it.
    votes: Optional[List[Mapping[str, Any]]] = None


@dataclass(frozen=True)
class FeedbackResult:
    """How feedback was taken."""

    #: Where the judged predictions came from: query, cache, evaluated, queued, repeated, pinned or none.
    joined: str
    #: What was learned is on disk.
    durable: bool


def input_json(value: Input) -> Any:
    """An input as JSON: bytes as base64, arrays as lists. Raises ValueError on what is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode("ascii")
    if isinstance(value, Mapping):
        names = list(value)
        bad = next((name for name in names if not isinstance(name, str)), None)
        if bad is not None:
            raise ValueError(f"an input's columns have names, and {bad!r} is none")
        return dict(zip(names, input_json([value[name] for name in names])))
    convert = getattr(value, "tolist", None)
    items = convert() if callable(convert) else value
    if not isinstance(items, (list, tuple, range)):
        try:
            items = list(items)
        except TypeError as error:
            raise ValueError(f"an input is a list of numbers, a text, bytes or columns by name, and no {type(value).__name__}") from error
    for at, item in enumerate(items):
        if isinstance(item, float) and not math.isfinite(item):
            raise ValueError(f"input[{at}] is {item}, which JSON has not: send None for a missing value")
    return items if isinstance(items, list) else list(items)


def numbers_json(what: str, numbers: Any) -> dict:
    """Numbers by name as JSON, numpy's too. Raises ValueError on what are none."""
    if not isinstance(numbers, Mapping):
        raise ValueError(f"{what} are numbers by name, such as {{'hour': 14}}, and no {type(numbers).__name__}")
    return {name: _number(f"{what}[{name!r}]", value) for name, value in numbers.items()}


def features_json(features: Optional[Mapping[str, float]]) -> Optional[dict]:
    return None if features is None else numbers_json("features", features)


def _number(what: str, value: Any) -> Any:
    # A number of numpy says what it is of Python's.
    convert = getattr(value, "item", None)
    number = convert() if callable(convert) else value
    if not isinstance(number, (int, float)) or (isinstance(number, float) and not math.isfinite(number)):
        raise ValueError(f"{what} is {value!r}, and no finite number")
    return int(number) if isinstance(number, bool) else number


def prediction_of(value: Any) -> Prediction:
    """Raises UnexpectedAnswer on what is none."""
    try:
        return Prediction(
            query_id=value["query_id"],
            output=value["output"],
            is_default=value["default"],
            default_reason=value.get("default_reason"),
            default_explanation=value.get("default_explanation"),
            confidence=value["confidence"],
            cached=value["cached"],
            models=tuple(ModelAnswer(one["name"], one["version"], one["cached"]) for one in value["models"]),
            votes=value.get("votes"),
        )
    except (TypeError, KeyError, AttributeError) as error:
        raise UnexpectedAnswer("what answers is no query interface of Windjammer; is the address right?") from error


def predictions_of(value: Any, count: int) -> List[Union[Prediction, RefusedError]]:
    entries = value.get("batch_predictions") if isinstance(value, dict) else None
    if not isinstance(entries, list) or len(entries) != count:
        raise UnexpectedAnswer("what answers is no query interface of Windjammer; is the address right?")
    return [refusal_of(one, _status_of(one)) or prediction_of(one) for one in entries]


def _status_of(entry: Any) -> int:
    # Errors within a batch have no status of their own.
    from .error_codes import STATUSES

    error = entry.get("error") if isinstance(entry, dict) else None
    return STATUSES.get(error.get("code"), 500) if isinstance(error, dict) else 200


def query_fields(
    context: Union[str, int, None],
    version: Optional[str],
    latency_slo_micros: Optional[int],
    strict: Optional[bool],
    priority: Optional[int],
    launch_class: Optional[str],
    features: Any,
) -> dict:
    fields = {
        "context": context,
        "version": version,
        "latency_slo_micros": latency_slo_micros,
        "strict": strict,
        "priority": priority,
        "launch_class": launch_class,
        "features": features,
    }
    return {name: value for name, value in fields.items() if value is not None}


def feedback_fields(
    label: Any,
    query_id: Optional[str],
    input: Optional[Input],
    loss: Optional[float],
    reward: Optional[float],
    losses: Optional[Mapping[str, float]],
    features: Optional[Mapping[str, float]],
    idempotency_key: Optional[str],
    context: Union[str, int, None],
) -> dict:
    if (query_id is None) == (input is None):
        raise ValueError("feedback names a query or an input: give query_id or input, one of them")
    if label is None and loss is None and reward is None and losses is None:
        raise ValueError("feedback says what was right: give label, loss, reward or losses")
    fields = {
        "label": label,
        "query_id": query_id,
        "input": None if input is None else input_json(input),
        "loss": None if loss is None else _number("loss", loss),
        "reward": None if reward is None else _number("reward", reward),
        "losses": None if losses is None else numbers_json("losses", losses),
        "features": features_json(features),
        # One of its own: what is sent again is learned once.
        "idempotency_key": uuid.uuid4().hex if idempotency_key is None else idempotency_key,
        "context": context,
    }
    return {name: value for name, value in fields.items() if value is not None}


def feedback_of(value: Any) -> FeedbackResult:
    if not isinstance(value, dict) or value.get("accepted") is not True:
        raise UnexpectedAnswer("what answers is no query interface of Windjammer; is the address right?")
    return FeedbackResult(joined=str(value.get("joined")), durable=value.get("durable") is True)
