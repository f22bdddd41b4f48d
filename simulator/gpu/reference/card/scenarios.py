"""What runs side by side: writes scenarios as JSON, one list of launches each, in the order of submission.

usage: scenarios.py TARGET.json
A launch: stream, priority (0 lowest, -5 highest), kernel, grid, block, dynamicSharedBytes, args (as in launch specs).
"""
import json, sys

M = 1024 * 1024


def buffer(kind, count, out=False):
    return {"buffer": {"type": kind, "count": count, **({"out": True} if out else {})}}


def launch(kernel, grid, block, stream, args, shared=0, priority=0):
    return {"stream": stream, "priority": priority, "kernel": kernel, "grid": [grid, 1, 1], "block": [block, 1, 1], "dynamicSharedBytes": shared, "args": args}


def stamps(grid):
    return buffer("u64", 3 * grid, True)


def compute(stream, grid=1056, block=256, rounds=160, **more):
    return launch("compute", grid, block, stream, [buffer("f32", grid * block), stamps(grid), {"i32": rounds}], **more)


def double(stream, grid=1056, block=256, rounds=80, **more):
    return launch("compute_double", grid, block, stream, [buffer("f64", grid * block), stamps(grid), {"i32": rounds}], **more)


def special(stream, grid=1056, block=256, rounds=60, **more):
    return launch("compute_special", grid, block, stream, [buffer("f32", grid * block), stamps(grid), {"i32": rounds}], **more)


def chain(stream, grid=132, block=256, rounds=1000, **more):
    return launch("chain", grid, block, stream, [buffer("f32", grid * block), stamps(grid), {"i32": rounds}], **more)


def read(stream, grid=1056, block=256, n=8 * M, rounds=1, **more):
    return launch("read", grid, block, stream, [buffer("f32", 4 * n), buffer("f32", grid * block), stamps(grid), {"i32": n}, {"i32": rounds}], **more)


def copy(stream, grid=1056, block=256, n=4 * M, **more):
    return launch("copy", grid, block, stream, [buffer("f32", 4 * n), buffer("f32", 4 * n), stamps(grid), {"i32": n}], **more)


def walk(stream, grid=264, block=128, words=25600, rounds=2000, **more):
    return launch("shared_walk", grid, block, stream, [buffer("f32", grid * block), stamps(grid), {"i32": words}, {"i32": rounds}], shared=4 * words, **more)


def atomics(stream, grid=264, block=256, mask=0, rounds=1, **more):
    return launch("atomics", grid, block, stream, [buffer("u32", mask + 1), buffer("u32", grid * block), stamps(grid), {"i32": mask}, {"i32": rounds}], **more)


def uneven(stream, grid=1056, block=256, rounds=30, **more):
    return launch("uneven", grid, block, stream, [buffer("f32", grid * block), stamps(grid), {"i32": rounds}], **more)


