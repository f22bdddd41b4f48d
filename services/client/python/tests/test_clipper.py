"""
Clipper's names, against a server that runs (WINDJAMMER_URL, WINDJAMMER_MANAGEMENT_URL, WINDJAMMER_API_KEY) and one that they start
(WINDJAMMER_COMMAND).
"""

import os
import socket
import unittest

from windjammer.clipper_admin import (
    ClipperConnection,
    ClipperException,
    DockerContainerManager,
    KubernetesContainerManager,
    UnconnectedException,
)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


class Names(unittest.TestCase):
    def setUp(self):
        self.conn = ClipperConnection(DockerContainerManager())

    def test_a_connection_comes_first(self):
        for call in (
            self.conn.get_all_apps,
            lambda: self.conn.register_application("a", "doubles", "0", 1000),
            lambda: self.conn.get_num_replicas("m"),
            self.conn.get_query_addr,
            self.conn.inspect_instance,
        ):
            with self.assertRaises(UnconnectedException):
                call()
        nobody = ClipperConnection(DockerContainerManager(clipper_query_port=free_port(), clipper_management_port=free_port()))
        with self.assertRaises(ClipperException):
            nobody.connect()
        far = ClipperConnection(DockerContainerManager(docker_ip_address="192.0.2.1"))
        self.assertEqual(far.client.management_url, "http://192.0.2.1:1338")

    def test_applications_models_links_and_versions(self):
        conn = self.conn
        conn.connect()
        conn.register_application(name="cl-app", input_type="double", default_output="-1.0", slo_micros=1_000_000)
        self.assertIn("cl-app", conn.get_all_apps())
        self.assertIn("cl-app", [one["name"] for one in conn.get_all_apps(verbose=True)])
        self.assertEqual(conn.get_app_info("cl-app")["latency_slo_micros"], 1_000_000)
        self.assertIsNone(conn.get_app_info("nobody"))
        with self.assertRaisesRegex(ClipperException, "application_exists"):
            conn.register_application("cl-app", "doubles", "0", 1000)
        management = conn.client.management
        for version in ("1", "2", "3"):
            management.add_model("cl-model", version, "doubles", "windjammer/constant", output=version)
        self.assertIn("cl-model:3", conn.get_all_models())
        self.assertEqual(conn.get_current_model_version("cl-model"), "3")
        self.assertEqual(conn.get_model_info("cl-model", 1)["model_version"], "1")
        self.assertIsNone(conn.get_model_info("cl-model", 9))
        conn.link_model_to_app("cl-app", "cl-model")
        self.assertEqual(conn.get_linked_models("cl-app"), ["cl-model"])
        conn.set_model_version("cl-model", 2, num_replicas=2)
        self.assertEqual(conn.get_current_model_version("cl-model"), "2")
        conn.set_num_replicas("cl-model", 1)
        self.assertIn(conn.get_num_replicas("cl-model", 1), (0, 1))
        self.assertIn("cl-model:1:0", conn.get_all_model_replicas())
        self.assertEqual(conn.get_model_replica_info("cl-model", 1, 0)["model_name"], "cl-model")
        self.assertIsNone(conn.get_model_replica_info("cl-model", 1, 9))
        conn.stop_inactive_model_versions(["cl-model"])
        self.assertEqual([one for one in conn.get_all_models() if one.startswith("cl-model")], ["cl-model:2"])
        management.add_model("cl-model", "4", "doubles", "windjammer/constant", output="4")
        with self.assertRaisesRegex(ClipperException, "set_model_version"):
            conn.stop_versioned_models({"cl-model": [4]})
        with self.assertRaisesRegex(ClipperException, "list of names"):
            conn.stop_models("cl-model")
        conn.stop_models(["cl-model"])
        self.assertEqual([one for one in conn.get_all_models() if one.startswith("cl-model")], [])
        self.assertEqual(conn.get_linked_models("cl-app"), [])
        with self.assertRaisesRegex(ClipperException, "unknown_link"):
            conn.unlink_model_from_app("cl-app", "cl-model")
        conn.delete_application("cl-app")
        self.assertIn("windjammer_", conn.inspect_instance())
        self.assertEqual(conn.get_query_addr(), conn.get_metric_addr())
        # It ran before, and goes on.
        conn.stop_all()
        ClipperConnection(KubernetesContainerManager()).connect()

    def test_what_has_no_meaning_here_says_what_has(self):
        conn = self.conn
        conn.connect()
        for call, advice in (
            (lambda: conn.deploy_model("m", 1, "doubles", "image:1"), "client.management.deploy"),
            (lambda: conn.build_model("m", 1, "folder", "base"), "client.management.deploy"),
            (lambda: conn.build_and_deploy_model("m", 1, "doubles", "folder", "base", num_replicas=2), "client.management.deploy"),
            (lambda: conn.register_model("m", 1, "doubles"), "name of a container"),
            (conn.get_clipper_logs, "last_failure"),
        ):
            with self.assertRaisesRegex(ClipperException, advice):
                call()

    def test_a_function_is_tried_here(self):
        conn = self.conn
        self.assertEqual(conn.test_predict_function({"input": [1.0, 2.0]}, lambda xs: [sum(x) for x in xs], "doubles"), [3.0])
        self.assertEqual(conn.test_predict_function({"input_batch": [[1], [2]]}, lambda xs: [sum(x) for x in xs], "integers"), [1, 2])
        self.assertEqual(conn.test_predict_function({"input": "ab"}, lambda xs: [len(x) for x in xs], "strings"), [2])
        for query, kind in (({"input": [1]}, "doubles"), ({"input": ["a"]}, "integers"), ({"inputs": [1]}, "integers"), ({"input": 1}, "integers"), ({"input": [1]}, "other")):
            self.assertIn("Invalid", conn.test_predict_function(query, lambda xs: xs, kind))

    def test_a_server_is_started_and_stopped(self):
        before = dict(os.environ)
        query, management = free_port(), free_port()
        try:
            os.environ.pop("WINDJAMMER_API_KEY", None)
            conn = ClipperConnection(
                DockerContainerManager(docker_ip_address="127.0.0.1", clipper_query_port=query, clipper_management_port=management)
            )
            command = os.environ.pop("WINDJAMMER_COMMAND")
            path = os.environ.pop("PATH", "")
            with self.assertRaisesRegex(ClipperException, "WINDJAMMER_COMMAND"):
                conn.start_clipper()
            os.environ.update(WINDJAMMER_COMMAND="/nowhere/windjammer", PATH=path)
            with self.assertRaisesRegex(ClipperException, "does not start"):
                conn.start_clipper()
            os.environ["WINDJAMMER_COMMAND"] = f"{command} --no-such-option"
            with self.assertRaisesRegex(ClipperException, "no-such-option"):
                conn.start_clipper()
            os.environ["WINDJAMMER_COMMAND"] = command
            conn.start_clipper(cache_size=2**20)
            self.assertEqual(conn.get_all_apps(), [])
            self.assertEqual(conn.get_query_addr(), f"127.0.0.1:{query}")
            other = ClipperConnection(conn.cm)
            # It is there: nothing is started, and nothing stopped.
            other.start_clipper()
            other.stop_all()
            self.assertEqual(conn.get_all_models(), [])
            conn.stop_all()
            with self.assertRaises(ClipperException):
                conn.connect()
        finally:
            os.environ.clear()
            os.environ.update(before)


if __name__ == "__main__":
    unittest.main()
