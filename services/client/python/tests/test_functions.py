"""Functions and modules of Python as models of a server that runs: WINDJAMMER_URL, WINDJAMMER_MANAGEMENT_URL, WINDJAMMER_API_KEY."""

import os
import sys
import tempfile
import unittest

from windjammer import Client, DeployError
from windjammer.clipper_admin import ClipperConnection, ClipperException, DockerContainerManager
from windjammer.clipper_admin.deployers import python as python_deployer


class Functions(unittest.TestCase):
    def setUp(self):
        self.client = Client()
        self.addCleanup(self.client.close)
        self.folder = tempfile.mkdtemp()

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_serve_with_their_modules_and_files(self):
        management = self.client.management
        management.add_application("py-function", "doubles", "-1", 5_000_000)
        self.write(
            "weighed.py",
            "import json, os\nimport scaling\n"
            "with open(os.path.join(os.path.dirname(__file__), 'weights.json')) as file:\n    W = json.load(file)\n"
            "def predict_all(xs):\n    return [sum(x) * W * scaling.FACTOR for x in xs]\n",
        )
        self.write("scaling.py", "FACTOR = 3\n")
        weights = self.write("weights.json", "2")
        sys.path.insert(0, self.folder)
        try:
            import weighed

            done = management.deploy_function(weighed.predict_all, "py-weighed", "1", application="py-function", files={"weights.json": weights})
            self.assertTrue(done.is_new_link)
        finally:
            sys.path.remove(self.folder)
        self.assertEqual(self.client.predict("py-function", [1, 2]).output, 18)

    def test_a_module_in_a_file(self):
        management = self.client.management
        management.add_application("py-module", "strings", "-", 5_000_000)
        path = self.write("upper.py", "input_type = 'strings'\ndef predict(xs):\n    return [x.upper() for x in xs]\n")
        management.deploy(path, "py-upper", "1", application="py-module")
        os.remove(path)
        self.assertEqual(self.client.predict("py-module", "abc").output, "ABC")
        with self.assertRaises(DeployError) as caught:
            management.deploy(self.write("broken.py", "def predict(xs) return"), "py-broken", "1", application="py-module")
        self.assertIn("broken.py", str(caught.exception))

    def test_by_clippers_names(self):
        conn = ClipperConnection(DockerContainerManager())
        conn.connect()

        def feature_sum(xs):
            return [str(sum(x)) for x in xs]

        python_deployer.create_endpoint(conn, "py-endpoint", "doubles", feature_sum, slo_micros=5_000_000)
        self.assertEqual(self.client.predict("py-endpoint", [1.5, 2]).output, 3.5)
        python_deployer.deploy_python_closure(conn, "py-endpoint", 2, "doubles", feature_sum, num_replicas=2)
        self.assertEqual(conn.get_current_model_version("py-endpoint"), "2")
        with self.assertRaisesRegex(ClipperException, "install numpy"):
            python_deployer.deploy_python_closure(conn, "py-endpoint", 3, "doubles", feature_sum, pkgs_to_install=["numpy"])
        with self.assertRaisesRegex(ClipperException, "a lambda"):
            python_deployer.deploy_python_closure(conn, "py-endpoint", 3, "doubles", lambda xs: xs)


if __name__ == "__main__":
    unittest.main()
