"""A function as source: what a server needs to run it, and no pickle."""

from __future__ import annotations

import __future__ as future
import ast
import builtins
import dis
import importlib.util
import inspect
import math
import os
import sys
import sysconfig
import textwrap
from types import CodeType, FunctionType, ModuleType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Set, Tuple, Union

from .bundle import Bundle
from .errors import DeployError

#: The module that a server runs.
ENTRY = "model.py"
MOST_LITERAL = 1 << 20

_HEAD = "from __future__ import annotations\n"
_LOADS = frozenset(["LOAD_GLOBAL", "LOAD_NAME"])
_STORES = frozenset(["STORE_NAME", "STORE_GLOBAL"])


def bundle_of_function(function: Callable[[Any], Any], files: Mapping[str, str] = {}) -> Bundle:
    """
    A module whose `predict` is this function, with what it uses.

    A function of a module of its own is imported from it, and the module's files travel with it. One of the script that runs, or of a
    notebook, is taken by its text, with functions, classes, imports and plain values that it uses; what has no text (a trained model, an
    array) is refused by name. Installed packages stay here: the server must have them.

    files: what is sent beside, by the names under which code finds it: os.path.join(os.path.dirname(__file__), NAME).
    Raises DeployError that says what cannot be sent, and what to do.
    """
    if not isinstance(function, FunctionType):
        kind = "method" if inspect.ismethod(function) else type(function).__name__
        raise DeployError(f"{_called(function)} is a {kind} and no function: write `def predict(inputs): …` that calls it")
    if function.__name__ == "<lambda>":
        raise DeployError("a lambda has no text of its own: write it as `def predict(inputs): …`")
    sent: Dict[str, Union[str, bytes]] = {}
    modules = _Modules()
    if _is_importable(function):
        modules.need(function.__module__)
        text = f"from {function.__module__} import {function.__qualname__} as predict\n"
    else:
        writer = _Writer(modules)
        text = writer.text_of(function)
    sent[ENTRY] = text.encode("utf-8")
    for name, path in modules.files.items():
        if name == ENTRY:
            raise DeployError(f"{path}: a module that is sent may not be called {ENTRY}, which is the one that is made: rename it")
        sent[name] = path
    for name, path in files.items():
        if name in sent:
            raise DeployError(f"files: {name} is the name of a module that is sent: choose another")
        sent[name] = os.fspath(path)
    return Bundle(tuple(sent.items()))


def _called(value: Any) -> str:
    return getattr(value, "__qualname__", None) or f"what is a {type(value).__name__}"


def _is_importable(value: Any) -> bool:
    """Its module gives it under its name, wherever that is imported."""
    name = getattr(value, "__module__", None)
    qualified = getattr(value, "__qualname__", None)
    if not isinstance(name, str) or not isinstance(qualified, str) or name == "__main__" or "." in qualified:
        return False
    module = sys.modules.get(name)
    return module is not None and getattr(module, qualified, None) is value and _has_home(module)


def _home_of(value: Any) -> Optional[Tuple[str, str]]:
    """The module that gives it, and its name there; None of what no module gives."""
    if _is_importable(value):
        return value.__module__, value.__qualname__
    # Functions of packages in C may not say where they are.
    name, package = getattr(value, "__name__", None), type(value).__module__.split(".", 1)[0]
    if isinstance(name, str) and package != "builtins" and getattr(sys.modules.get(package), name, None) is value:
        return package, name
    return None


def _has_home(module: ModuleType) -> bool:
    """It is in a file, or part of the interpreter; not made at a prompt."""
    return getattr(module, "__spec__", None) is not None


class _Modules:
    """Modules of the user's own, which travel."""

    def __init__(self) -> None:
        self.files: Dict[str, str] = {}
        self._seen: Set[str] = set()

    def need(self, name: str) -> None:
        """With all of its package, and the user's modules that those import."""
        top = name.split(".", 1)[0]
        if top in self._seen:
            return
        self._seen.add(top)
        for shown, path in _local_files(top):
            self.files[shown] = path
            if path.endswith(".py"):
                for imported in _imported(path):
                    self.need(imported)


