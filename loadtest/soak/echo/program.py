"""The same as a program that reads and writes lines of JSON."""

import json
import sys

print(json.dumps({"ready": True}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"id": asked["id"], "output": [sys.argv[1], asked["input"][0]]}), flush=True)
