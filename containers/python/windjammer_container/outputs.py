"""What a model gave, as the text of an answer."""

import json
import struct

from .frames import ANSWER, MAX_FRAME_BYTES, MODEL_ERROR, SCORED_ANSWER, Result

MAX_MESSAGE_LENGTH = 1000
# A longer output would take others' answers with it: a frame holds those of a batch.
MAX_OUTPUT_LENGTH = MAX_FRAME_BYTES // 4


def result_of(item_id, value):
    """Of what a model gave for an input: its answer, or an exception that stands in its place. Never raises an Exception."""
    try:
        if isinstance(value, BaseException):
            return failed(item_id, message_of(value))
        if type(value) is dict and len(value) == 2 and "output" in value and "scores" in value:
            return Result(item_id, SCORED_ANSWER, _checked(value["output"]), _scores(value["scores"]))
        return Result(item_id, ANSWER, _checked(value), None)
    except Exception as error:
        return failed(item_id, message_of(error))


def failed(item_id, message, kind=MODEL_ERROR):
    return Result(item_id, kind, message[:MAX_MESSAGE_LENGTH].encode("utf-8", "replace"), None)


def message_of(error):
    try:
        return "%s: %s" % (type(error).__name__, error)
    except Exception:
        return "%s, which has no text" % type(error).__name__


def listed(given):
    """The outputs of a batch as a list: of whatever goes through them in order. Raises TypeError for anything else."""
    if isinstance(given, list):
        return given
    if hasattr(given, "tolist"):
        given = given.tolist()
    if isinstance(given, (str, bytes, dict)) or not hasattr(given, "__iter__"):
        raise TypeError("predict gave no list but %s" % type(given).__name__)
    return list(given)


def _checked(value):
    text = value if isinstance(value, str) else _json(_label(value))
    if len(text) > MAX_OUTPUT_LENGTH:
        raise ValueError("the model gave an output of %d characters: at most %d can be" % (len(text), MAX_OUTPUT_LENGTH))
    return text.encode("utf-8", "replace")


def _label(value):
    """3.0 is the answer 3, as other languages write it."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def _plain(value):
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError("the model gave an output that is no JSON: %s" % type(value).__name__)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)


def _json(value):
    try:
        return _ENCODER.encode(value)
    except ValueError:
        # NaN or an infinity is in it, for which JSON has no word.
        return _ENCODER.encode(_finite(value))


def _finite(value):
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(one) for one in value]
    return _finite(value.tolist()) if hasattr(value, "tolist") else value


def _scores(values):
    return b"".join(_SCORE.pack(_score(one)) for one in (values.tolist() if hasattr(values, "tolist") else values))


_SCORE = struct.Struct("<f")


def _score(value):
    """A score that is no number becomes NaN, which answers show as null; one beyond single precision an infinity."""
    try:
        number = float(value)
        _SCORE.pack(number)
        return number
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    except (TypeError, ValueError):
        return float("nan")
