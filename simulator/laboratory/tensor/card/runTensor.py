"""Runs a plan of writePlan.ts on the first card through the driver's library alone: no assembler, no package of Python's is needed.

usage: runTensor.py PLAN_DIR OUT_DIR [--only forms,timing,programs] [--seconds 400] [--names PATTERN]
       [--chunks "FORM:CHUNK;…"] [--fake COMMAND]

OUT_DIR gets results.json, outputs0.bin … (at most 14 MiB each) and programs.json. Each part runs in a child; a fault ends the child, is
written down, and what comes next goes on in a fresh one. With --chunks only those chunks of random tiles are run, and come back whole. With --fake a program (fakeCard.ts) answers in the card's
place.
"""
import base64, ctypes, hashlib, json, os, re, shutil, subprocess, sys, tempfile, time, zlib

PART_BYTES = 14 << 20
INPUT_TILES = 64


class Driver:
    def __init__(self, folder):
        self.folder = folder
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.check("cuInit", 0)
        self.device = ctypes.c_int()
        self.check("cuDeviceGet", ctypes.byref(self.device), 0)
        context = ctypes.c_void_p()
        self.check("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self.check("cuCtxSetCurrent", context)
        self.modules, self.kernels = {}, {}

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

    def processors(self):
        value = ctypes.c_int()
        self.check("cuDeviceGetAttribute", ctypes.byref(value), 16, self.device)
        return value.value

    def kernel(self, module, name):
        if module not in self.modules:
            handle = ctypes.c_void_p()
            path = os.path.join(self.folder, module + ".cubin")
            self.check("cuModuleLoad", ctypes.byref(handle), path.encode())
            self.modules[module] = handle
        if (module, name) not in self.kernels:
            kernel = ctypes.c_void_p()
            self.check("cuModuleGetFunction", ctypes.byref(kernel), self.modules[module], name.encode())
            self.kernels[module, name] = kernel
        return self.kernels[module, name]

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.check("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 16)))
        return address.value

    def free(self, address):
        self.check("cuMemFree_v2", ctypes.c_uint64(address))

    def upload(self, address, data):
        if data:
            self.check("cuMemcpyHtoD_v2", ctypes.c_uint64(address), bytes(data), ctypes.c_size_t(len(data)))

    def download(self, address, size):
        data = (ctypes.c_char * size)()
        self.check("cuMemcpyDtoH_v2", data, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return bytes(data)

    def clear(self, address, size):
        self.check("cuMemsetD8_v2", ctypes.c_uint64(address), ctypes.c_ubyte(0), ctypes.c_size_t(size))

    def launch(self, kernel, grid, block, shared, values, cooperative=False):
        kept = [ctypes.create_string_buffer(bytes(value), len(value)) for value in values]
        pointers = (ctypes.c_void_p * len(kept))(*[ctypes.addressof(value) for value in kept])
        shape = [ctypes.c_uint(extent) for extent in list(grid) + list(block) + [shared]]
        if cooperative:
            self.check("cuLaunchCooperativeKernel", kernel, *shape, None, pointers)
        else:
            self.check("cuLaunchKernel", kernel, *shape, None, pointers, None)

    def wait(self):
        self.check("cuCtxSynchronize")


def word(value):
    return (value & 0xFFFFFFFF).to_bytes(4, "little")


def long(value):
    return value.to_bytes(8, "little")


class Forms:
    """Inputs of a form are made on the card by the generator; crafted ones come from the plan."""

    def __init__(self, driver, plan, data):
        self.driver, self.plan, self.data = driver, plan, data
        most = max(form["tiles"] * form["inputWords"] for form in plan["forms"]) * 4
        self.input = driver.allocate(most)
        self.output = driver.allocate(max(form["tiles"] * form["outputWords"] for form in plan["forms"]) * 4)
        self.maps = driver.allocate(1 << 20)
        self.modes = driver.allocate(1 << 12)

    def fill(self, form, first, tiles):
        for area in form["areas"]:
            if area["map"] >= 0:
                size = 2 * area["units"] * area["slots"]
                self.driver.upload(self.maps, self.data[area["map"] : area["map"] + size])
            self.driver.upload(self.modes, b"".join(word(value) for mode in area["modes"] for value in mode))
            names = "units slots elementBits kind operand".split()
            fields = [tiles, first, form["inputWords"], area["offset"]] + [area[name] for name in names]
            fields += [form["seed"], area["pairStride"], area["pairExtent"], self.plan["chunkTiles"], self.plan["modes"]]
            fields += [area[name] for name in "exponentBits fractionBits paddingBits hasInfinity bias".split()]
            kernel = self.driver.kernel("generator", "fill")
            grid = [(tiles * area["units"] + 255) // 256, 1, 1]
            values = [long(self.input), long(self.maps), long(self.modes), b"".join(word(field) for field in fields)]
            self.driver.launch(kernel, grid, [256, 1, 1], 0, values)

    def compute(self, form, tiles):
        size = tiles * form["outputWords"] * 4
        self.driver.clear(self.output, size)
        kernel = self.driver.kernel(form["module"], form["kernel"])
        per_block = form["tilesPerBlock"]
        grid = [(tiles + per_block - 1) // per_block, 1, 1]
        values = [long(self.input), long(self.output), word(tiles)]
        self.driver.launch(kernel, grid, [form["threads"], 1, 1], 0, values)
        self.driver.wait()
        return self.driver.download(self.output, size)

    def crafted(self, form):
        crafted = form["crafted"]
        if crafted["tiles"] == 0:
            return b""
        self.driver.upload(self.input, zlib.decompress(self.data[crafted["at"] : crafted["at"] + crafted["bytes"]]))
        return self.compute(form, crafted["tiles"])

    def run(self, form):
        kept = self.crafted(form)
        self.fill(form, 0, form["tiles"])
        self.driver.wait()
        inputs = self.driver.download(self.input, min(form["tiles"], INPUT_TILES) * form["inputWords"] * 4)
        output = self.compute(form, form["tiles"])
        tile = form["outputWords"] * 4
        chunk = self.plan["chunkTiles"] * tile
        digests = [digest(output[at : at + chunk]) for at in range(0, len(output), chunk)]
        kept += b"".join(output[at * tile : (at + 1) * tile] for at in form["samples"])
        return {"input": digest(inputs), "chunks": "".join(digests)}, kept

    def run_chunk(self, form, chunk):
        tiles = self.plan["chunkTiles"]
        self.fill(form, chunk * tiles, tiles)
        return {"chunk": chunk}, self.compute(form, tiles)


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def time_launch(driver, entry):
    grid = [driver.processors() if entry["grid"] == 0 else entry["grid"], 1, 1]
    words = grid[0] * entry["block"] // 32
    output = driver.allocate(words * 4)
    kernel = driver.kernel("timing", entry["kernel"])
    rounds = []
    for _ in range(4):
        driver.launch(kernel, grid, [entry["block"], 1, 1], 0, [long(output), word(entry["iterations"])])
        driver.wait()
        data = driver.download(output, words * 4)
        cycles = sorted(int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4))
        rounds.append([cycles[0], cycles[len(cycles) // 2], cycles[-1]])
    driver.free(output)
    # The first round warms instructions and clocks.
    return min(rounds[1:], key=lambda each: each[2])


def run_program(driver, plan):
    module = "program_" + plan["ptx"].replace(".ptx", "")
    addresses, sizes = {}, {}
    for name, text in plan["buffers"].items():
        data = base64.b64decode(text)
        addresses[name], sizes[name] = driver.allocate(len(data)), len(data)
        driver.upload(addresses[name], data)
    for launch in plan["launches"]:
        values = []
        for argument in launch["args"]:
            data = bytearray(base64.b64decode(argument["bytes"]))
            for pointer in argument["pointers"]:
                data[pointer["offset"] : pointer["offset"] + 8] = long(addresses[pointer["buffer"]])
            values.append(data)
        kernel = driver.kernel(module, launch["kernel"])
        if launch["dynamicSharedBytes"] > 48 << 10:
            driver.check("cuFuncSetAttribute", kernel, 8, ctypes.c_int(launch["dynamicSharedBytes"]))
        driver.launch(kernel, launch["grid"], launch["block"], launch["dynamicSharedBytes"], values, launch["cooperative"])
    driver.wait()
    results = {}
    for name, address in addresses.items():
        results[name] = base64.b64encode(driver.download(address, sizes[name])).decode()
        driver.free(address)
    return results


def jobs_of(plan, programs, only, chunks):
    by_name = {form["name"]: form for form in plan["forms"]}
    if chunks:
        wanted = [text.rsplit(":", 1) for text in chunks.split(";")]
        return [("chunk", by_name[name], int(chunk)) for name, chunk in wanted]
    jobs = []
    if "forms" in only:
        jobs += [("form", form, 0) for form in plan["forms"]]
    if "timing" in only:
        jobs += [("timing", entry, 0) for entry in plan["timing"]]
    if "programs" in only:
        jobs += [("program", program, 0) for program in programs]
    return jobs


def open_driver(folder, fake):
    if not fake:
        return Driver(folder)
    from fakeDriver import FakeDriver

    return FakeDriver(fake)


def child(folder, plan, jobs, first, spool, until, fake):
    """Runs jobs from one on until one fails: a line of JSON each, and bytes beside."""
    driver = open_driver(folder, fake)
    with open(os.path.join(spool, "card"), "w") as file:
        file.write(driver.name())
    forms = Forms(driver, plan, open(os.path.join(folder, "plan.bin"), "rb").read())
    with open(os.path.join(spool, "lines"), "a") as lines, open(os.path.join(spool, "bytes"), "ab") as raw:

        def note(entry):
            lines.write(json.dumps(entry) + "\n")
            lines.flush()

        for index in range(first, len(jobs)):
            kind, what, extra = jobs[index]
            entry = {"index": index, "kind": kind, "name": what["name"]}
            if time.monotonic() > until:
                note({**entry, "error": "no time left"})
                continue
            try:
                if kind == "timing":
                    entry["cycles"] = time_launch(driver, what)
                elif kind == "program":
                    entry["buffers"] = run_program(driver, what)
                else:
                    told, kept = forms.run(what) if kind == "form" else forms.run_chunk(what, extra)
                    packed = zlib.compress(kept, 6)
                    raw.write(packed)
                    raw.flush()
                    entry.update(told, bytes=len(packed))
                note(entry)
            except RuntimeError as error:
                note({**entry, "error": str(error)})
                os._exit(1)
    os._exit(0)


def main():
    arguments = sys.argv[1:]
    options = {"--only": "forms,timing,programs", "--seconds": "400", "--chunks": "", "--fake": "", "--names": ""}
    while len(arguments) > 2:
        options[arguments[-2]] = arguments[-1]
        arguments = arguments[:-2]
    folder, target = arguments
    began = time.monotonic()
    plan = json.load(open(os.path.join(folder, "plan.json")))
    programs = json.load(open(os.path.join(folder, "programs.json")))
    jobs = jobs_of(plan, programs, options["--only"].split(","), options["--chunks"])
    jobs = [job for job in jobs if re.search(options["--names"], job[1]["name"])]
    os.makedirs(target, exist_ok=True)
    with tempfile.TemporaryDirectory() as spool:
        first = 0
        while first < len(jobs):
            pid = os.fork()
            if pid == 0:
                try:
                    child(folder, plan, jobs, first, spool, began + float(options["--seconds"]), options["--fake"])
                except BaseException as error:
                    print(f"from job {first} on: {error}", file=sys.stderr)
                    os._exit(2)
            _, status = os.waitpid(pid, 0)
            entries = read_lines(spool)
            done = max((entry["index"] for entry in entries), default=first - 1) + 1
            if status == 0:
                break
            if done == first:
                kind, what, _ = jobs[first]
                with open(os.path.join(spool, "lines"), "a") as file:
                    entry = {"index": first, "kind": kind, "name": what["name"], "error": f"the process ended with {status}"}
                    file.write(json.dumps(entry) + "\n")
                done = first + 1
            first = done
        keep(spool, target, began)


def read_lines(spool):
    path = os.path.join(spool, "lines")
    return [json.loads(line) for line in open(path)] if os.path.exists(path) else []


def keep(spool, target, began):
    entries = read_lines(spool)
    raw = open(os.path.join(spool, "bytes"), "rb").read() if os.path.exists(os.path.join(spool, "bytes")) else b""
    at, part, parts = 0, 0, [b""]
    for entry in entries:
        if "bytes" not in entry:
            continue
        if len(parts[part]) + entry["bytes"] > PART_BYTES:
            part += 1
            parts.append(b"")
        entry["file"], entry["at"] = part, len(parts[part])
        parts[part] += raw[at : at + entry["bytes"]]
        at += entry["bytes"]
    for index, data in enumerate(parts):
        with open(os.path.join(target, f"outputs{index}.bin"), "wb") as file:
            file.write(data)
    card_path = os.path.join(spool, "card")
    card = open(card_path).read() if os.path.exists(card_path) else ""
    driver = ""
    if shutil.which("nvidia-smi"):
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        driver = subprocess.run(query, capture_output=True, text=True).stdout.strip()
    about = {"card": card, "driver": driver, "ptxas": "release 13.0, V13.0.88"}
    good = {e["name"]: {"buffers": e["buffers"], "printed": ""} for e in entries if "buffers" in e}
    with open(os.path.join(target, "programs.json"), "w") as file:
        json.dump({**about, "programs": good}, file)
    told = [entry for entry in entries if "buffers" not in entry]
    with open(os.path.join(target, "results.json"), "w") as file:
        json.dump({**about, "entries": told}, file)
    for entry in entries:
        if "error" in entry:
            print(f"{entry['kind']} {entry['name']}: {entry['error']}")
    failed = sum("error" in entry for entry in entries)
    size = sum(len(data) for data in parts)
    print(f"{len(entries) - failed} of {len(entries)} jobs on {card or 'no card'}, {size} bytes, {time.monotonic() - began:.0f} s")


main()
