"""The WebSocket against peers that do as they like: frames as RFC 6455 has them, and what becomes of calls when they are none."""

import os
import socket
import ssl
import struct
import sys
import threading
import time
import unittest

from windjammer import Client, Insecure, InvalidRequest, NotAllowed, TimedOut, UnexpectedAnswer, Unreachable, WindjammerError
from windjammer._frames import MOST_MESSAGE_BYTES, Messages, Violation, close_reason, frame, masked

sys.path.insert(0, os.path.dirname(__file__))
from doubles import End, Peer, answer_to, answering, refusal, server_frame  # noqa: E402

CERTIFICATES = os.path.join(os.path.dirname(__file__), "../../../http/tests/certificates")


def events(*values):
    return [threading.Event() for _ in values] if values else threading.Event()


class Frames(unittest.TestCase):
    def test_are_read_however_they_come(self):
        long, longer = b"x" * 300, b"y" * 70_000
        whole = (
            server_frame(b"one") + server_frame(b"tw", head=0x01) + server_frame(b"ping", 9) + server_frame(b"o", head=0x80)
            + server_frame(long, 2) + server_frame(longer) + server_frame(struct.pack("!H", 1001) + "öde".encode(), 8)
        )
        expected = [(1, b"one"), (9, b"ping"), (1, b"two"), (2, long), (1, longer), (8, b"\x03\xe9\xc3\xb6de")]
        self.assertEqual(list(Messages().feed(whole)), expected)
        one_by_one = Messages()
        self.assertEqual([found for at in range(len(whole)) for found in one_by_one.feed(whole[at : at + 1])], expected)
        self.assertEqual(close_reason(expected[-1][1]), (1001, "öde"))
        self.assertEqual(close_reason(b""), (1005, ""))

    def test_are_masked_and_of_the_shortest_length(self):
        for size in (0, 1, 3, 125, 126, 65_535, 65_536):
            payload = os.urandom(size)
            made = frame(1, payload)
            at = 2 if size < 126 else 4 if size < 65_536 else 10
            self.assertEqual(made[1] & 0x80, 0x80)
            self.assertEqual(masked(made[at : at + 4], made[at + 4 :]), payload)
        self.assertNotEqual(frame(1, b"same")[2:6], frame(1, b"same")[2:6])

    def test_that_break_the_rules_are_told_apart(self):
        for data, code in (
            (b"\xc1\x00", 1002),  # a reserved bit
            (b"\x83\x00", 1002),  # an opcode that is none
            (b"\x81\x80\0\0\0\0", 1002),  # masked
            (b"\x09\x00", 1002),  # a ping in fragments
            (b"\x89\x7e\x00\x7e", 1002),  # a ping of 126 bytes
            (b"\x80\x00", 1002),  # a fragment of nothing
            (b"\x01\x00\x81\x00", 1002),  # a message amid another
            (b"\x81\x7e\x00\x7d", 1002),  # a length that is longer than it must be
            (b"\x81\x7f" + struct.pack("!Q", 65_535), 1002),
            (b"\x81\x7f" + struct.pack("!Q", MOST_MESSAGE_BYTES + 1), 1009),
            (b"\x81\x7f" + b"\xff" * 8, 1009),
            (b"\x01\x00" + b"\x00\x00" * 70_000, 1009),
        ):
            with self.assertRaises(Violation, msg=data[:12]) as caught:
                list(Messages().feed(data))
            self.assertEqual(caught.exception.close_code, code, data[:12])
        for payload in (b"\x03", struct.pack("!H", 999), struct.pack("!H", 1005), struct.pack("!H", 2000), b"\x03\xe8\xff"):
            with self.assertRaises(Violation, msg=payload):
                close_reason(payload)


class Case(unittest.TestCase):
    def socket(self, peer, timeout=10.0, **options):
        web_socket = Client(peer.url, api_key="wj_key", timeout=timeout).web_socket(**options)
        self.addCleanup(web_socket.close)
        return web_socket


