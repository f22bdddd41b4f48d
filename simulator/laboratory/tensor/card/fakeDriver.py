"""A driver that asks a program (fakeCard.ts) in a card's place; runTensor.py takes it with --fake."""
import json, shlex, subprocess


class FakeDriver:
    def __init__(self, command):
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, request, payload=b""):
        for part in (json.dumps(request).encode(), payload):
            self.process.stdin.write(len(part).to_bytes(4, "little") + part)
        self.process.stdin.flush()
        return json.loads(self.read()), self.read()

    def read(self):
        length = self.process.stdout.read(4)
        if len(length) < 4:
            raise RuntimeError("the fake card ended")
        return self.process.stdout.read(int.from_bytes(length, "little"))

    def name(self):
        return "fake card"

    def processors(self):
        return 4

    def kernel(self, module, name):
        return module, name

    def allocate(self, size):
        return self.ask({"op": "allocate", "size": max(size, 16)})[0]["address"]

    def free(self, address):
        self.ask({"op": "free", "address": address})

    def upload(self, address, data):
        if data:
            self.ask({"op": "upload", "address": address}, bytes(data))

    def download(self, address, size):
        return self.ask({"op": "download", "address": address, "size": size})[1]

    def clear(self, address, size):
        self.ask({"op": "clear", "address": address, "size": size})

    def launch(self, kernel, grid, block, shared, values, cooperative=False):
        request = {"op": "launch", "module": kernel[0], "kernel": kernel[1], "grid": list(grid), "block": list(block)}
        self.ask({**request, "sizes": [len(value) for value in values]}, b"".join(bytes(value) for value in values))

    def wait(self):
        pass
