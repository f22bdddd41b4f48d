"""Two processes on one card: by turns as it is, side by side under MPS (a server started here and ended again).

usage: processes.py CUBINS RESULTS.json
"""
import ctypes, json, os, statistics, struct, subprocess, sys, tempfile, time

STOP_NS = 10_000


def child(cubins, role, at):
    from driver import Card, check

    card = Card(cubins)
    out = card.allocate(1 << 20)
    data = ctypes.create_string_buffer(1 << 20)

    def words(count):
        check("cuCtxSynchronize")
        check("cuMemcpyDtoH_v2", data, out, ctypes.c_size_t(8 * count))
        return struct.unpack(f"<{count}Q", data.raw[: 8 * count])

    stops = card.function("concurrent", "stops")
    compute, read = card.function("concurrent", "compute"), card.function("concurrent", "read")
    big, result = card.allocate(1 << 30), card.allocate(1 << 23)
    u64, i = ctypes.c_uint64, ctypes.c_int
    card.launch(stops, [1, 1, 1], [1, 1, 1], 0, [out, i(100), u64(1_000_000), u64(STOP_NS)])
    card.launch(compute, [1056, 1, 1], [256, 1, 1], 0, [result, out, i(160)])
    check("cuCtxSynchronize")
    while time.time() < at:
        pass
    if role == "stops":
        card.launch(stops, [1, 1, 1], [1, 1, 1], 0, [out, i(1000), u64(60_000_000), u64(STOP_NS)])
        found = words(2 + 2000)
        count = found[0]
        print(json.dumps({"first": found[1], "stops": [found[2 + 2 * k : 4 + 2 * k] for k in range(count)]}))
        return
    durations, sms = [], set()
    if role == "alone":
        end = time.time() + 0.02
    else:
        end = time.time() + 0.4
    begin, launches = time.time(), 0
    while time.time() < end:
        if role.startswith("read"):
            card.launch(read, [264, 1, 1], [1024, 1, 1], 0, [big, result, out, i(1 << 26), i(1)])
            blocks = 264
        else:
            card.launch(compute, [1056, 1, 1], [256, 1, 1], 0, [result, out, i(160)])
            blocks = 1056
        w = words(3 * blocks)
        launches += 1
        durations.append((max(w[1::3]) - min(w[0::3])) / 1000)
        sms |= set(w[2::3])
    per_second = launches / (time.time() - begin)
    print(json.dumps({"launches_per_s": per_second, "median_us": statistics.median(durations), "least_us": min(durations), "most_us": max(durations), "sms": len(sms)}))


def together(cubins, roles, environment=None):
    at = time.time() + 4
    processes = [
        subprocess.Popen([sys.executable, __file__, cubins, "child", role, str(at)], stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {}), **(extra or {})})
        for role, extra in roles
    ]
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    return [json.loads(text) if text.strip() else {"error": process.returncode} for text, process in zip(outputs, processes)]


def main():
    cubins, target = sys.argv[1:3]
    results = {}
    results["compute alone"] = together(cubins, [("compute", None)])
    results["stops alone"] = together(cubins, [("stops", None)])
    results["stops, two processes"] = together(cubins, [("stops", None)] * 2)
    results["stops, three processes"] = together(cubins, [("stops", None)] * 3)
    results["compute, two processes"] = together(cubins, [("compute", None)] * 2)
    results["compute and read, two processes"] = together(cubins, [("compute", None), ("read", None)])
    folder = tempfile.mkdtemp()
    mps = {"CUDA_MPS_PIPE_DIRECTORY": folder + "/pipe", "CUDA_MPS_LOG_DIRECTORY": folder + "/log"}
    os.makedirs(folder + "/pipe")
    os.makedirs(folder + "/log")
    started = subprocess.run(["nvidia-cuda-mps-control", "-d"], env={**os.environ, **mps}, capture_output=True, text=True)
    results["mps start"] = {"code": started.returncode, "said": started.stdout + started.stderr}
    try:
        if started.returncode == 0:
            results["mps: compute alone"] = together(cubins, [("compute", None)], mps)
            results["mps: stops, two processes"] = together(cubins, [("stops", None)] * 2, mps)
            results["mps: compute, two processes"] = together(cubins, [("compute", None)] * 2, mps)
            results["mps: compute and read, two processes"] = together(cubins, [("compute", None), ("read", None)], mps)
            for percent in ("75", "50", "25", "10", "1"):
                results[f"mps: compute alone, {percent} % of the threads"] = together(cubins, [("compute", {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": percent})], mps)
            half = {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "50"}
            results["mps: compute, two processes, 50 % each"] = together(cubins, [("compute", half)] * 2, mps)
            results["mps: compute and read, two processes, 50 % each"] = together(cubins, [("compute", half), ("read", half)], mps)
            quarter = {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "25"}
            results["mps: compute, two processes, 25 % and 100 %"] = together(cubins, [("compute", quarter), ("compute", None)], mps)
    finally:
        ended = subprocess.run(["nvidia-cuda-mps-control"], input="quit\n", env={**os.environ, **mps}, capture_output=True, text=True, timeout=30)
        results["mps end"] = {"code": ended.returncode, "said": ended.stdout + ended.stderr}
        json.dump(results, open(target, "w"), indent=1)
    for name, result in results.items():
        print(name, json.dumps(result)[:300])


if len(sys.argv) > 3 and sys.argv[2] == "child":
    child(sys.argv[1], sys.argv[3], float(sys.argv[4]))
else:
    main()