def _local_files(top: str) -> Iterator[Tuple[str, str]]:
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return
    if spec is None:
        return
    if spec.submodule_search_locations:
        for folder in spec.submodule_search_locations:
            if not _is_local(folder):
                continue
            above = os.path.dirname(os.path.abspath(folder))
            for place, folders, names in os.walk(folder):
                folders[:] = sorted(one for one in folders if one != "__pycache__" and not one.startswith("."))
                for name in sorted(names):
                    if name.endswith(".py"):
                        path = os.path.join(place, name)
                        yield os.path.relpath(path, above).replace(os.sep, "/"), path
    elif spec.origin and spec.origin.endswith(".py") and _is_local(spec.origin):
        yield os.path.basename(spec.origin), spec.origin


def _is_local(path: str) -> bool:
    """Of the user's own: neither the interpreter's nor an installed package's."""
    path = os.path.abspath(path)
    if {"site-packages", "dist-packages"} & set(path.split(os.sep)):
        return False
    homes = [sysconfig.get_path(kind) for kind in ("stdlib", "platstdlib")]
    return not any(home and path.startswith(os.path.abspath(home) + os.sep) for home in homes)


def _imported(path: str) -> Iterator[str]:
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(), path)
    except SyntaxError as error:
        raise DeployError(f"{path}, line {error.lineno}: {error.msg}") from error
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


class _Writer:
    """Puts together a module's text from what a function uses, what is used first."""

    def __init__(self, modules: _Modules):
        self._modules = modules
        self._parts: List[str] = []
        self._known: Dict[str, Any] = {}

    def text_of(self, function: FunctionType) -> str:
        name = function.__name__
        self._define(name, function, f"function {name}")
        if name != "predict":
            if "predict" in self._known:
                raise DeployError(f"{name} uses something that is called predict, as the function itself is to be: rename that")
            self._parts.append(f"predict = {name}\n")
        return _HEAD + "\n" + "\n\n".join(self._parts)

    def _need(self, name: str, value: Any, user: str) -> None:
        if name in self._known:
            if self._known[name] is not value and self._known[name] != value:
                raise DeployError(f"{user}: two things are called {name}: rename one")
            return
        if isinstance(value, ModuleType):
            self._known[name] = value
            self._import_module(name, value, user)
        elif _home_of(value) is not None:
            self._known[name] = value
            module, own = _home_of(value)
            self._modules.need(module)
            self._parts.append(f"from {module} import {own}{'' if own == name else f' as {name}'}")
        elif isinstance(value, (FunctionType, type)):
            self._define(name, value, f"{user}, which uses {name}")
        else:
            self._known[name] = value
            literal = _literal(value)
            if literal is None or len(literal) > MOST_LITERAL:
                kind = type(value)
                what = "too large" if literal is not None else f"a {kind.__module__}.{kind.__qualname__}, which has no text"
                raise DeployError(
                    f"{user}: {name} is {what}: save it into a file, load it from os.path.join(os.path.dirname(__file__), NAME) in a module of its own, and give files={{NAME: PATH}}"
                )
            self._parts.append(f"{name} = {literal}")

    def _import_module(self, name: str, module: ModuleType, user: str) -> None:
        full = module.__name__
        if full == "__main__" or not _has_home(module):
            raise DeployError(f"{user}: the module {name} is in no file that could be imported")
        self._modules.need(full)
        if full == name:
            self._parts.append(f"import {full}")
        elif full.split(".", 1)[0] == name:
            self._parts.append(f"import {full}")
        else:
            self._parts.append(f"import {full} as {name}")

    def _define(self, name: str, value: Any, user: str) -> None:
        self._known[name] = value
        if getattr(value, "__name__", "") == "<lambda>":
            raise DeployError(f"{user}: {name} is a lambda, which has no text of its own: write it with `def`")
        try:
            text = textwrap.dedent(inspect.getsource(value))
        except (OSError, TypeError) as error:
            raise DeployError(f"{user}: its text is in no file ({error}): write it into one") from error
        try:
            code = compile(text, "<source>", "exec", future.annotations.compiler_flag, dont_inherit=True)
        except SyntaxError as error:
            raise DeployError(f"{user}: it cannot be taken out of its place ({error.msg}): write it as a `def` of its own") from error
        loads, stores = _names(code)
        where = _surroundings(value)
        own = value.__name__
        for used in loads:
            if used == own and used not in where.nonlocals:
                continue
            found = where.find(used)
            if found is not _NOTHING and not (used in stores and used not in where.nonlocals):
                self._need(used, found, f"function {own}" if isinstance(value, FunctionType) else f"class {own}")
        self._parts.append(text.rstrip() + "\n")
        if own != name:
            self._parts.append(f"{name} = {own}")


