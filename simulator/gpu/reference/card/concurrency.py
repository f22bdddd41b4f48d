"""Runs scenarios (scenarios.py) on the card, every launch alone and all together.

usage: concurrency.py SCENARIOS.json CUBINS RESULTS.json PLACEMENTS.csv
"""
import ctypes, json, statistics, struct, sys
from driver import Card, check, SIZES, NUMBERS

REPEATS = 7


class Prepared:
    def __init__(self, card, spec, streams):
        self.spec, self.card, self.values, self.owned = spec, card, [], []
        self.function = card.function("concurrent", spec["kernel"])
        if spec["dynamicSharedBytes"] > 48 * 1024:
            check("cuFuncSetAttribute", self.function, 8, 227 * 1024)
        self.blocks = spec["grid"][0]
        for argument in spec["args"]:
            (kind, value), = argument.items()
            if kind != "buffer":
                self.values.append(NUMBERS[kind](value))
                continue
            address = card.allocate(value["count"] * SIZES[value["type"]])
            check("cuMemsetD8_v2", address, ctypes.c_ubyte(0), ctypes.c_size_t(value["count"] * SIZES[value["type"]]))
            self.values.append(address)
            self.owned.append(address)
            if value["type"] == "u64":
                self.stamps = address
        # What a launch call needs, made before: the calls should follow each other closely.
        self.pointers = (ctypes.c_void_p * len(self.values))(*[ctypes.addressof(value) for value in self.values])
        shape = [ctypes.c_uint(extent) for extent in spec["grid"] + spec["block"]]
        self.call = [self.function, *shape, ctypes.c_uint(spec["dynamicSharedBytes"]), streams[spec["stream"]], self.pointers, None]

    def read(self):
        data = ctypes.create_string_buffer(24 * self.blocks)
        check("cuMemcpyDtoH_v2", data, self.stamps, ctypes.c_size_t(24 * self.blocks))
        words = struct.unpack(f"<{3 * self.blocks}Q", data.raw)
        return [words[3 * b : 3 * b + 3] for b in range(self.blocks)]


def once(card, launches):
    from driver import cuda

    start = cuda.cuLaunchKernel
    for launch in launches:
        code = start(*launch.call)
        if code:
            raise RuntimeError(f"cuLaunchKernel: {code}")
    check("cuCtxSynchronize")
    return [launch.read() for launch in launches]


def span(blocks):
    return min(block[0] for block in blocks), max(block[1] for block in blocks)


def measure(card, launches):
    """Of the run with the median makespan: makespan, and start and end of each launch, in us."""
    runs = []
    for repeat in range(REPEATS + 2):
        stamps = once(card, launches)
        if repeat < 2:
            continue
        spans = [span(blocks) for blocks in stamps]
        first, last = min(s for s, _ in spans), max(e for _, e in spans)
        runs.append(((last - first) / 1000, [((s - first) / 1000, (e - first) / 1000) for s, e in spans], stamps))
    runs.sort(key=lambda run: run[0])
    return runs[len(runs) // 2], runs[0][0], runs[-1][0]


def main():
    scenarios, cubins, target, placements = sys.argv[1:5]
    card = Card(cubins)
    function = card.function("concurrent", "timer_steps")
    out = card.allocate(8 * 64)
    card.launch(function, [1, 1, 1], [1, 1, 1], 0, [out, ctypes.c_int(64)])
    check("cuCtxSynchronize")
    data = ctypes.create_string_buffer(8 * 64)
    check("cuMemcpyDtoH_v2", data, out, ctypes.c_size_t(8 * 64))
    print("steps of globaltimer, ns:", sorted(set(struct.unpack("<64Q", data.raw))))
    low, high = ctypes.c_int(), ctypes.c_int()
    check("cuCtxGetStreamPriorityRange", ctypes.byref(low), ctypes.byref(high))
    print("stream priorities:", low.value, high.value)
    results = []
    places = open(placements, "w")
    places.write("scenario,launch,block,sm,start_us,end_us\n")
    streams = {}
    for scenario in json.load(open(scenarios)):
        priorities = {launch["stream"]: launch["priority"] for launch in scenario["launches"]}
        mine = {}
        for stream, priority in priorities.items():
            key = (stream, priority)
            if key not in streams:
                streams[key] = ctypes.c_void_p()
                check("cuStreamCreateWithPriority", ctypes.byref(streams[key]), 1, priority)
            mine[stream] = streams[key]
        launches = [Prepared(card, launch, mine) for launch in scenario["launches"]]
        # The clock is up before anything is timed.
        for _ in range(3):
            once(card, launches)
        alone = {}
        for launch, spec in zip(launches, scenario["launches"]):
            key = json.dumps({**spec, "stream": 0, "priority": 0})
            if key not in alone:
                alone[key] = measure(card, [launch])[0][0]
            launch.alone = alone[key]
        (makespan, spans, stamps), least, most = measure(card, launches)
        entry = {"name": scenario["name"], "makespanUs": makespan, "leastUs": least, "mostUs": most, "launches": []}
        for launch, (start, end) in zip(launches, spans):
            entry["launches"].append({"aloneUs": round(launch.alone, 3), "startUs": round(start, 3), "endUs": round(end, 3)})
        results.append(entry)
        first = min(block[0] for blocks in stamps for block in blocks)
        if sum(map(len, stamps)) <= 2600:
            for index, blocks in enumerate(stamps):
                for number, block in enumerate(blocks):
                    places.write(f"{scenario['name'].replace(',', ';')},{index},{number},{block[2]},{(block[0] - first) / 1000:.3f},{(block[1] - first) / 1000:.3f}\n")
        for launch in launches:
            card.free(launch.owned)
    json.dump(results, open(target, "w"), indent=1)
    print(len(results), "scenarios")


main()
