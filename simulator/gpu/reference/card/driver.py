"""CUDA's driver API by ctypes, as far as the measurements here need it."""
import ctypes, json, os

os.environ.setdefault("CUDA_MODULE_LOADING", "EAGER")

SIZES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8, "i16": 2, "u16": 2, "i8": 1, "u8": 1}
NUMBERS = {
    "f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32, "u32": ctypes.c_uint32,
    "i64": ctypes.c_int64, "u64": ctypes.c_uint64,
}
cuda = ctypes.CDLL("libcuda.so.1")


def check(name, *args):
    code = getattr(cuda, name)(*args)
    if code != 0:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError(f"{name}: {text.value.decode() if text.value else code}")


class Card:
    def __init__(self, cubins):
        self.cubins = cubins
        self.modules = {}
        check("cuInit", 0)
        self.device = ctypes.c_int()
        check("cuDeviceGet", ctypes.byref(self.device), 0)
        context = ctypes.c_void_p()
        check("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        check("cuCtxSetCurrent", context)
        self.stream = ctypes.c_void_p()
        check("cuStreamCreate", ctypes.byref(self.stream), 1)

    def module(self, name):
        if name not in self.modules:
            module = ctypes.c_void_p()
            check("cuModuleLoad", ctypes.byref(module), os.path.join(self.cubins, name + ".cubin").encode())
            self.modules[name] = module
        return self.modules[name]

    def function(self, module, kernel):
        function = ctypes.c_void_p()
        check("cuModuleGetFunction", ctypes.byref(function), self.module(module), kernel.encode())
        return function

    def launch(self, function, grid, block, shared, args, stream=None, cooperative=False):
        """`args`: ctypes values."""
        pointers = (ctypes.c_void_p * max(len(args), 1))(*[ctypes.addressof(value) for value in args])
        shape = [ctypes.c_uint(extent) for extent in list(grid) + list(block)]
        if cooperative:
            check("cuLaunchCooperativeKernel", function, *shape, ctypes.c_uint(shared), stream or self.stream, pointers)
        else:
            check("cuLaunchKernel", function, *shape, ctypes.c_uint(shared), stream or self.stream, pointers, None)

    def allocate(self, size):
        address = ctypes.c_uint64()
        check("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 256)))
        return address

    def contents(self, spec, address):
        """Fills memory as a launch spec says."""
        count, kind = spec["count"], spec["type"]
        check("cuMemsetD8Async", address, ctypes.c_ubyte(0), ctypes.c_size_t(count * SIZES[kind]), self.stream)
        rule = spec.get("fill") or spec.get("generate")
        if rule is None:
            assert "values" not in spec
            return
        tail = [ctypes.c_int64(count), ctypes.c_uint32(rule["seed"])]
        if "fill" in spec:
            tail += [ctypes.c_float(rule["scale"]), ctypes.c_float(rule["shift"])]
        else:
            assert rule["rule"] == "mix.mod"
            tail += [ctypes.c_uint32(rule["mod"]), ctypes.c_int64(int(rule.get("plus", 0)))]
        function = self.function("generate", ("fill_" if "fill" in spec else "mod_") + kind)
        self.launch(function, [1056, 1, 1], [256, 1, 1], 0, [address] + tail)

    def prepare(self, spec):
        """Arguments of a launch spec in memory: (function, values, addresses to free)."""
        name = os.path.basename(spec["ptx"]).removesuffix(".ptx")
        function = self.function(name, spec["kernel"])
        if spec["dynamicSharedBytes"] > 48 * 1024:
            check("cuFuncSetAttribute", function, 8, spec["dynamicSharedBytes"])
        values, owned = [], []
        for argument in spec["args"]:
            (kind, value), = argument.items()
            if kind == "buffer":
                address = self.allocate(value["count"] * SIZES[value["type"]])
                self.contents(value, address)
                values.append(address)
                owned.append(address)
            else:
                values.append(NUMBERS[kind](value if kind[0] == "f" else int(value)))
        for symbol, value in spec.get("symbols", {}).items():
            address, size = ctypes.c_uint64(), ctypes.c_size_t()
            check("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), self.module(name), symbol.encode())
            self.contents(value["array"], address)
        check("cuStreamSynchronize", self.stream)
        return function, values, owned

    def free(self, owned):
        for address in owned:
            check("cuMemFree_v2", address)

    def attribute(self, function, which):
        value = ctypes.c_int()
        check("cuFuncGetAttribute", ctypes.byref(value), which, function)
        return value.value

    def blocks_per_sm(self, function, threads, shared):
        value = ctypes.c_int()
        check("cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.byref(value), function, threads, ctypes.c_size_t(shared))
        return value.value

    def event(self):
        event = ctypes.c_void_p()
        check("cuEventCreate", ctypes.byref(event), 0)
        return event

    def elapsed_us(self, first, last):
        check("cuEventSynchronize", last)
        value = ctypes.c_float()
        check("cuEventElapsedTime_v2" if hasattr(cuda, "cuEventElapsedTime_v2") else "cuEventElapsedTime", ctypes.byref(value), first, last)
        return value.value * 1000

    def graph_of(self, fill, count):
        """An executable graph of what `fill` enqueues `count` times."""
        check("cuStreamBeginCapture_v2", self.stream, 2)
        for _ in range(count):
            fill()
        graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
        check("cuStreamEndCapture", self.stream, ctypes.byref(graph))
        check("cuGraphInstantiateWithFlags", ctypes.byref(executable), graph, ctypes.c_ulonglong(0))
        check("cuGraphDestroy", graph)
        return executable


def specs_in(folder):
    return [(name[:-5], json.load(open(os.path.join(folder, name)))) for name in sorted(os.listdir(folder)) if name.endswith(".json")]
