"""A container as Clipper's are: what its Python library does on its side of the RPC (version 3), written anew on pyzmq.

The environment says who it is, as for Clipper's: CLIPPER_MODEL_NAME, CLIPPER_MODEL_VERSION, CLIPPER_IP, CLIPPER_PORT,
CLIPPER_INPUT_TYPE. The argument says what its model does: sum, length, slow, fail (as a model that raises) or short (too few outputs).
"""
import os
import struct
import sys
import time

import zmq

RPC_VERSION = int(os.environ.get("TWIN_RPC_VERSION", "3"))
NEW_CONTAINER, CONTENT, HEARTBEAT = range(3)
SEND_METADATA = 1
PREDICT = 0
POLL_MS = 5000
SILENCE_S = 30.0
# Clipper's number of each input type, and how its elements are packed.
TYPES = {
    "bytes": (0, "b", 1),
    "integers": (1, "i", 4),
    "floats": (2, "f", 4),
    "doubles": (3, "d", 8),
    "strings": (4, None, 1),
}


def say(*words):
    print(*words, flush=True)


def u32(value):
    return struct.pack("<I", value)


def read_u32(frame):
    return struct.unpack("<I", frame)[0]


class ModelError(Exception):
    pass


def sum_of(inputs):
    return [repr(sum(one)) for one in inputs]


def length_of(inputs):
    return [str(len(one)) for one in inputs]


def slowly(inputs):
    time.sleep(0.3)
    return length_of(inputs)


def failing(inputs):
    raise ModelError("the model raised")


def too_few(inputs):
    return ["1"] * (len(inputs) + 1)


MODELS = {"sum": sum_of, "length": length_of, "slow": slowly, "fail": failing, "short": too_few}


class Container:
    def __init__(self, model):
        self.name = os.environ["CLIPPER_MODEL_NAME"]
        self.version = os.environ["CLIPPER_MODEL_VERSION"]
        self.code, self.letter, self.size = TYPES[os.environ.get("CLIPPER_INPUT_TYPE", "doubles")]
        host = os.environ.get("CLIPPER_IP", "127.0.0.1")
        self.address = "tcp://%s:%s" % (host, os.environ.get("CLIPPER_PORT", "7000"))
        self.model = model
        self.context = zmq.Context()

    def run(self):
        while True:
            socket = self.context.socket(zmq.DEALER)
            socket.connect(self.address)
            poller = zmq.Poller()
            poller.register(socket, zmq.POLLIN)
            self.heartbeat(socket)
            heard = None
            while True:
                if not dict(poller.poll(POLL_MS)):
                    if heard is None:
                        continue
                    if time.monotonic() - heard >= SILENCE_S:
                        say("silent for too long: dialling again")
                        break
                    self.heartbeat(socket)
                    continue
                heard = time.monotonic()
                self.on_message(socket)
            socket.close()

    def on_message(self, socket):
        # Frame by frame, as it reads them: each of them must be there.
        delimiter = socket.recv()
        assert delimiter == b""
        version = read_u32(socket.recv())
        if version != RPC_VERSION:
            say("ERROR: a message in version %d, this container speaks %d" % (version, RPC_VERSION))
        kind = read_u32(socket.recv())
        if kind == HEARTBEAT:
            wanted = read_u32(socket.recv())
            assert not socket.getsockopt(zmq.RCVMORE)
            say("heard heartbeat %d" % wanted)
            if wanted == SEND_METADATA:
                self.metadata(socket)
            return
        assert kind == CONTENT, kind
        message_id = socket.recv()
        assert read_u32(socket.recv()) == PREDICT
        header_bytes = struct.unpack("<Q", socket.recv())[0]
        header = socket.recv()
        assert len(header) == header_bytes
        code, count, *sizes = struct.unpack("<%dQ" % (header_bytes // 8), header)
        assert len(sizes) == count
        inputs = [self.parsed(socket.recv(), size) for size in sizes]
        assert not socket.getsockopt(zmq.RCVMORE)
        if code != self.code:
            raise ModelError("inputs of type %d, this container takes %d" % (code, self.code))
        say("batch of %d" % count)
        outputs = self.model(inputs)
        if len(outputs) != len(inputs) and self.model is not too_few:
            raise ModelError("%d outputs of %d inputs" % (len(outputs), len(inputs)))
        self.answer(socket, message_id, [one.encode() for one in outputs])

    def parsed(self, frame, size):
        assert len(frame) == size
        if self.letter is None:
            return frame.decode()
        return struct.unpack("<%d%s" % (size // self.size, self.letter), frame)

    def answer(self, socket, message_id, outputs):
        header = struct.pack("<%dQ" % (1 + len(outputs)), len(outputs), *[len(one) for one in outputs])
        for frame in (b"", u32(CONTENT), message_id, struct.pack("<Q", len(header)), header, *outputs[:-1]):
            socket.send(frame, zmq.SNDMORE)
        socket.send(outputs[-1])

    def heartbeat(self, socket):
        socket.send(b"", zmq.SNDMORE)
        socket.send(u32(HEARTBEAT))
        say("sent heartbeat")

    def metadata(self, socket):
        socket.send(b"", zmq.SNDMORE)
        socket.send(u32(NEW_CONTAINER), zmq.SNDMORE)
        socket.send_string(self.name, zmq.SNDMORE)
        socket.send_string(self.version, zmq.SNDMORE)
        socket.send_string(str(self.code), zmq.SNDMORE)
        socket.send(u32(RPC_VERSION))
        say("sent metadata")


if __name__ == "__main__":
    Container(MODELS[sys.argv[1]]).run()
