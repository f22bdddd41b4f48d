"""Frames from standard input as lines of JSON, and lines of JSON as frames: what they have in common with TypeScript's is tested there."""

import base64
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from windjammer_container import frames

KINDS = ("answer", "scoredAnswer", "invalidInput", "modelError", "kernelFault", "cancelled", "undecided")


def read():
    def on_frame(frame):
        if isinstance(frame, frames.Predict):
            items = [[one.id, repr(one.budget_ns), base64.b64encode(one.data).decode()] for one in frame.items]
            said = {"kind": "predict", "batchId": frame.batch_id, "isSuspect": frame.is_suspect, "items": items}
        else:
            said = {"kind": "cancel", "batchId": frame.batch_id, "itemIds": list(frame.ids)}
        print(json.dumps(said))

    reader = frames.FrameReader(on_frame)
    piece_bytes = int(sys.argv[2])
    try:
        for piece in iter(lambda: sys.stdin.buffer.read(piece_bytes), b""):
            reader.push(piece)
    except frames.ProtocolError as error:
        print(json.dumps({"kind": "refused", "message": str(error)}))


def write():
    for line in sys.stdin:
        said = json.loads(line)
        if said["kind"] == "hello":
            frame = frames.hello(*said["fields"])
        elif said["kind"] == "down":
            frame = frames.down(said["reason"])
        else:
            results = [
                frames.Result(item_id, KINDS.index(kind), text.encode(), base64.b64decode(scores))
                for item_id, kind, text, scores in said["results"]
            ]
            frame = frames.result(said["batchId"], float(said["serviceNs"]), said["calls"], results)
        sys.stdout.buffer.write(frame)


read() if sys.argv[1] == "read" else write()