HIGH = -5
scenarios = {
    "compute full, twice": [compute(0), compute(1)],
    "compute full, four times": [compute(k, rounds=80) for k in range(4)],
    "compute half a card's slots, twice": [compute(k, grid=528, rounds=200) for k in range(2)],
    "compute quarter of the slots, four times": [compute(k, grid=264, rounds=300) for k in range(4)],
    "compute 66 blocks, twice": [compute(k, grid=66, block=512, rounds=400) for k in range(2)],
    "compute 100 blocks and 64 blocks": [compute(0, grid=100, block=1024, rounds=200), compute(1, grid=64, block=1024, rounds=200)],
    "compute 133 blocks of 1024 and 131": [compute(0, grid=133, block=1024, rounds=200), compute(1, grid=131, block=1024, rounds=200)],
    "read DRAM, twice": [read(0), read(1)],
    "read DRAM, four times": [read(k, n=4 * M) for k in range(4)],
    "read DRAM persistent, twice": [read(k, grid=132, block=512) for k in range(2)],
    "read DRAM by 16 blocks, four times": [read(k, grid=16, block=1024, n=M) for k in range(4)],
    "copy and read DRAM": [copy(0), read(1)],
    "read L2, twice": [read(k, grid=264, n=M // 2, rounds=20) for k in range(2)],
    "read L2 and DRAM": [read(0, grid=264, n=M // 2, rounds=20), read(1, grid=264, block=512)],
    "compute full, then read": [compute(0), read(1)],
    "read, then compute full": [read(0), compute(1)],
    "compute and read, both persistent": [compute(0, grid=132, block=1024, rounds=300), read(1, grid=132, block=1024)],
    "compute and read, half the slots each": [compute(0, grid=528, rounds=250), read(1, grid=528)],
    "compute on 66 blocks of 1024, read on 66": [compute(0, grid=66, block=1024, rounds=300), read(1, grid=66, block=1024)],
    "many waves of compute and of read": [compute(0, grid=8448, rounds=16), read(1, grid=8448)],
    "small chain, then compute full": [chain(0, grid=16, rounds=1500), compute(1)],
    "compute full, then small chain": [compute(0), chain(1, grid=16, rounds=1500)],
    "compute of many waves, then small chain": [compute(0, grid=8448, rounds=20), chain(1, grid=16, rounds=1500)],
    "chains of 16 blocks, four times": [chain(k, grid=16, rounds=1500) for k in range(4)],
    "chains of 16 blocks, eight times": [chain(k, grid=16, rounds=1500) for k in range(8)],
    "chains of 132 blocks, twice": [chain(k, grid=132, block=512, rounds=1000) for k in range(2)],
    "long and short": [compute(0, grid=4224, rounds=40), compute(1, grid=132, rounds=40)],
    "short and long": [compute(0, grid=132, rounds=40), compute(1, grid=4224, rounds=40)],
    "uneven blocks, then compute": [uneven(0), compute(1)],
    "uneven blocks, twice": [uneven(0), uneven(1)],
    "low fills in many waves, high comes": [compute(0, grid=8448, rounds=20), compute(1, grid=264, rounds=20, priority=HIGH)],
    "equal priorities, the same": [compute(0, grid=8448, rounds=20), compute(1, grid=264, rounds=20)],
    "low fills with long blocks, high comes": [chain(0, grid=264, block=1024, rounds=1000), compute(1, grid=132, rounds=20, priority=HIGH)],
    "low many waves, high full": [compute(0, grid=8448, rounds=16), compute(1, grid=2112, rounds=40, priority=HIGH)],
    "low reads in many waves, high computes": [read(0, grid=8448, n=16 * M), compute(1, grid=264, rounds=40, priority=HIGH)],
    "low, middle, high": [compute(0, grid=8448, rounds=10), compute(1, grid=4224, rounds=10, priority=-2), compute(2, grid=1056, rounds=40, priority=HIGH)],
    "low many waves, high chain of four": [compute(0, grid=16896, rounds=10)] + [compute(1, grid=132, rounds=40, priority=HIGH) for _ in range(4)],
    "two streams of five": [compute(k % 2, grid=264, rounds=100) for k in range(10)],
    "four streams of five": [chain(k % 4, grid=64, block=512, rounds=400) for k in range(20)],
    "stream of compute beside stream of reads": [compute(0, grid=528, rounds=120) if k % 2 == 0 else read(1, grid=528, n=4 * M) for k in range(8)],
    "four streams of mixed kernels": [f(k) for _ in range(3) for k, f in enumerate((lambda s: compute(s, grid=264, rounds=100), lambda s: read(s, grid=264, n=2 * M), lambda s: double(s, grid=264, rounds=60), lambda s: special(s, grid=264, rounds=40)))],
    "double and single": [double(0, grid=528), compute(1, grid=528, rounds=160)],
    "special and single": [special(0, grid=528), compute(1, grid=528, rounds=160)],
    "double, twice": [double(0, grid=528), double(1, grid=528)],
    "special, twice": [special(0, grid=528), special(1, grid=528)],
    "four units side by side": [compute(0, grid=264, rounds=200), double(1, grid=264, rounds=100), special(2, grid=264, rounds=60), read(3, grid=264, n=4 * M)],
    "100 KiB of shared memory a block, twice": [walk(0), walk(1)],
    "200 KiB of shared memory a block beside compute": [walk(0, grid=132, words=51200), compute(1, grid=528)],
    "compute beside 200 KiB of shared memory a block": [compute(0, grid=528), walk(1, grid=132, words=51200)],
    "atomics on one address beside compute": [atomics(0), compute(1, grid=528)],
    "atomics on many addresses beside reads": [atomics(0, mask=M - 1, rounds=100), read(1, grid=528)],
    "atomics on one address, twice": [atomics(0), atomics(1)],
}

if __name__ == "__main__":
    with open(sys.argv[1], "w") as file:
        json.dump([{"name": name, "ptx": "card/concurrent.ptx", "device": "h200", "launches": launches} for name, launches in scenarios.items()], file, indent=1)
    print(len(scenarios), "scenarios")
