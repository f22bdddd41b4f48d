"""A user's module as a model: found, checked and loaded."""

import importlib.util
import inspect
import os
import struct
import sys
import time
import traceback

from .frames import INPUT_TYPES

try:
    import numpy
except ImportError:
    numpy = None

DEFAULT_MAX_BATCH_SIZE = 1024
LARGEST_MAX_BATCH_SIZE = 65535

# Of numbers: bytes each takes, for struct, for numpy.
_NUMBERS = {"integers": (4, "i", "<i4"), "floats": (4, "f", "<f4"), "doubles": (8, "d", "<f8"), "bytes": (1, "B", "u1")}


class ModelError(Exception):
    """What is wrong with a module; its text says all."""


class Model:
    """Loads a module. Raises ModelError that says what is wrong with it and where."""

    def __init__(self, path, registered_type):
        """registered_type: what it is where the module does not say; may be None."""
        try:
            owner = _owner(_imported(path), path)
            self.input_type = _input_type(owner, registered_type)
            self.input_length = _whole(owner, "input_length", None, 0xFFFFFFFF)
            self.max_batch_size = _whole(owner, "max_batch_size", DEFAULT_MAX_BATCH_SIZE, LARGEST_MAX_BATCH_SIZE)
            self.predict = _function(owner, "predict")
            self.predict_one = _function(owner, "predict_one")
            self._close = _function(owner, "close")
            load = _function(owner, "load")
            if load is not None:
                load()
        except ModelError as error:
            raise ModelError("%s: %s" % (path, error)) from None
        except Exception as error:
            print_traceback(error)
            raise ModelError("%s: %s%s" % (path, _said(error), _place(error, path))) from None

    def close(self):
        if self._close is not None:
            self._close()

    def refusal(self, data):
        """Why bytes are no input of this model; None when they are."""
        if self.input_type == "strings":
            if self.input_length is None:
                return None
            found = len(str(data, "utf-8", "replace"))
        else:
            size = _NUMBERS[self.input_type][0]
            if len(data) % size != 0:
                return "%d bytes are no %s" % (len(data), self.input_type)
            found = len(data) // size
        if self.input_length is None or found == self.input_length:
            return None
        return "the model takes %d values, the input has %d" % (self.input_length, found)

    def batch_of(self, items):
        """What predict gets, made anew for each call: a model may change it."""
        if numpy is None or self.input_type == "strings" or self.input_length is None:
            return [self.input_of(item.data) for item in items]
        whole = bytearray(b"".join(item.data for item in items))
        return numpy.frombuffer(whole, _NUMBERS[self.input_type][2]).reshape(len(items), self.input_length)

    def input_of(self, data):
        if self.input_type == "strings":
            return str(data, "utf-8", "replace")
        size, code, dtype = _NUMBERS[self.input_type]
        if numpy is not None:
            return numpy.frombuffer(bytearray(data), dtype) if len(data) > 0 else numpy.empty(0, dtype)
        if self.input_type == "bytes":
            return bytes(data)
        return list(struct.unpack("<%d%s" % (len(data) // size, code), data))


_printed = ["", 0.0]


def print_traceback(error):
    """For the server's log: from the user's own code on; once, where inputs are asked again for the same failure."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    now = time.monotonic()
    if text == _printed[0] and now - _printed[1] < 1:
        return
    _printed[:] = text, now
    try:
        sys.__stderr__.write(text)
        sys.__stderr__.flush()
    except Exception:
        # Whoever closes its stderr has no log.
        pass


def _imported(path):
    folder = os.path.dirname(path)
    sys.path.insert(0, folder)
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    # Before it runs: what was pickled of its own classes is found by this name.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _owner(module, path):
    """The module itself, or the only class in it that is a model, made once."""
    for name in ("predict", "predict_one"):
        if hasattr(module, name):
            return module
    own = [one for one in vars(module).values() if inspect.isclass(one) and one.__module__ == module.__name__]
    classes = [one for one in own if hasattr(one, "predict") or hasattr(one, "predict_one")]
    if not classes:
        raise ModelError("the module has neither a function predict(batch) nor a class with one")
    named = [one for one in classes if one.__name__ == "Model"]
    if len(classes) > 1 and not named:
        names = ", ".join(one.__name__ for one in classes)
        raise ModelError("several classes have predict (%s): call the one that is the model Model" % names)
    return (named or classes)[0]()


def _input_type(owner, registered_type):
    found = getattr(owner, "input_type", registered_type)
    if found is None:
        raise ModelError(
            'input_type is missing: say input_type = "doubles" in it (or %s), or deploy it with --input-type'
            % ", ".join(one for one in INPUT_TYPES if one != "doubles")
        )
    if found not in INPUT_TYPES:
        raise ModelError("input_type: %r, expected one of %s" % (found, ", ".join(INPUT_TYPES)))
    return found


def _whole(owner, name, default, most):
    found = getattr(owner, name, None)
    if found is None:
        return default
    if type(found) is not int or not 1 <= found <= most:
        raise ModelError("%s: %r, expected a whole number from 1 to %d" % (name, found, most))
    return found


def _function(owner, name):
    found = getattr(owner, name, None)
    if found is None:
        return None
    if not callable(found):
        raise ModelError("%s: %r, expected a function" % (name, found))
    if inspect.iscoroutinefunction(found):
        raise ModelError("%s is async: make it a plain function" % name)
    return found


def _said(error):
    if isinstance(error, SyntaxError):
        return "%s: %s" % (type(error).__name__, error.msg)
    return "%s: %s" % (type(error).__name__, error)


def _place(error, path):
    """Where in the user's files it was raised: ' (model.py, line 3)'."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return " (%s, line %s)" % (os.path.basename(error.filename), error.lineno)
    folder = os.path.dirname(path) + os.sep
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename.startswith(folder)]
    return " (%s, line %d)" % (os.path.basename(frames[-1].filename), frames[-1].lineno) if frames else ""


def _is_ours(filename):
    return filename.startswith(os.path.dirname(__file__) + os.sep) or filename.startswith("<frozen importlib")
