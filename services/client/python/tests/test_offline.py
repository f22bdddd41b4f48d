"""What needs no server of ours: bundles, sources, and servers that fail."""

import hashlib
import json
import os
import socket
import sys
import tempfile
import threading
import time
import unittest

from windjammer import (
    Bundle,
    Client,
    DeployError,
    Insecure,
    NoPrediction,
    NotFound,
    TimedOut,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
    bundle_of_file,
    bundle_of_folder,
)

sys.path.insert(0, os.path.dirname(__file__))
from doubles import PREDICTION, Double, http, refusal  # noqa: E402


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


class Addresses(unittest.TestCase):
    def test_what_is_none_is_refused_before_anything_is_sent(self):
        for url in ("127.0.0.1:1337", "ftp://x", "http://", "http://x:notaport", "http://user:word@x", "http://x/?a=1"):
            with self.assertRaises(ValueError, msg=url):
                Client(url)
        for key in ("", "two words", "ümlaut", "a\nb"):
            with self.assertRaises(ValueError, msg=repr(key)):
                Client("http://x", api_key=key)
        for timeout in (0, -1, float("inf"), float("nan"), "3", True):
            with self.assertRaises(ValueError, msg=repr(timeout)):
                Client("http://x", timeout=timeout)
        with self.assertRaisesRegex(ValueError, "nowhere.pem"):
            Client("https://x", ca="/nowhere.pem")
        with self.assertRaisesRegex(ValueError, "go together"):
            Client("https://x", client_cert="/nowhere.pem")

    def test_come_from_the_environment(self):
        before = dict(os.environ)
        try:
            with Double(http(PREDICTION)) as server:
                os.environ.update(WINDJAMMER_URL=server.url, WINDJAMMER_API_KEY="wj_secret", WINDJAMMER_MANAGEMENT_URL="http://[::1]:9/base/")
                client = Client()
                client.predict("a", [1])
                head, _body = server.requests[0]
                self.assertIn("Authorization: Bearer wj_secret", head)
                self.assertEqual(client.management_url, "http://[::1]:9")
        finally:
            os.environ.clear()
            os.environ.update(before)


