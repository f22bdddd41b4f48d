"""Functions as source: what is sent of them, and what cannot be."""

import math
import os
import posixpath as paths
import sys
import tempfile
import textwrap
import unittest
from collections import Counter as Tally

from windjammer import DeployError
from windjammer.source import bundle_of_function

# As in a script: what is in a module that others could import is not written out, but imported.
SCRIPT = '''
import math
import posixpath as paths
from collections import Counter as Tally
import helpers.scale
from windjammer.source import bundle_of_function

SCALE = 2.5
NAMES = {"a": [1, (2,)], "b": {3}, "c": float("inf"), "d": None, "e": b"x"}

def deco(k):
    import functools
    def wrap(f):
        @functools.wraps(f)
        def g(*a):
            return f(*a)
        return g
    return wrap

class Base:
    unit = SCALE

class Center(Base):
    def __init__(self):
        super().__init__()
        self.x = math.pi

    def go(self, xs):
        return [[one + self.unit for one in x] for x in xs]

def helper(x, k=SCALE):
    return x * k + len(NAMES) + helpers.scale.K

@deco(SCALE)
def total(xs: "list[NotThere]"):
    return [[sum(helper(v) for v in x), paths.join("a", "b"), Tally([1])[1]] for x in Center().go(xs)]

def outer(n):
    def inner(xs):
        return [len(x) * n for x in xs]
    return inner

texts = []
for function in (total, outer(3)):
    files = dict(bundle_of_function(function).files)
    assert list(files)[0] == "model.py", files
    there = {"__name__": "model"}
    exec(compile(files["model.py"], "model.py", "exec"), there)
    assert there["predict"]([[1, 2]]) == function([[1, 2]]), files["model.py"]
    texts.append((files["model.py"].decode(), sorted(files)))
assert "import math" in texts[0][0] and "math" not in texts[1][0]
assert texts[0][1] == ["helpers/__init__.py", "helpers/const.py", "helpers/scale.py", "model.py"], texts[0][1]
'''


class Sources(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.write("helpers/__init__.py", "")
        self.write("helpers/const.py", "K = 2\n")
        self.write("helpers/scale.py", "from .const import K\n")

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        return path

    def run_script(self, text):
        import subprocess

        path = self.write("script.py", text)
        return subprocess.run([sys.executable, path], capture_output=True, text=True)

    def test_of_a_script_have_what_they_use_and_no_more(self):
        done = self.run_script(SCRIPT)
        self.assertEqual(done.stderr, "")

    def test_of_a_module_are_imported_from_it(self):
        self.write("mine.py", "import helpers.scale\nimport json\ndef classify(xs):\n    return xs\n")
        sys.path.insert(0, self.folder)
        try:
            import mine

            data = self.write("w.json", "{}")
            files = dict(bundle_of_function(mine.classify, {"w.json": data}).files)
            self.assertEqual(files["model.py"], b"from mine import classify as predict\n")
            self.assertEqual(sorted(files), ["helpers/__init__.py", "helpers/const.py", "helpers/scale.py", "mine.py", "model.py", "w.json"])
            with self.assertRaisesRegex(DeployError, "mine.py is the name of a module"):
                bundle_of_function(mine.classify, {"mine.py": data})
        finally:
            sys.path.remove(self.folder)

    def test_what_has_no_text_is_refused_by_name(self):
        trained = object()

        def closes_over(xs):
            return [trained for _x in xs]

        def has_large(xs):
            return [large for _x in xs]

        large = "x" * (2 << 20)
        named = lambda xs: xs  # noqa: E731 - it is what is refused

        def uses_lambda(xs):
            return named(xs)

        for function, reason in (
            (closes_over, "trained is a builtins.object"),
            (has_large, "large is too large"),
            (uses_lambda, "named is a lambda"),
            (named, "a lambda"),
            (Tally().update, "method"),
            (math.sqrt, "builtin_function_or_method"),
            (Tally, "no function"),
        ):
            with self.assertRaisesRegex(DeployError, reason):
                bundle_of_function(function)
        typed = {}
        exec("def predict(xs): return xs", typed)
        with self.assertRaisesRegex(DeployError, "its text is in no file"):
            bundle_of_function(typed["predict"])
        self.assertTrue(paths)

    def test_two_things_of_one_name_are_refused(self):
        done = self.run_script(
            """
            from windjammer.source import bundle_of_function
            def make(factor):
                def helper(x):
                    return x * factor
                return helper
            one = make(1)
            two = make(2)
            def predict(xs):
                return [one(x) + two(x) for x in xs]
            bundle_of_function(predict)
            """
        )
        self.assertIn("two things are called factor", done.stderr)


if __name__ == "__main__":
    unittest.main()
