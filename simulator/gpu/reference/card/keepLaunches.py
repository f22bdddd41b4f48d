"""Joins what measureLaunches.py and Nsight Compute left of the launch specs of a folder into one CSV.

usage: keepLaunches.py RESULTS LAUNCHES TARGET.csv
RESULTS holds plain.csv, time.csv, cold.csv and timeOrder.json, counters.csv and counterOrder.json.
"""
import csv, json, os, statistics, sys

COUNTERS = {
    "sm_cycles": "sm__cycles_elapsed.max",
    "warp_instructions": "smsp__inst_executed.sum",
    "thread_instructions": "smsp__thread_inst_executed.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "l2_bytes": "lts__t_bytes.sum",
    "l2_hit_pct": "lts__t_sector_hit_rate.pct",
    "l1_hit_pct": "l1tex__t_sector_hit_rate.pct",
    "lsu_wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
    "warps_active_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "issue_active_pct": "smsp__issue_active.avg.pct_of_peak_sustained_active",
}


def profiled(folder, name, order):
    """Rows of Nsight Compute by launch spec."""
    lines = [line for line in open(os.path.join(folder, name + ".csv")) if line.startswith('"')]
    rows = [row for row in csv.DictReader(lines) if row["ID"] != ""]
    order = json.load(open(os.path.join(folder, order + "Order.json")))
    assert len(rows) == len(order), (len(rows), len(order))
    found = {}
    for spec, row in zip(order, rows):
        found.setdefault(spec, []).append(row)
    return found


def durations(rows):
    return [float(row["gpu__time_duration.sum"].replace(",", "")) / 1000 for row in rows]


def number(text):
    value = float(text.replace(",", ""))
    return str(int(value)) if value == int(value) else f"{value:.2f}"


def main():
    results, launches, target = sys.argv[1:4]
    plain = {row["launch"]: row for row in csv.DictReader(open(os.path.join(results, "plain.csv")))}
    times, cold = profiled(results, "time", "time"), profiled(results, "cold", "time")
    counters = profiled(results, "counters", "counter")
    with open(target, "w") as file:
        head = "launch,grid,block,dynamic_shared_bytes,registers,static_shared_bytes,local_bytes,blocks_per_sm,"
        file.write(head + "duration_us,duration_spread_pct,cold_duration_us,back_to_back_us,back_to_back_spread_pct,lone_event_us," + ",".join(COUNTERS) + "\n")
        for name in sorted(times):
            spec = json.load(open(os.path.join(launches, name + ".json")))
            assert all(row["Kernel Name"].split("(")[0] == spec["kernel"] for row in times[name] + counters[name])
            warm = durations(times[name])
            median = statistics.median(warm)
            row, p = counters[name][0], plain[name]
            cells = [name, "x".join(map(str, spec["grid"])), "x".join(map(str, spec["block"])), spec["dynamicSharedBytes"]]
            cells += [p[key] for key in ("registers", "static_shared_bytes", "local_bytes", "blocks_per_sm")]
            cells += [f"{median:.3f}", f"{(max(warm) - min(warm)) / median * 100:.1f}", f"{statistics.median(durations(cold[name])):.3f}"]
            cells += [p[key] for key in ("back_to_back_us", "back_to_back_spread_pct", "lone_event_us")]
            cells += [number(row[metric]) for metric in COUNTERS.values()]
            file.write(",".join(map(str, cells)) + "\n")


main()
