"""Runs the programs of a plan (writePlan.ts) on the first card, assembled by ptxas, through the driver API.

usage: runOnCard.py PLAN.json ROOM RESULTS.json

Each program runs in a context of its own process group: a fault ends the child, is reported, and the next one goes on.
"""
import base64, ctypes, json, os, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

STACK_BYTES = 16384


def assemble(room, ptx, folder):
    cubin = os.path.join(folder, ptx.replace("/", "_") + ".cubin")
    done = subprocess.run(["ptxas", "-arch=sm_90", os.path.join(room, ptx), "-o", cubin], capture_output=True, text=True)
    return cubin if done.returncode == 0 else "error: " + done.stderr


class Driver:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.check("cuInit", 0)
        self.device = ctypes.c_int()
        self.check("cuDeviceGet", ctypes.byref(self.device), 0)
        context = ctypes.c_void_p()
        self.check("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self.check("cuCtxSetCurrent", context)
        self.check("cuCtxSetLimit", 0, ctypes.c_size_t(STACK_BYTES))

    def check(self, name, *args):
        code = getattr(self.cuda, name)(*args)
        if code != 0:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{name}: {text.value.decode() if text.value else code}")

    def name(self):
        text = ctypes.create_string_buffer(100)
        self.check("cuDeviceGetName", text, 100, self.device)
        return text.value.decode()

    def run(self, plan, cubin):
        module = ctypes.c_void_p()
        self.check("cuModuleLoad", ctypes.byref(module), cubin.encode())
        addresses, sizes = {}, {}
        for name, text in plan["buffers"].items():
            data = base64.b64decode(text)
            address = ctypes.c_uint64()
            self.check("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(len(data), 1)))
            self.check("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
            addresses[name], sizes[name] = address.value, len(data)
        for launch in plan["launches"]:
            self.launch(module, launch, addresses)
        self.check("cuCtxSynchronize")
        results = {}
        for name, address in addresses.items():
            data = ctypes.create_string_buffer(sizes[name])
            self.check("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(sizes[name]))
            results[name] = base64.b64encode(data.raw).decode()
            self.check("cuMemFree_v2", ctypes.c_uint64(address))
        self.check("cuModuleUnload", module)
        return results

    def launch(self, module, launch, addresses):
        kernel = ctypes.c_void_p()
        self.check("cuModuleGetFunction", ctypes.byref(kernel), module, launch["kernel"].encode())
        values = []
        for argument in launch["args"]:
            data = bytearray(base64.b64decode(argument["bytes"]))
            for pointer in argument["pointers"]:
                data[pointer["offset"] : pointer["offset"] + 8] = addresses[pointer["buffer"]].to_bytes(8, "little")
            values.append(ctypes.create_string_buffer(bytes(data), len(data)))
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        shape = [ctypes.c_uint(extent) for extent in launch["grid"] + launch["block"]]
        shape.append(ctypes.c_uint(launch["dynamicSharedBytes"]))
        if "cluster" in launch:
            self.launch_in_clusters(kernel, shape, launch["cluster"], pointers)
        elif launch["cooperative"]:
            self.check("cuLaunchCooperativeKernel", kernel, *shape, None, pointers)
        else:
            self.check("cuLaunchKernel", kernel, *shape, None, pointers, None)

    def launch_in_clusters(self, kernel, shape, cluster, pointers):
        class Attribute(ctypes.Structure):
            _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_uint * 16)]

        class Config(ctypes.Structure):
            _fields_ = [("shape", ctypes.c_uint * 7), ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]

        # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        attribute = Attribute(4, b"", (ctypes.c_uint * 16)(*cluster))
        config = Config((ctypes.c_uint * 7)(*[each.value for each in shape]), None, ctypes.addressof(attribute), 1)
        self.check("cuLaunchKernelEx", ctypes.byref(config), kernel, pointers, None)


def child(plans, cubins, first, folder):
    """Runs from a plan on until one fails; what printf writes goes to a file."""
    driver = Driver()
    open(os.path.join(folder, "card"), "w").write(driver.name())
    for plan in plans[first:]:
        if cubins[plan["ptx"]].startswith("error"):
            outcome = {"error": cubins[plan["ptx"]]}
        else:
            sys.stdout.flush()
            kept = os.dup(1)
            with tempfile.TemporaryFile() as printed:
                os.dup2(printed.fileno(), 1)
                try:
                    outcome = {"buffers": driver.run(plan, cubins[plan["ptx"]])}
                except RuntimeError as error:
                    outcome = {"error": str(error)}
                ctypes.CDLL(None).fflush(None)
                os.dup2(kept, 1)
                printed.seek(0)
                outcome["printed"] = printed.read().decode()
        with open(os.path.join(folder, plan["name"] + ".json"), "w") as file:
            json.dump(outcome, file)
        if "error" in outcome and "buffers" not in outcome and not cubins[plan["ptx"]].startswith("error"):
            os._exit(1)
    os._exit(0)


def main():
    plan_path, room, target = sys.argv[1:4]
    plans = json.load(open(plan_path))
    with tempfile.TemporaryDirectory() as folder:
        with ThreadPoolExecutor(16) as pool:
            paths = [plan["ptx"] for plan in plans]
            cubins = dict(zip(paths, pool.map(lambda path: assemble(room, path, folder), paths)))
        done = lambda plan: os.path.exists(os.path.join(folder, plan["name"] + ".json"))
        while True:
            first = next((index for index, plan in enumerate(plans) if not done(plan)), None)
            if first is None:
                break
            pid = os.fork()
            if pid == 0:
                child(plans, cubins, first, folder)
            _, status = os.waitpid(pid, 0)
            if status != 0 and not done(plans[first]):
                with open(os.path.join(folder, plans[first]["name"] + ".json"), "w") as file:
                    json.dump({"error": f"the process ended with {status}"}, file)
        programs = {plan["name"]: json.load(open(os.path.join(folder, plan["name"] + ".json"))) for plan in plans}
        card = open(os.path.join(folder, "card")).read()
    for name, outcome in programs.items():
        if "error" in outcome:
            print(f"{name}: {outcome['error']}")
    ptxas = subprocess.run(["ptxas", "--version"], capture_output=True, text=True).stdout.split("\n")[3].strip()
    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True
    ).stdout.strip()
    good = {name: outcome for name, outcome in programs.items() if "error" not in outcome}
    with open(target, "w") as file:
        json.dump({"card": card, "driver": driver, "ptxas": ptxas, "programs": good}, file)
    print(f"{len(good)} of {len(programs)} programs ran on {card}, driver {driver}, {ptxas}")


main()