class Failures(unittest.TestCase):
    def test_nobody_there(self):
        client = Client(f"http://127.0.0.1:{closed_port()}", timeout=5)
        with self.assertRaises(Unreachable) as caught:
            client.predict("a", [1])
        self.assertEqual(caught.exception.code, "unreachable")

    def test_a_server_that_dies_amid_a_request_is_asked_again_where_that_changes_nothing(self):
        with Double(lambda _connection: None) as server:
            with self.assertRaises(Unreachable):
                Client(server.url, timeout=10).predict("a", [1])
            self.assertEqual(len(server.requests), 3)
        with Double(lambda _connection: None, http(PREDICTION)) as server:
            self.assertEqual(Client(server.url, timeout=10).predict("a", [1]).output, 1)

    def test_a_change_is_never_sent_twice(self):
        with Double(lambda _connection: None, http("Success!", content_type="text/plain")) as server:
            management = Client(management_url=server.url, timeout=10).management
            with self.assertRaises(Unreachable):
                management.add_application("a", "doubles", "0", 1000)
            self.assertEqual(len(server.requests), 1)
            # Nor is a connection used for it that the server may be about to close.
            management.delete_application("a")
            management.delete_application("a")
            self.assertEqual(server.connections, 3)

    def test_numbers_by_name_are_numbers(self):
        with Double(http(PREDICTION)) as server:
            client = Client(server.url, timeout=10)
            client.predict("a", [1], features={"hour": 14, "returning": True})
            self.assertEqual(json.loads(server.requests[0][1])["features"], {"hour": 14, "returning": 1})
            for bad in ({"hour": float("nan")}, {"hour": "14"}, {"hour": None}, [14]):
                with self.assertRaises(ValueError, msg=bad):
                    client.predict("a", [1], features=bad)
                with self.assertRaises(ValueError, msg=bad):
                    client.feedback("a", 1, input=[1], features=bad)
                with self.assertRaises(ValueError, msg=bad):
                    client.predict_batch("a", [[1], [2]], features=[None, bad])
            for given in ({}, {"loss": float("inf")}, {"reward": "1"}, {"losses": {"m": None}}):
                with self.assertRaises(ValueError, msg=given):
                    client.feedback("a", query_id="q", **given)
            self.assertEqual(len(server.requests), 1)

    def test_feedback_that_is_sent_again_has_the_same_key(self):
        answer = http('{"accepted": true, "joined": "query", "durable": true}')
        with Double(lambda _connection: None, answer) as server:
            self.assertTrue(Client(server.url, timeout=10).feedback("a", 1, query_id="q").durable)
            first, second = server.bodies()
            self.assertEqual(first, second)
            self.assertRegex(first["idempotency_key"], "^[0-9a-f]{32}$")

    def test_an_answer_that_breaks_off(self):
        for part in (b"HTTP/1.1 200 OK\r\nContent-Le", http(PREDICTION)[:-3], b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"):
            with Double(lambda connection, part=part: connection.sendall(part)) as server:
                with self.assertRaises((Unreachable, UnexpectedAnswer), msg=part):
                    Client(server.url, timeout=10).predict("a", [1])

    def test_a_server_that_never_answers(self):
        done = threading.Event()
        with Double(lambda _connection: done.wait(60)) as server:
            with self.assertRaises(TimedOut) as caught:
                Client(server.url).predict("a", [1], timeout=0.2)
            self.assertIn("0.2 s", str(caught.exception))
            self.assertEqual(len(server.requests), 1)
            done.set()

    def test_a_server_that_sends_a_byte_now_and_then_has_no_more_time(self):
        def drip(connection):
            try:
                for byte in http(PREDICTION) * 100:
                    connection.sendall(bytes([byte]))
                    time.sleep(0.02)
            except OSError:
                pass

        with Double(drip) as server:
            began = time.monotonic()
            with self.assertRaises(TimedOut):
                Client(server.url, timeout=0.5).predict("a", [1])
            # Drop for drop the head alone takes two seconds.
            self.assertLess(time.monotonic() - began, 1.9)

    def test_a_server_that_reads_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            with self.assertRaises(TimedOut):
                Client(url, timeout=0.5).predict("a", "x" * 20_000_000)

    def test_what_is_no_windjammer(self):
        for answer in (
            http("{}"),
            http("[]"),
            http("<html>", content_type="text/html"),
            http("{", content_type="application/json"),
            http("not found", "404 Not Found", "text/plain"),
            http('{"error": "text"}', "400 Bad Request"),
            http("", "302 Found", more="Location: http://elsewhere/\r\n"),
            b"SSH-2.0-OpenSSH_9.2\r\n",
        ):
            with Double(answer, keeps=False) as server:
                client = Client(server.url, server.url, timeout=5)
                for call in (
                    lambda: client.predict("a", [1]),
                    lambda: client.predict_batch("a", [[1]]),
                    lambda: client.feedback("a", 1, query_id="q"),
                    client.jobs.list,
                    client.management.applications,
                    client.management.models,
                    lambda: client.management.delete_application("a"),
                    lambda: client.management.has_bundle("0" * 64),
                    lambda: list(client.jobs.results("j")),
                ):
                    if answer == http("[]") and call in (client.management.applications, client.management.models):
                        continue
                    with self.assertRaises(UnexpectedAnswer, msg=answer):
                        call()

    def test_tls_where_there_is_none(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def plain():
                connection, _address = listener.accept()
                connection.sendall(http("{}", "400 Bad Request"))
                connection.recv(65536)
                connection.close()

            threading.Thread(target=plain, daemon=True).start()
            with self.assertRaises(Insecure) as caught:
                Client(f"https://127.0.0.1:{listener.getsockname()[1]}", timeout=20).predict("a", [1])
            self.assertIn("ask http://", str(caught.exception))

    def test_what_passes_soon_is_tried_again_within_its_time(self):
        busy = refusal("too_many_connections", "503 Service Unavailable", retry_after_ms=100)
        with Double(busy, http(PREDICTION)) as server:
            self.assertEqual(Client(server.url).predict("a", [1]).output, 1)
        with Double(refusal("redis_away", "503 Service Unavailable", retry_after_ms=60_000)) as server:
            with self.assertRaises(Unavailable) as caught:
                Client(server.url, timeout=5).predict("a", [1])
            self.assertEqual((caught.exception.retry_after, len(server.requests)), (60.0, 1))
            self.assertIn("Redis", caught.exception.fix)

    def test_errors_are_of_their_kind(self):
        with Double(refusal("unknown_application", "404 Not Found", field="application")) as server:
            with self.assertRaises(NotFound) as caught:
                Client(server.url).predict("a", [1])
            error = caught.exception
            self.assertEqual((error.code, error.status, error.field), ("unknown_application", 404, "application"))
            self.assertIn("add_app", error.fix)
        with Double(refusal("default_deadline", "504 Gateway Timeout")) as server:
            with self.assertRaises(NoPrediction):
                Client(server.url).predict("a", [1], strict=True)
        with Double(refusal("of_a_later_server", "400 Bad Request")) as server:
            with self.assertRaises(Exception) as caught:
                Client(server.url).predict("a", [1])
            self.assertIsNone(caught.exception.fix)

    def test_a_refusal_of_what_is_sent_in_pieces_is_told(self):
        with Double(refusal("storage_full", "507 Insufficient Storage"), keeps=False) as server:
            with self.assertRaises(Unavailable) as caught:
                Client(server.url, timeout=20).jobs.create("a", ([0.5] * 1000 for _ in range(2000)))
            self.assertEqual(caught.exception.code, "storage_full")

    def test_connections_are_kept_and_threads_share_a_client(self):
        with Double(http(PREDICTION)) as server:
            client = Client(server.url)
            for at in range(20):
                client.predict("a", [at])
            self.assertEqual(server.connections, 1)
            threads = [threading.Thread(target=lambda: [client.predict("a", [1]) for _ in range(20)]) for _ in range(8)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            self.assertEqual(len(server.requests), 180)
            self.assertLessEqual(server.connections, 9)


class Inputs(unittest.TestCase):
    def test_are_sent_as_the_interface_has_them(self):
        class Array:
            def tolist(self):
                return [1.5, 2]

        with Double(http(PREDICTION)) as server:
            client = Client(server.url)
            for value, sent in (
                ([1, None, 2.5], [1, None, 2.5]),
                ((1, 2), [1, 2]),
                (range(3), [0, 1, 2]),
                ("text", "text"),
                (b"\x00\xff", "AP8="),
                (Array(), [1.5, 2]),
                ([2**63 + 1], [2**63 + 1]),
                (["red", None, True], ["red", None, True]),
                ({"colour": "red", "size": 1.5}, {"colour": "red", "size": 1.5}),
            ):
                client.predict("a", value)
                self.assertEqual(server.bodies()[-1], {"input": sent})
            client.predict(
                "a b", [1], context=7, version="2", latency_slo_micros=5, deadline_ms=9, strict=True, priority=1, launch_class="critical", votes=True
            )
            head, _body = server.requests[-1]
            self.assertIn("POST /a%20b/predict ", head)
            self.assertIn("x-request-timeout-ms: 9", head)
            fields = {"context": 7, "version": "2", "latency_slo_micros": 5, "strict": True, "priority": 1, "launch_class": "critical", "votes": True}
            self.assertEqual(server.bodies()[-1], {"input": [1], **fields})

    def test_what_is_none_is_refused_before_it_is_sent(self):
        client = Client("http://127.0.0.1:9")
        for value in ([float("nan")], [1, float("inf")], {"a": float("nan")}, {1: 2}, 3, None, object()):
            with self.assertRaises(ValueError, msg=repr(value)):
                client.predict("a", value)
        with self.assertRaises(ValueError):
            client.predict("", [1])
        with self.assertRaises(ValueError):
            client.feedback("a", 1)
        with self.assertRaises(ValueError):
            client.feedback("a", query_id="q")
        with self.assertRaises(ValueError):
            client.feedback("a", 1, query_id="q", input=[1])
        with self.assertRaises(ValueError):
            client.management.add_links("a", "model")


class Bundles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text=""):
        path = os.path.join(self.folder.name, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_have_the_hash_that_the_server_makes(self):
        bundle = Bundle((("own/m.py", b"one"), ("common/p.py", b"")))
        expected = hashlib.sha256(b"m.py\x003\x00one" + b"../common/p.py\x000\x00").hexdigest()
        self.assertEqual(bundle.content_hash, expected)
        line, rest = b"".join(bundle.body()).split(b"\n", 1)
        self.assertEqual(rest, b"one")
        self.assertIn(b'{"name": "common/p.py", "size": 0}', line)

    def test_of_files_and_folders(self):
        path = self.write("m.mjs", "text")
        self.assertEqual([name for name, _ in bundle_of_file(path, {"w.bin": self.write("data")}).files], ["m.mjs", "w.bin"])
        for name in (".hidden", "__pycache__/x", "sub/a", ".git/b", "z"):
            self.write(name)
        found = [name for name, _ in bundle_of_folder(self.folder.name, "m.mjs").files]
        self.assertEqual(found, ["m.mjs", "data", "z", "sub/a"])
        with self.assertRaises(FileNotFoundError):
            bundle_of_folder(self.folder.name, "other")

    def test_have_names_below_one_folder_and_a_limit(self):
        for name in ("", "/etc/passwd", "../x", "a/../b", "a//b", "a\\b"):
            with self.assertRaises(ValueError, msg=name):
                Bundle(((name, b""),))
        large = os.path.join(self.folder.name, "large")
        with open(large, "wb") as file:
            file.truncate(513 << 20)
        with self.assertRaisesRegex(ValueError, "512 MiB"):
            bundle_of_file(large)

    def test_say_what_is_no_model(self):
        management = Client("http://127.0.0.1:9", "http://127.0.0.1:9").management
        for path, options in (
            ("/nowhere", {}),
            (self.folder.name, {}),
            (self.write("m.rb"), {}),
            (self.write("m.mjs"), {"entry": "m.mjs"}),
            (self.write("m.mjs"), {"command": "./m"}),
            (self.folder.name, {"command": "awk 1"}),
            (self.folder.name, {"command": "/bin/sh 'm"}),
            (self.folder.name, {"command": "./m.mjs", "entry": "nowhere"}),
            (self.folder.name, {"command": "./m.mjs", "files": {"a": "b"}}),
        ):
            with self.assertRaises(DeployError, msg=path):
                management.deploy(path, "m", "1", input_type="doubles", **options)
        self.write("kernel/manifest.json", "{}")
        with self.assertRaises(DeployError):
            management.deploy(os.path.join(self.folder.name, "kernel"), "m", "1")
        with self.assertRaises(ValueError):
            management.deploy(self.write("m.mjs"), "m", "1")


if __name__ == "__main__":
    unittest.main()