_NOTHING = object()


class _Surroundings:
    def __init__(self, nonlocals: Mapping[str, Any], globals_: Mapping[str, Any]):
        self.nonlocals = nonlocals
        self._globals = globals_

    def find(self, name: str) -> Any:
        if name in self.nonlocals:
            return self.nonlocals[name]
        if name.startswith("__") and name.endswith("__"):
            return _NOTHING
        value = self._globals.get(name, _NOTHING)
        # What hides a builtin is meant; the builtins themselves are everywhere.
        return _NOTHING if value is _NOTHING or value is getattr(builtins, name, _NOTHING) else value


def _surroundings(value: Any) -> _Surroundings:
    if isinstance(value, type):
        module = sys.modules.get(value.__module__)
        nonlocals: Dict[str, Any] = {}
        for one in vars(value).values():
            inner = getattr(one, "__func__", one)
            if isinstance(inner, FunctionType):
                nonlocals.update(_cells(inner))
        nonlocals.pop("__class__", None)
        return _Surroundings(nonlocals, {} if module is None else vars(module))
    function = inspect.unwrap(value)
    return _Surroundings(_cells(function), function.__globals__)


def _cells(function: FunctionType) -> Dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            found[name] = cell.cell_contents
        except ValueError:
            # Not set yet: it is not used before that either.
            continue
    return found


def _names(code: CodeType) -> Tuple[List[str], Set[str]]:
    """Names that code and what is in it loads from outside, in their order, and those that it sets there."""
    loads: Dict[str, None] = {}
    stores: Set[str] = set()
    open_codes = [code]
    while open_codes:
        one = open_codes.pop(0)
        for instruction in dis.get_instructions(one):
            if instruction.opname in _LOADS:
                loads.setdefault(instruction.argval)
            elif instruction.opname in _STORES:
                stores.add(instruction.argval)
        open_codes += [constant for constant in one.co_consts if isinstance(constant, CodeType)]
    return list(loads), stores


def _literal(value: Any) -> Optional[str]:
    """Text that makes an equal value; None where there is none."""
    if value is None or isinstance(value, bool) or type(value) in (int, str, bytes):
        return repr(value)
    if type(value) is float:
        return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
    if type(value) in (list, tuple, set, frozenset):
        items = [_literal(one) for one in value]
        if any(one is None for one in items):
            return None
        inner = ", ".join(str(one) for one in items)
        if type(value) is list:
            return f"[{inner}]"
        if type(value) is tuple:
            return f"({inner}{',' if len(items) == 1 else ''})"
        return f"{type(value).__name__}([{inner}])"
    if type(value) is dict:
        pairs = [(_literal(key), _literal(one)) for key, one in value.items()]
        if any(key is None or one is None for key, one in pairs):
            return None
        return "{" + ", ".join(f"{key}: {one}" for key, one in pairs) + "}"
    return None
