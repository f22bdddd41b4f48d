"""Runs every launch spec of a folder on the card.

usage: measureLaunches.py LAUNCHES CUBINS MODE TARGET

MODE `profile` is for a run under Nsight Compute, which profiles what lies between cuProfilerStart and cuProfilerStop:
launches WARM + 1 to WARM + PROFILED of each spec, in the order of their names; the order goes to TARGET.
MODE `plain` writes a CSV of intervals in a graph, lone launches between events, and what the driver says of the kernel.
"""
import ctypes, json, statistics, sys
from driver import Card, check, specs_in

WARM = 2


def starter(card, function, spec, values):
    cooperative = spec.get("cooperative", False)
    return lambda: card.launch(function, spec["grid"], spec["block"], spec["dynamicSharedBytes"], values, None, cooperative)


def profile(card, specs, profiled, target):
    order = []
    for name, spec in specs:
        function, values, owned = card.prepare(spec)
        start = starter(card, function, spec, values)
        for _ in range(WARM):
            start()
        check("cuStreamSynchronize", card.stream)
        check("cuProfilerStart")
        for _ in range(profiled):
            start()
            check("cuStreamSynchronize", card.stream)
            order.append(name)
        check("cuProfilerStop")
        card.free(owned)
    json.dump(order, open(target, "w"))


def plain(card, specs, target):
    first, last = card.event(), card.event()
    with open(target, "w") as file:
        file.write("launch,back_to_back_us,back_to_back_spread_pct,lone_event_us,registers,static_shared_bytes,local_bytes,blocks_per_sm\n")
        for name, spec in specs:
            function, values, owned = card.prepare(spec)
            start = starter(card, function, spec, values)
            lone = []
            for _ in range(9):
                check("cuEventRecord", first, card.stream)
                start()
                check("cuEventRecord", last, card.stream)
                lone.append(card.elapsed_us(first, last))
            count = max(10, min(200, int(3000 / statistics.median(lone))))
            graph = card.graph_of(start, count)
            check("cuGraphLaunch", graph, card.stream)
            intervals = []
            for _ in range(5):
                check("cuEventRecord", first, card.stream)
                check("cuGraphLaunch", graph, card.stream)
                check("cuEventRecord", last, card.stream)
                intervals.append(card.elapsed_us(first, last) / count)
            check("cuGraphExecDestroy", graph)
            median = statistics.median(intervals)
            spread = (max(intervals) - min(intervals)) / median * 100
            threads = spec["block"][0] * spec["block"][1] * spec["block"][2]
            facts = [card.attribute(function, 4), card.attribute(function, 1), card.attribute(function, 3)]
            facts.append(card.blocks_per_sm(function, threads, spec["dynamicSharedBytes"]))
            file.write(f"{name},{median:.3f},{spread:.1f},{statistics.median(lone[2:]):.3f},{','.join(map(str, facts))}\n")
            card.free(owned)


def main():
    launches, cubins, mode, target = sys.argv[1:5]
    card, specs = Card(cubins), specs_in(launches)
    if mode == "plain":
        plain(card, specs, target)
    else:
        profile(card, specs, int(mode.removeprefix("profile")), target)


main()