class Calls(Case):
    def test_answers_overtake_each_other(self):
        def backwards(end):
            taken = [end.take() for _ in range(3)]
            end.send(*(answer_to(message, message["input"][0]) for message in reversed(taken)))
            answering(end)

        with Peer(backwards) as peer:
            web_socket = self.socket(peer)
            later = [web_socket.predict_later("a", [at], context="ann", strict=True, deadline_ms=20, features={"hour": 4}) for at in range(3)]
            self.assertEqual([one.result(10).output for one in later], [0, 1, 2])
            told = web_socket.feedback("a", 7, query_id="q")
            self.assertEqual((told.joined, told.durable), ("query", True))
            first, fourth = peer.messages[0], peer.messages[3]
            self.assertEqual(
                {**first, "id": 0},
                {"type": "predict", "id": 0, "application": "a", "input": [0], "context": "ann", "strict": True, "latency_slo_micros": 20_000, "features": {"hour": 4}},
            )
            self.assertRegex(fourth["idempotency_key"], "^[0-9a-f]{32}$")
            head = peer.requests[0]
            self.assertTrue(head.startswith("GET /ws HTTP/1.1\r\n"), head)
            self.assertIn("Authorization: Bearer wj_key", head)
            web_socket.close()
            with self.assertRaises(ValueError):
                web_socket.predict("a", [1])
        self.assertEqual((peer.connections, peer.closes), (1, [1000]))

    def test_no_more_are_under_way_than_may(self):
        taken, go_on = events(), events()

        def slowly(end):
            held = [end.take(), end.take()]
            taken.set()
            go_on.wait(10)
            peer.at_once = len(peer.messages)
            for message in held:
                end.answer(message)
            answering(end)

        with Peer(slowly) as peer:
            web_socket = self.socket(peer, max_in_flight=2)
            later = [web_socket.predict_later("a", [1]) for _ in range(20)]
            taken.wait(10)
            go_on.set()
            for one in later:
                one.result(10)
            self.assertEqual(peer.at_once, 2)
            self.assertEqual(len({message["id"] for message in peer.messages}), 20)

    def test_threads_share_one(self):
        with Peer(answering) as peer:
            web_socket, wrong = self.socket(peer), []

            def ask(own):
                for at in range(50):
                    if web_socket.predict("a", [own * 1000 + at]).output != own * 1000 + at:
                        wrong.append(own)

            threads = [threading.Thread(target=ask, args=(own,)) for own in range(8)]
            for one in threads:
                one.start()
            for one in threads:
                one.join()
            self.assertEqual((wrong, peer.connections), ([], 1))

    def test_what_no_server_would_take_is_sent_to_none(self):
        with Peer(answering) as peer:
            web_socket = self.socket(peer)
            for call in (
                lambda: web_socket.predict("a", [float("nan")]),
                lambda: web_socket.predict("", [1]),
                lambda: web_socket.predict("a", [1], deadline_ms=0),
                lambda: web_socket.predict("a", [1], timeout=0),
                lambda: web_socket.predict("a", [1], features={"a": "b"}),
                lambda: web_socket.feedback("a", 1),
                lambda: Client(peer.url).web_socket(max_in_flight=0),
            ):
                with self.assertRaises(ValueError):
                    call()
            with self.assertRaises(TypeError):
                web_socket.predict("a", [1], votes=True)
            self.assertEqual(peer.connections, 0)

    def test_an_error_is_the_calls_own(self):
        def refusing(end):
            message = end.take()
            error = {"code": "wrong_length", "message": "too short", "field": "input"}
            end.send({"type": "error", "id": message["id"], "status": 400, "error": error})
            message = end.take()
            end.send({"type": "error", "id": message["id"], "status": 500, "error": "what"})
            end.send({"type": "feedback", "id": end.take()["id"], "accepted": True})
            answering(end)

        with Peer(refusing) as peer:
            web_socket = self.socket(peer)
            with self.assertRaises(InvalidRequest) as caught:
                web_socket.predict("a", [1])
            self.assertEqual((caught.exception.code, caught.exception.status, caught.exception.field), ("wrong_length", 400, "input"))
            for _ in range(2):
                with self.assertRaises(UnexpectedAnswer):
                    web_socket.predict("a", [1])
            self.assertEqual(web_socket.predict("a", [5]).output, 5)
            self.assertEqual(peer.connections, 1)


