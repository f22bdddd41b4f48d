"""
Every verb of a server that runs: WINDJAMMER_URL and WINDJAMMER_MANAGEMENT_URL, with a key that may administer in WINDJAMMER_API_KEY;
WINDJAMMER_DIGIT names a file with a prediction request for `digits`, WINDJAMMER_KERNEL_MODEL the folder of a model for it.
"""

import json
import math
import os
import sys
import tempfile
import threading
import unittest
import urllib.request

from windjammer import (
    Client,
    Conflict,
    DeployError,
    InvalidRequest,
    NoPrediction,
    NotAllowed,
    NotFound,
    RefusedError,
    TimedOut,
    bundle_of_file,
)
from windjammer._http import Http

ASKED = set()


def setUpModule():
    """Writes down which paths are asked."""
    for name in ("ask", "stream"):
        original = getattr(Http, name)

        def noting(self, method, path, *args, _original=original, **fields):
            ASKED.add((method.lower(), path.split("?")[0], self.address.port))
            return _original(self, method, path, *args, **fields)

        setattr(Http, name, noting)


class Case(unittest.TestCase):
    def setUp(self):
        self.client = Client()
        self.addCleanup(self.client.close)
        self.management = self.client.management
        self.folder = tempfile.mkdtemp()

    def module(self, text, name="model.mjs"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def application(self, name, input_type="doubles", **fields):
        self.management.add_application(name, input_type, "-1", 5_000_000, **fields)


class Predictions(Case):
    @classmethod
    def setUpClass(cls):
        with open(os.environ["WINDJAMMER_DIGIT"], encoding="utf-8") as file:
            cls.digit = json.load(file)["input"]

    def test_one(self):
        prediction = self.client.predict("digits", self.digit, context="ann", votes=True)
        self.assertEqual((prediction.output, prediction.is_default), (7, False))
        self.assertTrue(prediction.models and len(prediction.votes) == 5)
        told = self.client.feedback("digits", 7, query_id=prediction.query_id, context="ann")
        self.assertEqual((told.joined, told.durable), ("query", True))
        again = self.client.feedback("digits", 7, query_id=prediction.query_id, context="ann")
        self.assertEqual(again.joined, "repeated")
        by_input = self.client.feedback("digits", 7, input=self.digit, loss=0.25, idempotency_key="mine")
        self.assertIn(by_input.joined, ("cache", "evaluated"))
        self.assertEqual(self.client.feedback("digits", 7, input=self.digit, idempotency_key="mine").joined, "repeated")

    def test_many(self):
        good, bad = self.client.predict_batch("digits", [self.digit, [1, 2, 3]])
        self.assertEqual(good.output, 7)
        self.assertIsInstance(bad, InvalidRequest)
        self.assertEqual((bad.code, bad.status), ("wrong_length", 400))
        for batch, code in (([], "empty_batch"), ([[0.5]] * 5000, "batch_too_large")):
            with self.assertRaises(InvalidRequest) as caught:
                self.client.predict_batch("noop", batch)
            self.assertEqual(caught.exception.code, code)

    def test_what_is_wrong_has_its_code_its_field_and_its_fix(self):
        for call, kind, code, field in (
            (lambda: self.client.predict("nobody", [1]), NotFound, "unknown_application", None),
            (lambda: self.client.predict("digits", [1.0]), InvalidRequest, "wrong_length", "input"),
            (lambda: self.client.predict("digits", "text"), InvalidRequest, "wrong_type", "input"),
            (lambda: self.client.predict("digits", []), InvalidRequest, "empty_input", "input"),
            (lambda: self.client.predict("digits", self.digit, priority=9), InvalidRequest, "invalid_value", "priority"),
            (lambda: self.client.predict("digits", self.digit, version="9"), NotFound, "unknown_version", "version"),
            (lambda: self.client.feedback("digits", 7, query_id="none"), NotFound, "unknown_query", "query_id"),
            (lambda: self.client.jobs.show("none"), NotFound, "unknown_job", "id"),
            (lambda: self.client.jobs.create("nobody", [[1]]), NotFound, "unknown_application", "application"),
            (lambda: self.management.application("nobody"), NotFound, "unknown_application", "name"),
            (lambda: self.management.add_application("digits", "floats", "0", 1000), Conflict, "application_exists", None),
            (lambda: self.management.add_application("x", "floats", "0", 0), InvalidRequest, "invalid_value", "latency_slo_micros"),
            (lambda: self.management.add_application("x", "floats", "0", 9, other=1), InvalidRequest, "unknown_field", "other"),
            (lambda: self.management.model("nobody", "1"), NotFound, "unknown_model", None),
            (lambda: self.management.has_bundle("x"), InvalidRequest, "invalid_value", "content_hash"),
        ):
            with self.assertRaises(RefusedError) as caught:
                call()
            error = caught.exception
            self.assertIsInstance(error, kind, error)
            self.assertEqual(error.code, code)
            if field is not None:
                self.assertEqual(error.field, field)
            self.assertTrue(error.fix, code)

    def test_a_slow_model_costs_no_more_than_the_time_that_the_call_has(self):
        slow = self.module("export default { inputType: 'doubles', predict: () => new Promise(() => {}) };", "slow.mjs")
        self.application("slow")
        self.management.deploy(slow, "slow", "1", application="slow", warm_up=False)
        with self.assertRaises(TimedOut):
            self.client.predict("slow", [1], timeout=0.3)
        late = self.client.predict("slow", [2], deadline_ms=50)
        self.assertEqual((late.is_default, late.default_reason, late.output), (True, "deadline", -1))
        with self.assertRaises(NoPrediction) as caught:
            self.client.predict("slow", [3], deadline_ms=50, strict=True)
        self.assertEqual(caught.exception.code, "default_deadline")
        self.management.set_replicas("slow", "1", 0)

    def test_the_server(self):
        self.assertTrue(self.client.is_ready())
        self.assertIn("windjammer_queries_total", self.client.metrics())
        self.assertTrue(self.management.ping())

    def test_keys(self):
        with Client(api_key="wj_not_one") as other:
            with self.assertRaises(NotAllowed):
                other.predict("digits", self.digit)
        made = self.management.add_key("reader", ["predict"], applications=["noop"])
        with Client(api_key=made["key"]) as limited:
            self.assertEqual(limited.predict("noop", [1]).output, 0)
            for call in (lambda: limited.predict("digits", self.digit), limited.management.models):
                with self.assertRaises(NotAllowed):
                    call()
        self.assertIn("reader", [one["name"] for one in self.management.keys()])
        self.management.delete_key(made["id"])


class WebSockets(Case):
    def test_carry_many_predictions_and_their_feedback_at_once(self):
        with open(os.environ["WINDJAMMER_DIGIT"], encoding="utf-8") as file:
            digit = json.load(file)["input"]
        # With time for all of them, however busy the machine is.
        self.application("many")
        self.management.add_links("many", ["noop"])
        with self.client.web_socket() as web_socket:
            later = [web_socket.predict_later("many", [at]) for at in range(3000)]
            prediction = web_socket.predict("digits", digit, context="ann", priority=2, launch_class="standard")
            self.assertEqual((prediction.output, prediction.is_default), (7, False))
            self.assertEqual({one.result(30).output for one in later}, {0})
            told = web_socket.feedback("digits", 7, query_id=prediction.query_id, context="ann")
            self.assertEqual((told.joined, told.durable), ("query", True))
            again = web_socket.feedback("digits", 7, query_id=prediction.query_id, context="ann")
            self.assertEqual(again.joined, "repeated")
            for call, kind, code, field in (
                (lambda: web_socket.predict("nobody", [1]), NotFound, "unknown_application", None),
                (lambda: web_socket.predict("digits", [1.0]), InvalidRequest, "wrong_length", "input"),
                (lambda: web_socket.predict("digits", digit, priority=9), InvalidRequest, "invalid_value", "priority"),
                (lambda: web_socket.feedback("digits", 7, query_id="none"), NotFound, "unknown_query", "query_id"),
                # Larger than a message may be, in one connection's way no more than others.
                (lambda: web_socket.predict("noop", [0.5] * 1_100_000), InvalidRequest, "body_too_large", None),
            ):
                with self.assertRaises(RefusedError) as caught:
                    call()
                self.assertIsInstance(caught.exception, kind, caught.exception)
                self.assertEqual(caught.exception.code, code)
                if field is not None:
                    self.assertEqual(caught.exception.field, field)
            self.assertEqual(web_socket.predict("noop", [1]).output, 0)

    def test_end_with_their_key_and_are_not_opened_without_one(self):
        with Client(api_key="wj_not_one") as other, other.web_socket() as web_socket:
            with self.assertRaises(NotAllowed):
                web_socket.predict("noop", [1])
        made = self.management.add_key("fleeting", ["predict"], applications=["noop"])
        with Client(api_key=made["key"]) as limited, limited.web_socket() as web_socket:
            self.assertEqual(web_socket.predict("noop", [1]).output, 0)
            with self.assertRaises(NotAllowed):
                web_socket.predict("digits", [1])
            self.management.delete_key(made["id"])
            with self.assertRaises(NotAllowed):
                while web_socket.predict("noop", [1]).output == 0:
                    pass


class BatchJobs(Case):
    def test_are_answered_line_by_line(self):
        inputs = [[at] for at in range(300)]
        job = self.client.jobs.create("noop", (one for one in inputs))
        self.assertEqual(job["lines"], 300)
        done = self.client.jobs.wait(job["job_id"], timeout=120)
        self.assertEqual((done["state"], done["answered"], done["failed"]), ("done", 300, 0))
        results = list(self.client.jobs.results(job["job_id"], follow=True))
        self.assertEqual([one["line"] for one in results], list(range(1, 301)))
        self.assertIn(job["job_id"], [one["job_id"] for one in self.client.jobs.list()])
        self.client.jobs.cancel(job["job_id"])
        self.client.jobs.remove(job["job_id"])
        with self.assertRaises(NotFound):
            self.client.jobs.show(job["job_id"])

    def test_may_be_lines_that_are_there_and_say_more_than_an_input(self):
        job = self.client.jobs.create("noop", b'[1]\n{"input":[2]}\n', launch_class="standard")
        self.client.jobs.wait(job["job_id"], timeout=120)
        self.client.jobs.remove(job["job_id"])
        job = self.client.jobs.create("noop", [{"input": [1], "context": "ann"}, "no numbers"])
        self.client.jobs.wait(job["job_id"], timeout=120)
        good, bad = self.client.jobs.results(job["job_id"])
        self.assertEqual((good["output"], bad["error"]["code"]), (0, "wrong_type"))
        self.client.jobs.remove(job["job_id"])


class Administration(Case):
    def test_from_files_to_a_version_that_answers_and_back(self):
        self.application("steps")
        one = self.module("export default { inputType: 'doubles', predictOne: () => 1 };")
        done = self.management.deploy(one, "steps", "1", application="steps", labels=["a"])
        self.assertEqual((done.version, done.is_new_link), ("1", True))
        os.remove(one)
        self.assertEqual(self.client.predict("steps", [1]).output, 1)
        # A folder, of which the module reads a file.
        self.module("2", "answer.txt")
        self.module(
            "import { readFileSync } from 'node:fs';\n"
            "const answer = Number(readFileSync(new URL('answer.txt', import.meta.url), 'utf8'));\n"
            "export default { inputType: 'doubles', predictOne: () => answer };"
        )
        done = self.management.deploy(self.folder, "steps", 2, application="steps", entry="model.mjs", num_replicas=2)
        self.assertFalse(done.is_new_link)
        self.assertEqual(self.client.predict("steps", [2]).output, 2)
        self.assertEqual(len([one for one in self.management.replicas() if one["model_name"] == "steps"]), 3)
        self.assertEqual(self.management.replica("steps", "2", 0)["state"], "up")
        self.management.set_replicas("steps", "2", minimum=1, maximum=2)
        self.management.set_model_version("steps", "1")
        self.assertEqual(self.client.predict("steps", [3]).output, 1)
        for wrong in ([1], "loss", {"loss": math.nan}):
            with self.assertRaises(ValueError):
                self.management.start_canary("steps", "2", wrong)
        self.management.start_canary("steps", "2", {"loss": 0.1})
        self.assertEqual(self.management.canary("steps")["phase"], "ramping")
        self.management.abort_canary("steps")
        self.assertEqual([one["phase"] for one in self.management.canaries()], ["aborted"])
        self.management.start_canary("steps", "2")
        self.management.promote_canary("steps")
        self.assertEqual(self.client.predict("steps", [4]).output, 2)
        self.management.set_model_version("steps", "1")
        self.management.delete_model("steps", "2")
        self.assertEqual([one["model_version"] for one in self.management.models() if one["model_name"] == "steps"], ["1"])
        self.assertEqual(self.management.linked_models("steps"), ["steps"])
        self.management.delete_links("steps", ["steps"])
        self.management.delete_application("steps")

    def test_a_program_from_its_folder(self):
        self.application("program")
        self.module(
            "import json, sys\n"
            "print(json.dumps({'ready': True}), flush=True)\n"
            "for line in sys.stdin:\n"
            "    asked = json.loads(line)\n"
            "    print(json.dumps({'id': asked['id'], 'output': 4 * asked['input'][0]}), flush=True)\n",
            "program.py",
        )
        command = f"exec {sys.executable} program.py"
        self.management.deploy(self.folder, "program", "1", application="program", command=command)
        os.remove(os.path.join(self.folder, "program.py"))
        self.assertEqual(self.client.predict("program", [4]).output, 16)
        with self.assertRaises(DeployError):
            self.management.deploy(self.folder, "program", "2", application="program", command=command)

    def test_a_kernel_model_from_its_folder(self):
        self.application("kernel", "floats")
        self.management.deploy(os.environ["WINDJAMMER_KERNEL_MODEL"], "kernel", "1", application="kernel")
        self.assertFalse(self.client.predict("kernel", [0.5] * 784).is_default)

    def test_what_does_not_start_says_why_and_how_to_go_back(self):
        self.application("broken")
        broken = self.module("export default { inputType: 'doubles', predictOne: () => { };", "broken.mjs")
        with self.assertRaises(DeployError) as caught:
            self.management.deploy(broken, "broken", "1", application="broken")
        self.assertIn("SyntaxError", str(caught.exception))
        self.assertIn("delete_model('broken', '1')", str(caught.exception))
        self.assertEqual(self.management.linked_models("broken"), [])
        with self.assertRaises(NotFound):
            self.management.deploy(broken, "broken", "2", application="nobody")

    def test_many_may_send_the_same_files_at_once(self):
        path = self.module(f"export default {{ inputType: 'doubles', predictOne: () => 3 }}; // {'x' * 500_000}", "same.mjs")
        bundle = bundle_of_file(path)
        failures = []

        def send():
            try:
                Client().management.add_bundle(bundle)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is told
                failures.append(error)

        threads = [threading.Thread(target=send) for _ in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(failures, [])
        self.assertTrue(self.management.has_bundle(bundle.content_hash))

    def test_applications_and_what_they_learn(self):
        self.application("learns", policy={"name": "exp3"}, max_in_flight=9)
        self.management.set_application("learns", latency_slo_micros=4_000_000, max_in_flight=None)
        record = self.management.application("learns")
        self.assertEqual((record["latency_slo_micros"], "max_in_flight" in record), (4_000_000, False))
        for name in ("left", "right"):
            self.management.add_model(name, "1", "doubles", "windjammer/constant", output=name)
        self.management.add_links("learns", ["left", "right"])
        self.assertIn("learns", [one["name"] for one in self.management.applications()])
        with self.assertRaises(Conflict):
            self.management.add_links("learns", ["left"])
        for at in range(30):
            asked = self.client.predict("learns", [at])
            self.client.feedback("learns", "left", query_id=asked.query_id)
        self.assertGreater(self.management.state("learns")["shares"]["left"], 0.5)
        self.assertGreater(self.management.export_state("learns")["version"], 0)
        self.management.pin_state("learns")
        asked = self.client.predict("learns", [99])
        self.assertEqual(self.client.feedback("learns", "left", query_id=asked.query_id).joined, "pinned")
        self.management.unpin_state("learns")
        self.management.reset_state("learns")
        self.assertEqual(self.management.state("learns")["shares"], {"left": 0.5, "right": 0.5})
        self.management.rollback_state("learns")

    def test_features_and_losses(self):
        self.application("chooses", policy={"name": "linucb", "parameters": {"features": ["hour"]}})
        for name in ("up", "down"):
            self.management.add_model(name, "1", "doubles", "windjammer/constant", output=name)
        self.management.add_links("chooses", ["up", "down"])
        for at in range(60):
            asked = self.client.predict("chooses", [at], features={"hour": at % 2})
            right = "up" if at % 2 else "down"
            self.client.feedback("chooses", query_id=asked.query_id, reward=1.0 if asked.output == right else 0.0)
        answers = self.client.predict_batch("chooses", [[100], [101]], features=[{"hour": 0}, {"hour": 1}])
        self.assertEqual([one.output for one in answers], ["down", "up"])
        self.client.feedback("chooses", query_id=answers[0].query_id, losses={"up": 1.0})
        # What is no number stays here; what the policy does not know, only the server can tell.
        with self.assertRaises(ValueError):
            self.client.predict("chooses", [1], features={"hour": "noon"})
        with self.assertRaises(InvalidRequest):
            self.client.predict("chooses", [1], features={"minute": 1})

    def test_events(self):
        last = self.management.events(limit=1)["last"]
        followed = self.management.follow_events(last)
        found = []
        reader = threading.Thread(target=lambda: found.append(next(followed)))
        reader.start()
        self.application("seen")
        reader.join(60)
        self.assertEqual((found[0]["verb"], found[0]["about"]), ("add_app", {"application": "seen"}))
        named = self.management.events(application="seen")["events"]
        self.assertEqual([one["verb"] for one in named], ["add_app"])
        self.assertEqual(self.management.events(after=self.management.events()["last"], wait_seconds=0.1)["events"], [])

    def test_alerts(self):
        alert = {
            "status": "firing",
            "labels": {"alertname": "Slow", "model": "noop"},
            "annotations": {},
            "startsAt": "2030-01-31T12:00:00Z",
            "endsAt": "0001-01-01T00:00:00Z",
            "fingerprint": "a1",
        }
        self.assertEqual(self.management.note_alerts({"version": "4", "alerts": [alert]})["firing"], 1)
        self.assertEqual(self.management.note_alerts({"version": "4", "alerts": [alert]})["repeated"], 1)

    def test_backup(self):
        path = os.path.join(self.folder, "all.backup")
        size = self.management.backup(path)
        self.assertEqual(os.path.getsize(path), size)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(json.loads(file.readline())["format"], "windjammer-backup")
        # A second one takes its place, and nothing half is left.
        self.management.backup(path)
        self.assertEqual(os.listdir(self.folder), ["all.backup"])

    def test_gpus_and_recordings(self):
        self.assertTrue(self.management.gpus()[0]["name"])
        self.assertIn("traceEvents", self.management.record_gpu_timeline(seconds=0.2))
        arrivals = self.management.record_arrivals(seconds=1, application="noop")
        records = list(arrivals)
        self.assertIn("end", records[-1])

    def test_queued_feedback(self):
        self.assertEqual(self.management.queue(["failed"], 5)["counts"]["failed"], 0)
        for call in (
            lambda: self.management.queued_feedback("none"),
            lambda: self.management.retry_feedback("none"),
            lambda: self.management.drop_feedback("none"),
        ):
            with self.assertRaises(RefusedError) as caught:
                call()
            self.assertEqual(caught.exception.code, "unknown_feedback")

    def test_clusters(self):
        for call, code in (
            (self.management.cluster_status, "not_a_cluster"),
            (lambda: self.management.drain_node("n"), "not_a_cluster"),
            (lambda: self.management.undrain_node("n"), "not_a_cluster"),
            (self.management.repair_store, "no_repair_needed"),
        ):
            with self.assertRaises(Conflict) as caught:
                call()
            self.assertEqual(caught.exception.code, code)


class ZEverything(Case):
    """Runs last, as unittest sorts."""

    def test_no_verb_of_management_is_left_out(self):
        with urllib.request.urlopen(f"{self.client.management_url}/openapi.json") as answer:
            document = json.load(answer)
        port = int(self.client.management_url.rsplit(":", 1)[1])
        asked = {(method, path) for method, path, at in ASKED if at == port}
        named = {(method, path) for path, methods in document["paths"].items() for method in methods}
        self.assertEqual(named - asked, set())


if __name__ == "__main__":
    unittest.main()
