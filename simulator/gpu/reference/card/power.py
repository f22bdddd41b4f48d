"""Power, energy and clocks while the card does one thing for a while.

usage: power.py CUBINS STATES.csv SAMPLES.csv
"""
import ctypes, statistics, sys, threading, time
import pynvml as nvml
from driver import Card, check

SECONDS = 1.8
SETTLE = 0.5
INSTANT_POWER = 186


class Sampler(threading.Thread):
    def __init__(self, handle):
        super().__init__(daemon=True)
        self.handle, self.rows, self.on, self.state = handle, [], True, "start"

    def run(self):
        while self.on:
            self.rows.append((time.perf_counter(), self.state, *sample(self.handle)))
            time.sleep(0.008)


def sample(handle):
    instant = nvml.nvmlDeviceGetFieldValues(handle, [INSTANT_POWER])[0].value.uiVal / 1000
    utilization = nvml.nvmlDeviceGetUtilizationRates(handle)
    return (
        instant, nvml.nvmlDeviceGetPowerUsage(handle) / 1000, nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM),
        nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM), utilization.gpu, utilization.memory,
        nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
        nvml.nvmlDeviceGetCurrentClocksEventReasons(handle) if hasattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons") else nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle),
    )


def main():
    cubins, states_path, samples_path = sys.argv[1:4]
    nvml.nvmlInit()
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    limit = nvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000
    energy = lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle)
    sampler = Sampler(handle)
    sampler.start()
    states = open(states_path, "w")
    states.write("state,sms,blocks,threads,seconds,launches,mean_power_w,energy_j,energy_power_w,sm_clock_mhz,memory_clock_mhz,gpu_util_pct,memory_util_pct,temperature_c,clock_event_reasons,power_limit_w,warp_instructions_per_s,bytes_per_s\n")

    def measured(name, begin, launches, seconds, e, shape, warp_instructions, moved):
        rows = [row for row in sampler.rows if row[0] >= begin]
        mean = lambda column: statistics.mean(row[column] for row in rows)
        reasons = 0
        for row in rows:
            reasons |= row[9]
        count = launches / seconds
        states.write(f"{name},{shape[0]},{shape[1]},{shape[2]},{seconds:.3f},{launches},{mean(2):.1f},{e / 1000:.2f},{e / 1000 / seconds:.1f},{mean(4):.0f},{mean(5):.0f},{mean(6):.0f},{mean(7):.0f},{mean(8):.0f},0x{reasons:x},{limit:.0f},{warp_instructions * count:.5g},{moved * count:.5g}\n")
        states.flush()

    def rest(name, seconds=2.0):
        sampler.state = name
        time.sleep(SETTLE)
        begin, e = time.perf_counter(), energy()
        time.sleep(seconds)
        measured(name, begin, 0, time.perf_counter() - begin, energy() - e, (0, 0, 0), 0, 0)

    rest("idle without a context")
    card = Card(cubins)
    rest("idle with a context", 3.0)
    big = card.allocate(8 << 30)
    card.contents({"count": 2 << 30, "type": "f32", "fill": {"seed": 3, "scale": 1, "shift": 0}}, big)
    check("cuStreamSynchronize", card.stream)
    i, u64 = ctypes.c_int, ctypes.c_uint64

    def load(name, kernel, blocks, threads, args, warp_instructions=0, moved=0, sms=None):
        """Launches one after another, two in flight, for SECONDS."""
        function = card.function("power", kernel)
        sampler.state = name
        events = [card.event(), card.event()]
        end = time.perf_counter() + SECONDS
        begin, e, launches, first = None, 0, 0, time.perf_counter()
        while time.perf_counter() < end:
            slot = launches % 2
            card.launch(function, [blocks, 1, 1], [threads, 1, 1], 0, args)
            check("cuEventRecord", events[slot], card.stream)
            launches += 1
            if launches > 1:
                check("cuEventSynchronize", events[slot ^ 1])
            if begin is None and time.perf_counter() - first > SETTLE:
                begin, e, counted = time.perf_counter(), energy(), launches
        check("cuStreamSynchronize", card.stream)
        finish = time.perf_counter()
        measured(name, begin, launches - counted, finish - begin, energy() - e, (min(blocks, 132) if sms is None else sms, blocks, threads), warp_instructions, moved)

    def units(name, kernel, blocks, threads, rounds, steps=32):
        load(f"{name} {blocks}x{threads}", kernel, blocks, threads, [big, i(rounds)], blocks * threads / 32 * rounds * steps)

    load("asleep 264x1024", "asleep", 264, 1024, [u64(20_000_000)])
    load("asleep 132x32", "asleep", 132, 32, [u64(20_000_000)])
    for blocks in (264, 132, 66, 33, 8, 1):
        units("fma_f32", "fma_f32", blocks, 1024, 40_000)
    for threads in (512, 128, 32):
        units("fma_f32", "fma_f32", 132, threads, 100_000)
    units("fma_f32_settled", "fma_f32_settled", 264, 1024, 40_000)
    units("fma_f64", "fma_f64", 264, 1024, 20_000)
    units("fma_f64", "fma_f64", 66, 1024, 40_000)
    units("fma_f16x2", "fma_f16x2", 264, 1024, 20_000)
    units("imad", "imad", 264, 1024, 20_000)
    units("lop_shift", "lop_shift", 264, 1024, 12_000, 96)
    units("popc_add", "popc_add", 264, 1024, 8_000, 64)
    units("ex2", "ex2", 264, 1024, 5_000, 32)
    units("shared_load", "shared_load", 264, 1024, 10_000)
    units("fma_mix", "fma_mix", 264, 1024, 10_000, 27)
    units("mma_f16", "mma_f16", 264, 1024, 20_000, 4)
    units("mma_f16", "mma_f16", 66, 1024, 40_000, 4)
    load("l1_load 264x1024", "l1_load", 264, 1024, [big, big, i(10_000)], 264 * 32 * 10_000 * 8, 264 * 1024 * 16 * 10_000 * 8)
    mib = 1 << 20
    for name, n, rounds in (("read L2 16 MB", mib, 4000), ("read DRAM", 384 * mib, 3)):
        for blocks in (264, 132, 66, 33, 8, 1) if n > mib else (264, 66):
            some = rounds if blocks > 33 else max(1, rounds // 8)
            load(f"{name} {blocks}x1024", "read", blocks, 1024, [big, big, u64(n), i(some)], n / 32 * some, n * 16 * some)
    load("write DRAM 264x1024", "write", 264, 1024, [big, u64(384 * mib), i(3)], 384 * mib / 32 * 3, 384 * mib * 48)
    half = ctypes.c_uint64(big.value + (4 << 30))
    load("copy DRAM 264x1024", "copy", 264, 1024, [big, half, u64(240 * mib), i(3)], 240 * mib / 16 * 3, 240 * mib * 96)
    load("atomics spread 264x1024", "atomics", 264, 1024, [big, ctypes.c_uint32(mib - 1), i(2000)], 264 * 32 * 2000)
    load("atomics on one address 264x1024", "atomics", 264, 1024, [big, ctypes.c_uint32(0), i(2000)], 264 * 32 * 2000)
    load("fma_f32 and read DRAM 264x1024", "fma_and_read", 264, 1024, [big, big, u64(384 * mib), i(3), i(40_000)], 132 * 32 * 40_000 * 32, 384 * mib * 48)
    card.contents({"count": 2 << 30, "type": "f32"}, big)
    load("read DRAM zeros 264x1024", "read", 264, 1024, [big, big, u64(384 * mib), i(3)], 384 * mib / 32 * 3, 384 * mib * 48)
    # From rest to load to rest, to see how clocks and power follow.
    sampler.state = "rest before"
    time.sleep(4)
    units("fma_f32 after rest", "fma_f32", 264, 1024, 40_000)
    rest("idle just after load", 1.0)
    rest("idle 2 s after load", 3.0)
    sampler.on = False
    sampler.join()
    with open(samples_path, "w") as file:
        file.write("t_s,state,power_instant_w,power_average_w,sm_clock_mhz,memory_clock_mhz,gpu_util_pct,memory_util_pct,temperature_c,clock_event_reasons\n")
        for row in sampler.rows:
            file.write(f"{row[0] - sampler.rows[0][0]:.3f},{row[1]},{row[2]:.1f},{row[3]:.1f},{','.join(map(str, row[4:9]))},0x{row[9]:x}\n")


main()