class Time(Case):
    def test_a_call_that_is_given_up_is_withdrawn(self):
        def silent_then_not(end):
            end.take()
            end.take()
            answering(end)

        with Peer(silent_then_not) as peer:
            web_socket = self.socket(peer)
            with self.assertRaises(TimedOut) as caught:
                web_socket.predict("a", [1], timeout=0.2)
            self.assertIn("0.2 s", str(caught.exception))
            later = web_socket.predict_later("a", [2])
            while len(peer.messages) < 3:
                time.sleep(0.005)
            self.assertTrue(later.cancel())
            self.assertEqual(web_socket.predict("a", [3]).output, 3)
            self.assertEqual([one["type"] for one in peer.messages], ["predict", "cancel", "predict", "cancel", "predict"])
            self.assertEqual([peer.messages[at]["id"] for at in (0, 2)], [peer.messages[at]["id"] for at in (1, 3)])

    def test_a_call_that_nobody_waits_for_ends_in_its_time_too(self):
        with Peer(lambda end: end.take() and end.take() and end.take()) as peer:
            failed = self.socket(peer).predict_later("a", [1], timeout=0.2).exception(10)
            self.assertIsInstance(failed, TimedOut)

    def test_a_peer_that_shakes_hands_slowly_or_never(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            peer = type("Silent", (), {"url": f"http://127.0.0.1:{listener.getsockname()[1]}"})
            began = time.monotonic()
            with self.assertRaises((TimedOut, Unreachable)):
                self.socket(peer).predict("a", [1], timeout=0.3)
            self.assertLess(time.monotonic() - began, 2)

    def test_a_peer_that_reads_nothing(self):
        done = threading.Event()
        with Peer(lambda end: done.wait(30)) as peer:
            web_socket = self.socket(peer)
            began = time.monotonic()
            large = [web_socket.predict_later("a", "x" * 1_000_000, timeout=0.5) for _ in range(20)]
            for one in large:
                self.assertIsInstance(one.exception(10), TimedOut)
            self.assertLess(time.monotonic() - began, 5)
            done.set()

    def test_answers_are_read_while_a_large_input_is_sent(self):
        def chatty(end):
            first = end.take()
            # More than what lies in between on the way takes.
            for _ in range(400):
                end.send({"type": "prediction", "id": 4_000_000_000, "filling": "x" * 50_000})
            end.answer(first)
            answering(end)

        with Peer(chatty) as peer:
            web_socket = self.socket(peer, timeout=30)
            first = web_socket.predict_later("a", [1])
            second = web_socket.predict_later("a", list(range(500_000)))
            self.assertEqual((first.result(30).output, second.result(30).output), (1, 0))


class Connections(Case):
    def test_one_that_is_lost_is_opened_again_and_what_was_under_way_asked_again(self):
        def dies(end):
            end.take()
            end.take()

        def drains(end):
            end.answer(end.take())
            end.take()
            end.close(1001, "the server is shutting down")

        def shutting_down(end):
            message = end.take()
            error = {"code": "shutting_down", "message": "it is"}
            end.send({"type": "error", "id": message["id"], "status": 503, "error": error})
            end.close(1001)

        for scripts in ((dies, drains, answering), (shutting_down, dies, answering)):
            with Peer(*scripts) as peer:
                web_socket = self.socket(peer)
                later = [web_socket.predict_later("a", [7]), web_socket.feedback_later("a", 7, query_id="q")]
                for one in later:
                    one.result(10)
                self.assertEqual(peer.connections, 3)
                self.assertEqual(web_socket.predict("a", [8]).output, 8)
                keys = {one["idempotency_key"] for one in peer.messages if one["type"] == "feedback"}
                self.assertEqual(len(keys), 1)

    def test_one_that_dies_with_every_message_is_tried_three_times(self):
        for script in (lambda end: end.take(), lambda end: (end.take(), end.close(1011, "broken"))):
            with Peer(script) as peer:
                with self.assertRaises(Unreachable):
                    self.socket(peer).predict("a", [1])
                self.assertEqual(len(peer.messages), 3)

    def test_one_that_says_that_the_message_is_wrong_is_not_tried_again(self):
        with Peer(lambda end: (end.take(), end.close(1009, "too large"))) as peer:
            with self.assertRaises(Unreachable) as caught:
                self.socket(peer).predict("a", [1])
            self.assertIn("1009: too large", str(caught.exception))
            # It has failed here before its end is heard there.
            while not peer.closes:
                time.sleep(0.005)
            self.assertEqual((len(peer.messages), peer.closes), (1, [1009]))

    def test_one_message_that_is_too_large_fails_alone(self):
        def too_large(end):
            while end.take()["input"] != "x" * 1000:
                pass
            end.close(1009, "a message is too large")

        with Peer(too_large, answering) as peer:
            web_socket = self.socket(peer)
            before = [web_socket.predict_later("a", [number]) for number in range(5)]
            large = web_socket.predict_later("a", "x" * 1000)
            after = web_socket.predict_later("a", [5])
            self.assertEqual([one.result(10).output for one in [*before, after]], list(range(6)))
            with self.assertRaisesRegex(Unreachable, "1009: a message is too large"):
                large.result(10)
            self.assertEqual(peer.connections, 2)

    def test_a_refused_handshake_is_a_refusal(self):
        with Peer(answering, shake=lambda _answer: refusal("missing_key", "401 Unauthorized")) as peer:
            with self.assertRaises(NotAllowed):
                self.socket(peer).predict("a", [1])
            self.assertEqual(peer.connections, 1)
        with Peer(answering, shake=lambda _answer: refusal("too_many_connections", "503 Service Unavailable", retry_after_ms=1)) as peer:
            with self.assertRaises(WindjammerError) as caught:
                self.socket(peer).predict("a", [1])
            self.assertEqual((caught.exception.code, peer.connections), ("too_many_connections", 3))

    def test_pings_are_answered_and_pongs_ignored(self):
        def pings(end):
            end.raw(server_frame(b"", 10) + server_frame(b"are you there", 9))
            answering(end)

        with Peer(pings) as peer:
            self.assertEqual(self.socket(peer).predict("a", [4]).output, 4)
            while not peer.pongs:
                time.sleep(0.005)
            self.assertEqual(peer.pongs, [b"are you there"])


class Secure(Case):
    def peer(self, *scripts):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(os.path.join(CERTIFICATES, "server.pem"), os.path.join(CERTIFICATES, "server-key.pem"))
        return Peer(*scripts, tls=context)

    def test_large_messages_both_ways(self):
        def echoes(end):
            while True:
                message = end.take()
                end.answer(message, message["input"])

        with self.peer(echoes) as peer:
            web_socket = Client(peer.url, ca=os.path.join(CERTIFICATES, "authority.pem"), timeout=30).web_socket()
            self.addCleanup(web_socket.close)
            texts = [str(at) * 200_000 for at in range(5)]
            later = [web_socket.predict_later("a", text) for text in texts]
            self.assertEqual([one.result(30).output for one in later], texts)
            self.assertEqual(peer.connections, 1)

    def test_whom_nobody_vouches_for_is_told_nothing(self):
        with self.peer(answering) as peer:
            with self.assertRaises(Insecure):
                self.socket(peer).predict("a", [1])
            self.assertEqual(peer.requests, [])
        with Peer(answering) as peer:
            plain = type("Plain", (), {"url": peer.url.replace("http:", "https:")})
            # It waits for a head that never ends.
            with self.assertRaises((TimedOut, Unreachable)):
                self.socket(plain).predict("a", [1], timeout=0.3)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=lambda: listener.accept()[0].sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"), daemon=True).start()
            plain = type("Plain", (), {"url": f"https://127.0.0.1:{listener.getsockname()[1]}"})
            with self.assertRaises(Insecure) as caught:
                self.socket(plain).predict("a", [1])
            self.assertIn("ask http://", str(caught.exception))


class Hostile(Case):
    def test_what_is_no_websocket_of_ours_fails_the_call_at_once(self):
        def changed(old, new):
            return lambda answer: answer.replace(old, new)

        shakes = [
            changed(b"101 Switching Protocols", b"200 OK"),
            changed(b"101 Switching Protocols", b"101"[:2] + b" Odd"),
            changed(b"HTTP/1.1", b"HTTP/2.0"),
            changed(b"Upgrade: WebSocket", b"Upgrade: h2c"),
            changed(b"keep-alive, Upgrade", b"keep-alive"),
            changed(b"Accept: ", b"Accept: x"),
            changed(b"\r\n\r\n", b"\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"),
            changed(b"\r\n\r\n", b"\r\nSec-WebSocket-Protocol: chat\r\n\r\n"),
            changed(b"\r\n\r\n", b"\r\nno header\r\n\r\n"),
            lambda _answer: b"220 mail.example.org ESMTP\r\n",
            lambda _answer: b"HTTP/1.1 101 Switching\r\nX: " + b"x" * 200_000,
            lambda _answer: b"\x16\x03\x01\x00\x05hello" * 10,
        ]
        for shake in shakes:
            with Peer(answering, shake=shake) as peer:
                with self.assertRaises(UnexpectedAnswer, msg=shake(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")[:60]):
                    self.socket(peer).predict("a", [1])
                self.assertEqual(peer.connections, 1)

    def test_frames_that_break_the_rules_end_the_connection_and_no_later_one(self):
        right = server_frame({"type": "prediction", "id": 0})
        for data, code in (
            (b"\xc1\x00", 1002),
            (b"\x81\x80\0\0\0\0", 1002),
            (b"\x81\x7f" + b"\xff" * 8, 1009),
            (server_frame(b"{"), 1003),
            (server_frame(b"\xff\xfe"), 1007),
            (server_frame(b"[]"), 1003),
            (server_frame({"type": "error", "id": None, "status": 400, "error": {"code": "c", "message": "m"}}), 1003),
            (server_frame(b"\x03", 8), 1002),
            (right[:1] + b"\x7e\x00" + right[1:], 1002),
        ):

            def bad(end: End, data=data):
                end.take()
                end.raw(data)
                end.take()

            with Peer(bad, answering) as peer:
                web_socket = self.socket(peer)
                with self.assertRaises(UnexpectedAnswer, msg=data[:20]):
                    web_socket.predict("a", [1])
                self.assertEqual(web_socket.predict("a", [2]).output, 2)
                while not peer.closes:
                    time.sleep(0.005)
                self.assertEqual(peer.closes[0], code, data[:20])

    def test_answers_that_nobody_asked_for_change_nothing(self):
        def talks(end):
            message = end.take()
            other = {**message, "id": 77}
            end.send(answer_to(other, 9), answer_to(message, 1), answer_to(message, 2))
            answering(end)

        with Peer(talks) as peer:
            web_socket = self.socket(peer)
            self.assertEqual(web_socket.predict("a", [1]).output, 1)
            self.assertEqual(web_socket.predict("a", [3]).output, 3)

    def test_a_flood_of_pings_does_not_keep_calls_from_their_time(self):
        def floods(end):
            while True:
                end.raw(server_frame(b"p", 9) * 1000)

        with Peer(floods) as peer:
            began = time.monotonic()
            with self.assertRaises(WindjammerError):
                self.socket(peer).predict("a", [1], timeout=0.5)
            self.assertLess(time.monotonic() - began, 3)


if __name__ == "__main__":
    unittest.main()
