"""Asks the first card what its texture and surface units answer; only Python and the driver's library are needed.

usage: python3 runTextures.py OUT.json [--fake]

OUT.json has of every experiment its texture, texels, points and results, each as base64 of zlib of little-endian words, one column after
another. A fault ends a child, is written down, and a fresh one goes on. --fake calls no driver: it shows that the script is whole.
"""
import base64, ctypes, json, os, random, struct, sys, tempfile, time, zlib

HERE = os.path.dirname(os.path.abspath(__file__))
WRAP, CLAMP, MIRROR, BORDER = 0, 1, 2, 3
POINT, LINEAR = 0, 1
FORMATS = {"u8": (1, 1), "u16": (2, 2), "u32": (3, 4), "s8": (8, 1), "s16": (9, 2), "s32": (10, 4), "f16": (16, 2), "f32": (32, 4)}
INTEGER, NORMALISED, SRGB, NOTRILINEAR, SEAMLESS = 1, 2, 0x10, 0x20, 0x40
LAYERED, SURFACE, CUBE, GATHER = 1, 2, 4, 8

f32 = lambda value: struct.unpack("<f", struct.pack("<f", value))[0]
bits = lambda value: struct.unpack("<I", struct.pack("<f", value))[0]
floats = lambda word: struct.unpack("<f", struct.pack("<I", word & 0xFFFFFFFF))[0]
def near(value, steps):
    """The float so many steps above a positive or negative value."""
    word = bits(value)
    sign = word & 0x80000000
    return floats(sign | ((word & 0x7FFFFFFF) + (steps if not sign else -steps)))


EXPERIMENTS = []


def experiment(name, kernel, texture, points, d=None, e=None, surface=False, after=None, alone=False, out=4):
    EXPERIMENTS.append(dict(name=name, kernel=kernel, texture=texture, points=points, d=d, e=e, surface=surface, alone=alone, out=out))


def texture(fmt, channels, extents, texels, address=(CLAMP, CLAMP, CLAMP), filter=POINT, flags=0, array=0, kind="array", border=(0, 0, 0, 0), levels=1,
            mipFilter=POINT, bias=0.0, low=0.0, high=0.0, pitch=0, anisotropy=0):
    """extents: width, height, depth as the driver has them; texels: bytes of each level, or one."""
    return dict(fmt=fmt, channels=channels, extents=extents, texels=texels if isinstance(texels, list) else [texels], address=address, filter=filter, flags=flags, array=array,
                kind=kind, border=border, levels=levels, mipFilter=mipFilter, bias=bias, low=low, high=high, pitch=pitch, anisotropy=anisotropy)


def pack(fmt, values):
    code = {"u8": "B", "u16": "H", "u32": "I", "s8": "b", "s16": "h", "s32": "i", "f16": "e", "f32": "f"}[fmt]
    return struct.pack(f"<{len(values)}{code}", *values)


def randomTexels(fmt, count, seed, wide=False):
    draw = random.Random(seed)
    if fmt == "f32":
        if wide:
            return pack("u32", [(draw.randrange(2) << 31) | (draw.randrange(100, 155) << 23) | draw.randrange(1 << 23) for _ in range(count)])
        return pack("f32", [draw.uniform(-1, 1) for _ in range(count)])
    if fmt == "f16":
        return pack("f16", [draw.uniform(-4, 4) for _ in range(count)])
    size = FORMATS[fmt][1] * 8
    signed = fmt[0] == "s"
    return pack(fmt, [draw.randrange(1 << size) - ((1 << (size - 1)) if signed else 0) for _ in range(count)])


def spread(seed, count, low, high, dims=3):
    draw = random.Random(seed)
    return [tuple(f32(draw.uniform(low, high)) if k < dims else 0.0 for k in range(3)) + (0.0,) for _ in range(count)]


def edges(values, steps=(-3, -2, -1, 0, 1, 2, 3)):
    return [near(value, step) if value != 0 else floats(step & 0x7FFFFFFF if step >= 0 else 0x80000000 | -step) for value in values for step in steps]


def line(xs):
    return [(f32(x), 0.5, 0.5, 0.0) for x in xs]


SPECIAL = [0.0, -0.0, 1e-40, -1e-40, 1e-30, -1e-30, 1e9, -1e9, 2147483648.0, 4294967296.0, -2147483904.0, 1e20, -1e20, 1e38, -1e38, float("inf"), float("-inf"), float("nan"), 32767.5, 65535.5, 131072.25, 1048575.75, 16777217.0]


def word(value):
    return floats(value) if value & 0x7F800000 != 0x7F800000 else floats(value & 0x7FFFFFFF)


class Bits:
    """A point given by words, where floats would lose the bits of a NaN."""


def build():
    ramp = pack("f32", [0.0, 1.0, 0.0, 0.0])
    linear = dict(filter=LINEAR)
    # The weight: where it changes from one 256th to the next, of small and large coordinates.
    quanta = edges([0.5 + (k + 0.5) / 256 for k in range(256)], (-1, 0, 1)) + edges([0.5 + k / 256 for k in range(257)], (-1, 0, 1))
    experiment("weight-1d", "tex1", texture("f32", 1, (4, 0, 0), ramp, **linear), line(quanta), out=1)
    big = pack("f32", [float(k & 1) for k in range(16384)])
    large = edges([16000.5 + (k + 0.5) / 256 for k in range(64)] + [2000.5 + (k + 0.5) / 256 for k in range(64)] + [100.5 + (k + 0.5) / 256 for k in range(64)], (-2, -1, 0, 1, 2))
    experiment("weight-1d-large", "tex1", texture("f32", 1, (16384, 0, 0), big, **linear), line(large), out=1)
    experiment("weight-2d-y", "tex2", texture("f32", 1, (2, 4, 0), pack("f32", [0, 0, 1, 1, 0, 0, 0, 0]), **linear), [(1.0, f32(x), 0.5, 0.0) for x in quanta], out=1)
    # Normalised coordinates: product with the size, rounding of the weight, sizes that are no powers of two.
    for size in (3, 4, 5, 7, 100, 256, 1000, 4096):
        values = pack("f32", [float(k) for k in range(size)])
        xs = [random.Random(size * 7 + k).uniform(0, 1) for k in range(600)] + edges([(k + 0.5) / size for k in range(min(size, 40))] + [k / size for k in range(1, min(size, 40))], (-2, -1, 0, 1, 2))
        for mode, label in ((WRAP, "wrap"), (CLAMP, "clamp"), (MIRROR, "mirror"), (BORDER, "border")):
            if mode != CLAMP and size not in (5, 7, 1000):
                continue
            far = xs if mode == CLAMP else xs + [random.Random(size + k).uniform(-4, 4) for k in range(400)] + [random.Random(size + k).uniform(-5000, 5000) for k in range(200)] + edges([-3, -2, -1, 1, 2, 3, 4, 5], (-2, -1, 0, 1, 2)) + SPECIAL
            for filter in (POINT, LINEAR):
                experiment(f"normalised-{size}-{label}-{'linear' if filter else 'point'}", "tex1", texture("f32", 1, (size, 0, 0), values, (mode,) * 3, filter, NORMALISED, border=(-7.0, -8.0, -9.0, -10.0)), line(far), out=1)
    # Coordinates in texels.
    values = pack("f32", [float(k) for k in range(9)])
    xs = [random.Random(k).uniform(-3, 13) for k in range(600)] + edges([k for k in range(-2, 12)] + [k + 0.5 for k in range(-2, 11)], (-3, -2, -1, 0, 1, 2, 3)) + SPECIAL
    for mode, label in ((WRAP, "wrap"), (CLAMP, "clamp"), (MIRROR, "mirror"), (BORDER, "border")):
        for filter in (POINT, LINEAR):
            experiment(f"texels-{label}-{'linear' if filter else 'point'}", "tex1", texture("f32", 1, (9, 0, 0), values, (mode,) * 3, filter, border=(-7.0, -8.0, -9.0, -10.0)), line(xs), out=1)
    experiment("point-large", "tex1", texture("f32", 1, (16384, 0, 0), pack("f32", [float(k) for k in range(16384)])), line(edges([k * 251 + 3 for k in range(65)], (-3, -2, -1, 0, 1))), out=1)
    # Sums: order, rounding, width. Wide texels tell most.
    draws = spread(11, 3000, 0, 9)
    for dims, kernel, extents in ((1, "tex1", (9, 0, 0)), (2, "tex2", (9, 9, 0)), (3, "tex3", (9, 9, 9))):
        count = max(extents[0], 1) * max(extents[1], 1) * max(extents[2], 1)
        for fmt, flags in (("f32", 0), ("f16", 0), ("u8", 0), ("s8", 0), ("u16", 0), ("s16", 0)):
            experiment(f"sum-{dims}d-{fmt}", kernel, texture(fmt, 1, extents, randomTexels(fmt, count, dims), filter=LINEAR, flags=flags), draws[: 2500 if fmt == "f32" else 1200], out=1)
        experiment(f"sum-{dims}d-f32-wide", kernel, texture("f32", 1, extents, randomTexels("f32", count, dims + 10, True), filter=LINEAR), draws, out=1)
    experiment("sum-2d-u8x4", "tex2", texture("u8", 4, (9, 9, 0), randomTexels("u8", 324, 5), filter=LINEAR), draws[:800])
    experiment("sum-2d-f32x4", "tex2", texture("f32", 4, (9, 9, 0), randomTexels("f32", 324, 5), filter=LINEAR), draws[:400])
    # One texel that counts, the others nought: what a product of weights is.
    one = [0.0] * 81
    one[4 * 9 + 4] = 1.0
    inside = [(f32(3.5 + random.Random(k).uniform(0, 2)), f32(3.5 + random.Random(k + 9999).uniform(0, 2)), 0.5, 0.0) for k in range(1500)]
    experiment("product-2d", "tex2", texture("f32", 1, (9, 9, 0), pack("f32", one), filter=LINEAR), inside, out=1)
    cube = [0.0] * 125
    cube[62] = 1.0
    experiment("product-3d", "tex3", texture("f32", 1, (5, 5, 5), pack("f32", cube), filter=LINEAR), [(f32(1.5 + random.Random(k).uniform(0, 2)), f32(1.5 + random.Random(k + 999).uniform(0, 2)), f32(1.5 + random.Random(k + 99).uniform(0, 2)), 0.0) for k in range(1500)], out=1)
    # Numbers that are none, ends of the range, subnormals.
    odd = [1.0, float("inf"), 1.0, float("-inf"), float("inf"), floats(0x7FC01234), 1.0, 1e-40, 1e-40, 3e38, 3.4e38, 3.4e38, -3.4e38, -0.0, -0.0, 0.0, 1.2e-38, 1.2e-38, -1.2e-38, floats(1), floats(1), 5.0]
    words = b"".join(struct.pack("<I", 0x7FC01234) if value != value else struct.pack("<f", value) for value in odd)
    steps = line([k / 8 + 0.25 / 8 * (k % 3) for k in range(8 * 22)])
    experiment("odd-1d-linear", "tex1", texture("f32", 1, (22, 0, 0), words, filter=LINEAR), steps, out=1)
    experiment("odd-1d-point", "tex1", texture("f32", 1, (22, 0, 0), words), steps, out=1)
    halves = struct.pack("<12H", 0x3C00, 0x7C00, 0x3C00, 0xFC00, 0x7E01, 0x3C00, 1, 1, 0x3FF, 0x8001, 0x8000, 0x8000)
    experiment("odd-1d-f16-linear", "tex1", texture("f16", 1, (12, 0, 0), halves, filter=LINEAR), steps[:96], out=1)
    experiment("odd-1d-f16-point", "tex1", texture("f16", 1, (12, 0, 0), halves), steps[:96], out=1)
    # Normalised formats: every value, and what missing channels give.
    for fmt in ("u8", "s8"):
        order = list(range(256)) if fmt == "u8" else list(range(-128, 128))
        experiment(f"format-{fmt}", "tex1", texture(fmt, 1, (256, 0, 0), pack(fmt, order)), line([k + 0.5 for k in range(256)]), out=1)
    for fmt in ("u16", "s16"):
        order = list(range(65536)) if fmt == "u16" else list(range(-32768, 32768))
        experiment(f"format-{fmt}", "tex2", texture(fmt, 1, (256, 256, 0), pack(fmt, order)), [(k % 256 + 0.5, k // 256 + 0.5, 0.5, 0.0) for k in range(0, 65536, 7)] + [(k % 256 + 0.5, k // 256 + 0.5, 0.5, 0.0) for k in (0, 1, 2, 32767, 32768, 65534, 65535)], out=1)
    experiment("format-srgb", "tex1", texture("u8", 4, (256, 0, 0), pack("u8", [k for value in range(256) for k in (value, value, value, value)]), flags=SRGB), line([k + 0.5 for k in range(256)]))
    experiment("sum-2d-srgb", "tex2", texture("u8", 4, (9, 9, 0), randomTexels("u8", 324, 5), filter=LINEAR, flags=SRGB), draws[:800])
    for fmt in FORMATS:
        for channels in (1, 2, 4):
            for flags in ((0,) if fmt in ("f16", "f32", "u32", "s32") else (0, INTEGER)):
                if fmt in ("u32", "s32"):
                    flags = INTEGER
                experiment(f"channels-{fmt}x{channels}-{flags}", "tex1", texture(fmt, channels, (8, 0, 0), randomTexels(fmt, 8 * channels, 3), (BORDER,) * 3, flags=flags, border=(0.25, 300.5, -3.0, 7.0)), line([k + 0.5 for k in range(-1, 9)]))
    for fmt in ("u8", "s8", "u16", "s16", "f16"):
        for colour in ((0.25, 0.5, 0.75, 1.0), (-0.25, -1.5, 2.0, 1e9), (1 / 3, 1 / 255, 1e-8, 65519.0)):
            experiment(f"border-{fmt}-{colour[0]:.2f}", "tex1", texture(fmt, 4, (8, 0, 0), randomTexels(fmt, 32, 3), (BORDER,) * 3, LINEAR, border=colour), line([-1.0, -0.25, 0.0, 0.125, 8.0, 7.875, 8.5]))
    # Whole coordinates.
    whole = list(range(12)) + [100, 0x7FFFFF, 0x7FFFFFFF, -1, -2, -100, -0x80000000]
    experiment("whole-1d", "tex1i", texture("f32", 1, (9, 0, 0), values), [(w, w, w, 0.0) for w in whole], out=1)
    experiment("whole-1d-border", "tex1i", texture("f32", 1, (9, 0, 0), values, (BORDER,) * 3, border=(-7.0, 0, 0, 0)), [(w, w, w, 0.0) for w in whole], out=1)
    experiment("whole-1d-linear", "tex1i", texture("f32", 1, (9, 0, 0), values, filter=LINEAR), [(w, w, w, 0.0) for w in whole], out=1)
    experiment("whole-1d-wrap", "tex1i", texture("f32", 1, (9, 0, 0), values, (WRAP,) * 3, flags=NORMALISED), [(w, w, w, 0.0) for w in whole], out=1)
    grid = pack("f32", [float(k) for k in range(81)])
    pairs = [(floats(x), floats(y), floats((x + y) & 7), 0.0) for x in (0, 1, 3, 8, 9, 20) for y in (0, 2, 8, 9, 30)] + [(x, y, z, 0) for x in (-1, 2, -9) for y in (-1, 3) for z in (-1, 4)]
    experiment("whole-2d", "tex2i", texture("f32", 1, (9, 9, 0), grid), pairs, out=1)
    experiment("whole-2d-border", "tex2i", texture("f32", 1, (9, 9, 0), grid, (BORDER,) * 3, border=(-7.0, 0, 0, 0)), pairs, out=1)
    experiment("whole-3d", "tex3i", texture("f32", 1, (9, 9, 9), randomTexels("f32", 729, 4)), pairs, out=1)
    experiment("whole-a2d", "texa2i", texture("f32", 1, (9, 9, 3), randomTexels("f32", 243, 4), array=LAYERED), [p[:3] + (floats(k % 5),) for k, p in enumerate(pairs)], out=1)
    for fmt in ("f32", "u8", "s16", "f16"):
        experiment(f"linear-{fmt}", "tex1i", texture(fmt, 1, (9, 0, 0), randomTexels(fmt, 9, 8), kind="linear"), [(w, w, w, 0.0) for w in whole], out=4)
    experiment("linear-float-coordinate", "tex1", texture("f32", 1, (9, 0, 0), values, kind="linear"), line([-1, 0.5, 1.5, 3.99, 8.5, 9.5, 20]), out=1)
    experiment("linear-normalised-u8x4", "tex1i", texture("u8", 4, (9, 0, 0), randomTexels("u8", 36, 8), kind="linear"), [(w, w, w, 0.0) for w in whole])
    # Pitched memory.
    for filter in (POINT, LINEAR):
        for mode, flags in ((CLAMP, 0), (BORDER, 0), (WRAP, NORMALISED), (MIRROR, NORMALISED)):
            scale = 1 if flags == 0 else 1 / 9
            experiment(f"pitched-{mode}-{filter}", "tex2", texture("f32", 1, (9, 7, 0), randomTexels("f32", 63, 21), (mode,) * 3, filter, flags, kind="pitched", pitch=512, border=(0.5, 0, 0, 0)), [tuple(f32(v * scale) for v in p[:3]) + (0.0,) for p in spread(31, 400, -4, 14)], out=1)
    # 2D and 3D with different modes of each axis.
    experiment("modes-2d", "tex2", texture("f32", 1, (9, 7, 0), randomTexels("f32", 63, 21), (MIRROR, BORDER, CLAMP), LINEAR, NORMALISED, border=(0.5, 0, 0, 0)), spread(32, 600, -2, 3), out=1)
    experiment("modes-3d", "tex3", texture("f32", 1, (9, 7, 5), randomTexels("f32", 315, 21), (WRAP, BORDER, MIRROR), LINEAR, NORMALISED, border=(0.5, 0, 0, 0)), spread(33, 600, -2, 3), out=1)
    # Layers.
    layers = [p[:3] + (floats(k),) for p, k in zip(spread(34, 60, 0, 9), [0, 1, 2, 3, 4, 5, 100, 0x7FFFFF, 0x7F000000] * 7)]
    experiment("layers-2d", "texa2", texture("f32", 1, (9, 9, 4), randomTexels("f32", 324, 22), filter=LINEAR, array=LAYERED), layers, out=1)
    experiment("layers-1d", "texa1", texture("f32", 1, (9, 0, 4), randomTexels("f32", 36, 22), filter=LINEAR, array=LAYERED), layers, out=1)
    # Mipmaps: every level has its own number, so that the blend of two is what is answered.
    def chain(width, height=1, depth=1, channels=1):
        levels, level = [], 0
        while True:
            levels.append(pack("f32", [float(level)] * (width * height * depth)))
            if width == height == depth == 1:
                return levels
            width, height, depth, level = max(width // 2, 1), max(height // 2, 1), max(depth // 2, 1), level + 1
    many = chain(64, 64)
    lods = [random.Random(k).uniform(-1, 8) for k in range(500)] + edges([k / 2 for k in range(1, 14)], (-2, -1, 0, 1, 2)) + edges([(k + 0.5) / 256 for k in range(1, 300, 3)], (-1, 0, 1)) + SPECIAL
    middle = [(0.5, 0.5, 0.5, 0.0)] * len(lods)
    given = [(f32(v), 0.0, 0.0, 0.0) for v in lods]
    for mip in (POINT, LINEAR):
        base = dict(flags=NORMALISED, kind="mipmap", levels=7, mipFilter=mip, filter=LINEAR)
        experiment(f"lod-{mip}", "lod2", texture("f32", 1, (64, 64, 0), many, high=6.0, **base), middle, given, out=1)
        experiment(f"lod-{mip}-bias", "lod2", texture("f32", 1, (64, 64, 0), many, bias=0.7, low=1.3, high=4.6, **base), middle, given, out=1)
        experiment(f"lod-{mip}-none", "tex2", texture("f32", 1, (64, 64, 0), many, bias=0.0, low=0.0, high=6.0, **base), spread(51, 200, 0, 3), out=1)
        experiment(f"lod-{mip}-none-bias", "tex2", texture("f32", 1, (64, 64, 0), many, bias=1.5, low=0.0, high=6.0, **base), spread(51, 200, 0, 3), out=1)
    base = dict(flags=NORMALISED, kind="mipmap", levels=7, mipFilter=LINEAR, filter=LINEAR, high=6.0)
    experiment("lod-point-filter", "lod2", texture("f32", 1, (64, 64, 0), many, **{**base, "filter": POINT}), middle, given, out=1)
    experiment("lod-fits", "lod2", texture("f32", 1, (16, 16, 0), [randomTexels("f32", n * n, 60 + n) for n in (16, 8, 4, 2, 1)], **{**base, "levels": 5, "high": 4.0}), spread(52, 1000, 0, 1), [(f32(random.Random(k).uniform(0, 4)), 0.0, 0.0, 0.0) for k in range(1000)], out=1)
    experiment("lod-odd-sizes", "lod2", texture("f32", 1, (13, 7, 0), [randomTexels("f32", w * h, 70 + w) for w, h in ((13, 7), (6, 3), (3, 1), (1, 1))], **{**base, "levels": 4, "high": 3.0}), spread(53, 600, 0, 1), [(f32(random.Random(k).uniform(0, 4)), 0.0, 0.0, 0.0) for k in range(600)], out=1)
    experiment("lod-1d", "lod1", texture("f32", 1, (64, 0, 0), chain(64), **base), middle, given, out=1)
    experiment("lod-3d", "lod3", texture("f32", 1, (16, 16, 16), chain(16, 16, 16), **{**base, "levels": 5, "high": 4.0}), middle, given, out=1)
    experiment("lod-whole", "lod2i", texture("f32", 1, (64, 64, 0), many, **{**base, "flags": 0, "filter": POINT}), [(floats(k % 9), floats(k % 7), 0.0, 0.0) for k in range(24)], [(floats(k % 9), 0.0, 0.0, 0.0) for k in range(24)], out=1)
    draw = random.Random(77)
    small = lambda: f32(2.0 ** draw.uniform(-8, 1) * draw.choice((-1, 1)))
    gradients = [((small(), small(), small(), 0.0), (small(), small(), small(), 0.0)) for _ in range(2000)]
    axis = [((f32(2.0 ** (k / 100 - 7)), 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)) for k in range(900)]
    both = axis + gradients
    centre = [(0.5, 0.5, 0.5, 0.0)] * len(both)
    for mip in (POINT, LINEAR):
        experiment(f"grad-2d-{mip}", "grad2", texture("f32", 1, (64, 64, 0), many, **{**base, "mipFilter": mip}), centre, [g[0] for g in both], [g[1] for g in both], out=1)
    experiment("grad-2d-oblong", "grad2", texture("f32", 1, (64, 16, 0), chain(64, 16), **base), centre, [g[0] for g in both], [g[1] for g in both], out=1)
    experiment("grad-1d", "grad1", texture("f32", 1, (64, 0, 0), chain(64), **base), centre, [g[0] for g in both], [g[1] for g in both], out=1)
    experiment("grad-3d", "grad3", texture("f32", 1, (16, 16, 16), chain(16, 16, 16), **{**base, "levels": 5, "high": 4.0}), centre, [g[0] for g in both], [g[1] for g in both], out=1)
    # Cubes: faces, ties, projection, edges.
    draw = random.Random(91)
    directions = [tuple(f32(draw.gauss(0, 1)) for _ in range(3)) + (0.0,) for _ in range(1500)]
    ties = [(x, y, z, 0.0) for x in (-1.0, -0.0, 0.0, 1.0) for y in (-1.0, -0.0, 0.0, 1.0) for z in (-1.0, -0.0, 0.0, 1.0)] + [(float(x), float(y), float(z), 0.0) for x in (2, 3) for y in (-3, 2) for z in (3, -2)]
    odd = [(float("nan"), 1.0, 0.5, 0.0), (float("inf"), 1.0, 1.0, 0.0), (1e-40, 1e-41, 0.0, 0.0), (1e30, 1e38, 3e38, 0.0), (float("inf"), float("inf"), 1.0, 0.0)]
    faces = randomTexels("f32", 6 * 64, 92)
    numbers = pack("f32", [float(face * 64 + k) for face in range(6) for k in range(64)])
    for flags, label in ((NORMALISED, "plain"), (NORMALISED | SEAMLESS, "seamless")):
        experiment(f"cube-point-{label}", "texc", texture("f32", 1, (8, 8, 6), numbers, array=CUBE, flags=flags), directions + ties + odd, out=1)
        experiment(f"cube-linear-{label}", "texc", texture("f32", 1, (8, 8, 6), faces, filter=LINEAR, array=CUBE, flags=flags), directions + ties + odd, out=1)
        experiment(f"cube-numbers-linear-{label}", "texc", texture("f32", 1, (8, 8, 6), numbers, filter=LINEAR, array=CUBE, flags=flags), directions[:600] + ties + odd, out=1)
    near_edge = [(1.0, f32(draw.choice((-1, 1)) * draw.uniform(0.85, 1.0)), f32(draw.uniform(-1, 1)), 0.0) for _ in range(300)] + [tuple(f32(draw.choice((-1, 1)) * draw.uniform(0.88, 1.0)) for _ in range(3)) + (0.0,) for _ in range(300)]
    experiment("cube-edges-plain", "texc", texture("f32", 1, (8, 8, 6), faces, filter=LINEAR, array=CUBE, flags=NORMALISED), near_edge, out=1)
    experiment("cube-edges-seamless", "texc", texture("f32", 1, (8, 8, 6), faces, filter=LINEAR, array=CUBE, flags=NORMALISED | SEAMLESS), near_edge, out=1)
    experiment("cube-edges-wrap", "texc", texture("f32", 1, (8, 8, 6), faces, (WRAP,) * 3, LINEAR, NORMALISED, array=CUBE), near_edge, out=1)
    experiment("cube-texels", "texc", texture("f32", 1, (8, 8, 6), numbers, array=CUBE), directions[:100], out=1)
    experiment("cube-layers", "texac", texture("f32", 1, (8, 8, 12), pack("f32", [float(k) for k in range(768)]), array=CUBE | LAYERED, flags=NORMALISED), [p[:3] + (floats(k % 4),) for k, p in enumerate(directions[:200])], out=1)
    experiment("lod-cube", "lodc", texture("f32", 1, (16, 16, 6), [pack("f32", [float(k)] * (6 * n * n)) for k, n in enumerate((16, 8, 4, 2, 1))], kind="mipmap", levels=5, mipFilter=LINEAR, filter=LINEAR, high=4.0, array=CUBE, flags=NORMALISED), directions[:200], [(f32(k / 40), 0.0, 0.0, 0.0) for k in range(200)], out=1)
    # Gathers: order of texels, which four of them near a centre.
    numbered = pack("f32", [float(k) for k in range(4 * 63)])
    gx = edges([k + 0.5 for k in range(9)], (-3, -1, 0, 1, 3)) + edges([k + 0.5 + s / 512 for k in (1, 2, 7) for s in (-2, -1, 1, 2)], (-1, 0, 1)) + [-1.0, 0.0, 0.25, 9.0, 12.0]
    gathered = [(f32(x), f32(random.Random(k).choice(gx)), 0.5, 0.0) for k, x in enumerate(gx * 4)]
    for part in "rgba":
        experiment(f"gather-{part}", f"gather_{part}", texture("f32", 4, (9, 7, 0), numbered, array=GATHER), gathered if part == "r" else gathered[:60])
    experiment("gather-linear", "gather_r", texture("f32", 4, (9, 7, 0), numbered, filter=LINEAR, array=GATHER), gathered)
    experiment("gather-one-channel", "gather_r", texture("f32", 1, (9, 7, 0), randomTexels("f32", 63, 1), array=GATHER), gathered[:60])
    experiment("gather-one-channel-g", "gather_g", texture("f32", 1, (9, 7, 0), randomTexels("f32", 63, 1), array=GATHER), gathered[:20])
    experiment("gather-u8", "gather_g", texture("u8", 4, (9, 7, 0), randomTexels("u8", 252, 1), array=GATHER), gathered[:60])
    experiment("gather-u8-whole", "gather_g", texture("u8", 4, (9, 7, 0), randomTexels("u8", 252, 1), array=GATHER, flags=INTEGER), gathered[:60])
    experiment("gather-border", "gather_r", texture("f32", 1, (9, 7, 0), randomTexels("f32", 63, 1), (BORDER,) * 3, array=GATHER, border=(0.5, 0, 0, 0)), gathered[:120])
    experiment("gather-wrap", "gather_r", texture("f32", 1, (9, 7, 0), randomTexels("f32", 63, 1), (WRAP,) * 3, flags=NORMALISED, array=GATHER), spread(35, 300, -1, 2))
    experiment("gather-layers", "gathera_r", texture("f32", 1, (9, 7, 3), randomTexels("f32", 189, 1), array=GATHER | LAYERED), [p[:3] + (floats(k % 5),) for k, p in enumerate(gathered[:60])])
    experiment("gather-cube", "gatherc_r", texture("f32", 1, (8, 8, 6), numbers, array=GATHER | CUBE, flags=NORMALISED), directions[:200] + near_edge[:100])
    # Questions.
    shapes = [("f32", 1, (9, 0, 0), 0), ("u8", 4, (9, 7, 0), 0), ("s16", 2, (9, 7, 5), 0), ("u32", 1, (9, 7, 3), LAYERED), ("f16", 4, (8, 8, 6), CUBE), ("u16", 1, (9, 0, 5), LAYERED)]
    for fmt, channels, extents, array in shapes:
        count = channels * extents[0] * max(extents[1], 1) * max(extents[2], 1)
        for query in ("width", "height", "depth", "type", "order", "layers", "levels", "samples"):
            for flags in (0, INTEGER) if query == "type" else (0,):
                if fmt[1:] == "32" and fmt != "f32":
                    flags = INTEGER
                experiment(f"query-{query}-{fmt}x{channels}-{array}-{flags}", f"q_{query}", texture(fmt, channels, extents, randomTexels(fmt, count, 1), array=array, flags=flags), [(0.0,) * 4], out=1)
        for query in ("width", "height", "depth", "type", "order", "layers"):
            experiment(f"surface-{query}-{fmt}x{channels}-{array}", f"s_{query}", texture(fmt, channels, extents, randomTexels(fmt, count, 1), array=array | SURFACE), [(0.0,) * 4], surface=True, out=1)
    experiment("query-levels-mip", "q_levels", texture("f32", 1, (64, 64, 0), many, **base), [(0.0,) * 4], out=1)
    experiment("query-level", "q_level", texture("f32", 1, (64, 32, 0), chain(64, 32), **base), [(0.0,) * 4] * 10, [(floats(k), 0.0, 0.0, 0.0) for k in range(10)], out=3)
    experiment("query-linear", "q_width", texture("f32", 1, (9, 0, 0), values, kind="linear"), [(0.0,) * 4], out=1)
    experiment("query-pitched", "q_height", texture("f32", 1, (9, 7, 0), randomTexels("f32", 63, 1), kind="pitched", pitch=512), [(0.0,) * 4], out=1)
    experiment("is-texture", "is_tex", texture("f32", 1, (9, 0, 0), values), [(0.0,) * 4], out=3)
    experiment("is-surface", "is_tex", texture("f32", 1, (9, 0, 0), values, array=SURFACE), [(0.0,) * 4], surface=True, out=3)
    # Surfaces: reads at and beyond edges, misaligned bytes; what writes leave.
    xs = [0, 1, 2, 3, 4, 5, 8, 28, 30, 31, 32, 33, 36, 40, 100, 0x7FFFFFFC, 0xFFFFFFFC, 0xFFFFFFFF, 0xFFFFFF00, 0x80000000]
    ys = [0, 1, 6, 7, 20, 0xFFFFFFFF]
    wordsAt = lambda x, y, z=0, w=0: (x, y, z, w)
    plane = [wordsAt(x, y) for x in xs for y in ys]
    for mode in ("zero", "clamp"):
        for kind, fmt, channels, width in (("b32", "u32", 1, 8), ("b8", "u8", 1, 32), ("b16", "u16", 1, 16), ("b64", "u32", 2, 4), ("v4b32", "u32", 4, 2), ("b32", "u8", 4, 8), ("b32", "u8", 1, 32)):
            experiment(f"load-2d-{kind}-{fmt}x{channels}-{mode}", f"ld2_{kind}_{mode}", texture(fmt, channels, (width, 7, 0), randomTexels(fmt, width * 7 * channels, 2), array=SURFACE), plane, surface=True)
        experiment(f"load-1d-{mode}", f"ld1_b32_{mode}", texture("u32", 1, (8, 0, 0), randomTexels("u32", 8, 2), array=SURFACE), [wordsAt(x, 0) for x in xs], surface=True, out=1)
        experiment(f"load-3d-{mode}", f"ld3_b32_{mode}", texture("u32", 1, (8, 7, 3), randomTexels("u32", 168, 2), array=SURFACE), [wordsAt(x, y, z) for x in (0, 28, 32, 0xFFFFFFFC) for y in ys for z in (0, 2, 3, 0xFFFFFFFF)], surface=True, out=1)
        experiment(f"load-a2d-{mode}", f"lda2_b32_{mode}", texture("u32", 1, (8, 7, 3), randomTexels("u32", 168, 2), array=SURFACE | LAYERED), [wordsAt(x, y, 0, z) for x in (0, 28, 32, 0xFFFFFFFC) for y in ys for z in (0, 2, 3, 0xFFFFFFFF)], surface=True, out=1)
        experiment(f"load-a1d-{mode}", f"lda1_b32_{mode}", texture("u32", 1, (8, 0, 3), randomTexels("u32", 24, 2), array=SURFACE | LAYERED), [wordsAt(x, 0, 0, z) for x in (0, 28, 32, 0xFFFFFFFC) for z in (0, 2, 3, 0xFFFFFFFF)], surface=True, out=1)
        one = [("b32", "u32", 1, 8, xs), ("v4b32", "u32", 4, 2, [0, 16, 32, 4, 0xFFFFFFF0, 48])] + ([("b8", "u8", 1, 32, xs), ("b16", "u16", 1, 16, xs)] if mode == "clamp" else [])
        for kind, fmt, channels, width, places in one:
            for x in places:
                if x in (100, 40, 0x7FFFFFFC):
                    continue
                experiment(f"store-2d-{kind}-{mode}-{x:x}", f"st2_{kind}_{mode}", texture(fmt, channels, (width, 7, 0), bytes(width * 7 * channels * FORMATS[fmt][1]), array=SURFACE), [wordsAt(x, y) for y in (0, 3, 9)], [(0x11111111 * (k + 1), 0x22222222, 0x33333333, 0x44444444) for k in range(3)], surface="read", out=0)
        for fmt, channels in (("u8", 1), ("u8", 4), ("s8", 4), ("u16", 2), ("s16", 4), ("u32", 1), ("s32", 4), ("f16", 4), ("f32", 4), ("f32", 1), ("f16", 1)):
            values4 = [(0x12345678, 0x80000001, 0xFFFFFF80, 0x000000FF), (300, 0xFFFFFED4, 127, 128), (0x3F800000, 0xBF000000, 0x40490FDB, 0x7F800000), (0x00010000, 0x7FC00001, 0x33800000, 0x477FF000)]
            experiment(f"store-formatted-{fmt}x{channels}-{mode}", f"stp2_v4_{mode}", texture(fmt, channels, (4, 2, 0), bytes(8 * channels * FORMATS[fmt][1]), array=SURFACE), [wordsAt(k, 0) for k in range(4)] + [wordsAt(3, 1), wordsAt(4, 1), wordsAt(0xFFFFFFFF, 1)], values4 + [(1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12)], surface="read", out=0)
    ops = [("add_u32_clamp", "u32"), ("add_u32_zero", "u32"), ("min_s32_clamp", "s32"), ("max_u32_clamp", "u32"), ("and_b32_clamp", "u32"), ("or_b32_clamp", "u32")]
    for op, fmt in ops:
        experiment(f"reduce-{op}", f"red2_{op}", texture(fmt, 1, (8, 7, 0), randomTexels(fmt, 56, 6), array=SURFACE), [wordsAt(x, y) for x in (0, 4, 28, 32, 5, 0xFFFFFFFC) for y in (0, 6, 7, 0xFFFFFFFF)], [(0x01234567 * k & 0xFFFFFFFF, 0, 0, 0) for k in range(24)], surface="read", out=0)
    for op, fmt in (("add_b32_clamp", "u32"), ("min_b32_clamp", "s32"), ("min_b32_clamp", "u32")):
        experiment(f"reduce-p-{op}-{fmt}", f"redp2_{op}", texture(fmt, 1, (8, 7, 0), randomTexels(fmt, 56, 6), array=SURFACE), [wordsAt(x, y) for x in (0, 1, 7, 8) for y in (0, 6)], [(0x01234567 * k & 0xFFFFFFFF, 0, 0, 0) for k in range(8)], surface="read", out=0)
    # Outside with .trap: what fault it is. The last ones, each in a child of its own.
    for x, y in ((32, 0), (0, 7), (0xFFFFFFFC, 0), (2, 0)):
        experiment(f"trap-load-{x:x}-{y}", "ld2_b32_trap", texture("u32", 1, (8, 7, 0), randomTexels("u32", 56, 2), array=SURFACE), [wordsAt(x, y)], surface=True, alone=True, out=1)
        experiment(f"trap-store-{x:x}-{y}", "st2_b32_trap", texture("u32", 1, (8, 7, 0), randomTexels("u32", 56, 2), array=SURFACE), [wordsAt(x, y)], [(1, 2, 3, 4)], surface="read", alone=True, out=0)


class Fake:
    def __getattr__(self, name):
        def call(*args):
            return 0
        return call


class Driver:
    def __init__(self, fake):
        self.cuda = Fake() if fake else ctypes.CDLL("libcuda.so.1")
        self.check("cuInit", 0)
        self.device = ctypes.c_int()
        self.check("cuDeviceGet", ctypes.byref(self.device), 0)
        context = ctypes.c_void_p()
        self.check("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self.check("cuCtxSetCurrent", context)
        self.module = ctypes.c_void_p()
        self.check("cuModuleLoad", ctypes.byref(self.module), os.path.join(HERE, "textures.cubin").encode())

    def check(self, name, *args):
        code = getattr(self.cuda, name)(*args)
        if code != 0:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(code, ctypes.byref(text))
            raise RuntimeError(f"{name}: {text.value.decode() if text.value else code}")

    def name(self):
        text = ctypes.create_string_buffer(100)
        self.check("cuDeviceGetName", text, 100, self.device)
        version = ctypes.c_int()
        self.check("cuDriverGetVersion", ctypes.byref(version))
        return text.value.decode(), version.value

    def kernel(self, name):
        kernel = ctypes.c_void_p()
        self.check("cuModuleGetFunction", ctypes.byref(kernel), self.module, name.encode())
        return kernel

    def memory(self, data):
        address = ctypes.c_uint64()
        self.check("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(len(data), 16)))
        self.check("cuMemcpyHtoD_v2", address, bytes(data), ctypes.c_size_t(len(data)))
        return address

    def read(self, address, size):
        data = ctypes.create_string_buffer(size)
        self.check("cuMemcpyDtoH_v2", data, address, ctypes.c_size_t(size))
        return data.raw

    def launch(self, kernel, grid, block, values):
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
        shape = [ctypes.c_uint(extent) for extent in (*grid, *block, 0)]
        self.check("cuLaunchKernel", kernel, *shape, None, pointers, None)

    def copy3d(self, array, data, row, height, depth, back=False):
        """Between an array, whole, and bytes of the host."""
        host = ctypes.create_string_buffer(bytes(data), len(data))
        side = lambda isArray: struct.pack("<QQQQI4xQQQQQQ", 0, 0, 0, 0, 3 if isArray else 1, 0 if isArray else ctypes.addressof(host), 0, array.value or 0 if isArray else 0, 0, 0 if isArray else row, 0 if isArray else height)
        text = side(back) + side(not back) + struct.pack("<QQQ", row, height, depth)
        self.check("cuMemcpy3D_v2", ctypes.create_string_buffer(text, len(text)))
        return host.raw

    def resource(self, spec):
        """A description of the resource, what holds its first level, and how to give it back."""
        code, size = FORMATS[spec["fmt"]]
        width, height, depth = spec["extents"]
        texel = size * spec["channels"]
        if spec["kind"] == "linear":
            address = self.memory(spec["texels"][0])
            body = struct.pack("<QIIQ", address.value or 0, code, spec["channels"], len(spec["texels"][0]))
            return struct.pack("<I4x", 2) + body, None, lambda: self.check("cuMemFree_v2", address)
        if spec["kind"] == "pitched":
            pitch = spec["pitch"]
            rows = [spec["texels"][0][y * width * texel : (y + 1) * width * texel].ljust(pitch, b"\xee") for y in range(height)]
            address = self.memory(b"".join(rows))
            body = struct.pack("<QIIQQQ", address.value or 0, code, spec["channels"], width, height, pitch)
            return struct.pack("<I4x", 3) + body, None, lambda: self.check("cuMemFree_v2", address)
        described = struct.pack("<QQQIII4x", width, height, depth, code, spec["channels"], spec["array"])
        described = ctypes.create_string_buffer(described, len(described))
        handle = ctypes.c_void_p()
        if spec["kind"] == "mipmap":
            self.check("cuMipmappedArrayCreate", ctypes.byref(handle), described, ctypes.c_uint(spec["levels"]))
            for level, data in enumerate(spec["texels"]):
                part = ctypes.c_void_p()
                self.check("cuMipmappedArrayGetLevel", ctypes.byref(part), handle, ctypes.c_uint(level))
                w, h, d = max(width >> level, 1), max(height >> level, 1), depth if spec["array"] & (LAYERED | CUBE) else max(depth >> level, 1)
                self.copy3d(part, data, w * texel, h, d)
            return struct.pack("<I4xQ", 1, handle.value or 0), None, lambda: self.check("cuMipmappedArrayDestroy", handle)
        self.check("cuArray3DCreate_v2", ctypes.byref(handle), described)
        self.copy3d(handle, spec["texels"][0], width * texel, max(height, 1), max(depth, 1))
        return struct.pack("<I4xQ", 0, handle.value or 0), handle, lambda: self.check("cuArrayDestroy", handle)

    def object(self, spec, isSurface):
        body, array, free = self.resource(spec)
        text = body.ljust(144, b"\0")
        resource = ctypes.create_string_buffer(text, len(text))
        handle = ctypes.c_uint64()
        if isSurface:
            self.check("cuSurfObjectCreate", ctypes.byref(handle), resource)
            destroy = "cuSurfObjectDestroy"
        else:
            text = struct.pack("<3IIIIIfff4f", *spec["address"], spec["filter"], spec["flags"], spec["anisotropy"], spec["mipFilter"], spec["bias"], spec["low"], spec["high"], *spec["border"]).ljust(104, b"\0")
            self.check("cuTexObjectCreate", ctypes.byref(handle), resource, ctypes.create_string_buffer(text, len(text)), None)
            destroy = "cuTexObjectDestroy"

        def end():
            self.check(destroy, handle)
            free()

        return handle, array, end

    def answer(self, each):
        spec = each["texture"]
        handle, array, end = self.object(spec, bool(each["surface"]))
        count = len(each["points"])
        inputs = [self.memory(rows(each[key], count)) for key in ("points", "d", "e")]
        output = self.memory(b"\xee" * (count * 16))
        kernel = self.kernel(each["kernel"])
        self.launch(kernel, ((count + 127) // 128, 1, 1), (128, 1, 1), [handle, *inputs, output, ctypes.c_int(count)])
        self.check("cuCtxSynchronize")
        result = {"handle": handle.value}
        if each["surface"] == "read":
            size = len(spec["texels"][0])
            width, height, depth = spec["extents"]
            result["left"] = packed(self.copy3d(array, bytes(size), width * FORMATS[spec["fmt"]][1] * spec["channels"], max(height, 1), max(depth, 1), True))
        if each["out"] > 0:
            data = self.read(output, count * 16)
            words = struct.unpack(f"<{count * 4}I", data)
            result["results"] = packed(struct.pack(f"<{count * each['out']}I", *[words[i * 4 + k] for k in range(each["out"]) for i in range(count)]))
        for address in (*inputs, output):
            self.check("cuMemFree_v2", address)
        end()
        return result

    def times(self):
        """Cycles of chains and of many fetches; then whole launches in microseconds."""
        found = []
        kinds = [("tex1", (64, 0, 0), 0), ("tex1i", (64, 0, 0), 0), ("tex2", (64, 32, 0), 0), ("tex2one", (64, 32, 0), 0), ("tex3", (64, 32, 32), 0), ("texa2", (64, 32, 8), LAYERED), ("texc", (32, 32, 6), CUBE), ("lod2", (64, 32, 0), 0), ("gather", (64, 32, 0), GATHER), ("suld", (64, 32, 0), SURFACE), ("sust", (64, 32, 0), SURFACE), ("sured", (64, 32, 0), SURFACE)]
        formats = [("f32", 1), ("f32", 4), ("u8", 4), ("f16", 4)]
        for name, extents, array in kinds:
            isSurface = array == SURFACE
            for fmt, channels in formats if not isSurface else [("u32", 1)]:
                for filter in (POINT, LINEAR) if not isSurface and name != "tex1i" else (POINT,):
                    count = extents[0] * max(extents[1], 1) * max(extents[2], 1) * channels
                    flags = NORMALISED if array == CUBE else 0
                    handle, _, end = self.object(texture(fmt, channels, extents, randomTexels(fmt, count, 1), filter=filter, array=array, flags=flags), isSurface)
                    for way in ("chain", "rate"):
                        for warps in (1,) if way == "chain" else (1, 4, 8, 16, 32):
                            for blocks in (1,) if warps != 16 else (1, 132):
                                out = self.memory(bytes(8 * warps * blocks))
                                rounds = 64 if way == "chain" else 16
                                for _ in range(2):
                                    self.launch(self.kernel(f"{way}_{name}"), (blocks, 1, 1), (warps * 32, 1, 1), [handle, ctypes.c_float(0), ctypes.c_float(1), ctypes.c_int(rounds), out])
                                self.check("cuCtxSynchronize")
                                stamps = struct.unpack(f"<{2 * warps * blocks}I", self.read(out, 8 * warps * blocks))
                                cycles = max((b - a) & 0xFFFFFFFF for a, b in zip(stamps[: 2 * warps : 2], stamps[1 : 2 * warps : 2]))
                                found.append([f"{way}_{name}", fmt, channels, filter, warps, blocks, rounds * (1 if way == "chain" else 8), cycles])
                                self.check("cuMemFree_v2", out)
                    end()
        launches = []
        start, stop = ctypes.c_void_p(), ctypes.c_void_p()
        self.check("cuEventCreate", ctypes.byref(start), 0)
        self.check("cuEventCreate", ctypes.byref(stop), 0)
        for name in ("copy", "transposed", "stencil", "rotate", "row17", "random", "surface"):
            for w, h in ((256, 256), (1024, 1024), (4096, 2048)):
                for fmt, channels, filter in (("f32", 1, POINT), ("f32", 1, LINEAR), ("u8", 4, LINEAR)) if name != "surface" else (("f32", 1, POINT),):
                    data = os.urandom(4 * w * 16) * (h // 16) if fmt != "f32" else pack("f32", [random.Random(k).random() for k in range(w)]) * h
                    handle, _, end = self.object(texture(fmt, channels, (w, h, 0), data, filter=filter, array=SURFACE if name == "surface" else 0), name == "surface")
                    out = self.memory(bytes(4 * w * h))
                    best = []
                    for _ in range(4):
                        self.check("cuEventRecord", start, None)
                        for _ in range(5):
                            self.launch(self.kernel(f"launch_{name}"), ((w + 31) // 32, (h + 7) // 8, 1), (32, 8, 1), [handle, out, ctypes.c_int(w), ctypes.c_int(h)])
                        self.check("cuEventRecord", stop, None)
                        self.check("cuEventSynchronize", stop)
                        elapsed = ctypes.c_float()
                        self.check("cuEventElapsedTime_v2" if hasattr(self.cuda, "cuEventElapsedTime_v2") else "cuEventElapsedTime", ctypes.byref(elapsed), start, stop)
                        best.append(round(elapsed.value * 200, 3))
                    launches.append([name, w, h, fmt, channels, filter, best])
                    self.check("cuMemFree_v2", out)
                    end()
        return {"cycles": found, "launches": launches}


def rows(points, count):
    """Points as words; whole numbers are words already. A NaN keeps its own bits."""
    data = bytearray()
    for point in points or [(0.0,) * 4] * count:
        for value in point:
            data += struct.pack("<I", value & 0xFFFFFFFF) if isinstance(value, int) else struct.pack("<f", value)
    return bytes(data)


def packed(data):
    return base64.b64encode(zlib.compress(data, 9)).decode()


def columns(points):
    data = rows(points, len(points))
    return packed(b"".join(data[i * 16 + 4 * k : i * 16 + 4 * k + 4] for k in range(4) for i in range(len(points))))


def child(first, only, folder, fake):
    driver = Driver(fake)
    json.dump(driver.name(), open(os.path.join(folder, "card"), "w"))
    for index in only if only is not None else range(first, len(EXPERIMENTS) + 1):
        path = os.path.join(folder, str(index))
        if index == len(EXPERIMENTS):
            outcome = driver.times()
        elif EXPERIMENTS[index]["alone"] and only is None:
            continue
        else:
            try:
                outcome = driver.answer(EXPERIMENTS[index])
            except RuntimeError as error:
                outcome = {"error": str(error)}
        with open(path + ".part", "w") as file:
            json.dump(outcome, file)
        os.rename(path + ".part", path)
        # Errors of a launch stay with the context.
        if "error" in outcome and ("Synchronize" in outcome["error"] or "ILLEGAL" in outcome["error"] or "LAUNCH" in outcome["error"]):
            os._exit(1)
    os._exit(0)


def main():
    target, fake = sys.argv[1], "--fake" in sys.argv
    began = time.time()
    build()
    last = len(EXPERIMENTS)
    with tempfile.TemporaryDirectory() as folder:
        done = lambda index: os.path.exists(os.path.join(folder, str(index)))
        def start(first, only):
            pid = os.fork()
            if pid == 0:
                try:
                    child(first, only, folder, fake)
                except BaseException as error:
                    print("child:", repr(error), flush=True)
                    os._exit(2)
            return os.waitpid(pid, 0)[1]
        tries = 0
        while tries < 20:
            open_ = [index for index in range(last + 1) if not done(index) and not (index < last and EXPERIMENTS[index]["alone"])]
            if not open_:
                break
            tries += 1
            status = start(open_[0], None)
            if not done(open_[0]):
                json.dump({"error": f"the process ended with {status}"}, open(os.path.join(folder, str(open_[0])), "w"))
        for index in range(last):
            if EXPERIMENTS[index]["alone"] and time.time() - began < 60:
                start(0, [index])
        read = lambda index: json.load(open(os.path.join(folder, str(index)))) if done(index) else {"error": "it did not run"}
        answers = [read(index) for index in range(last)]
        times = read(last)
        card = json.load(open(os.path.join(folder, "card")))
    # The card made what it was given: a plain fetch of plain texels answers these texels.
    wrong = 0
    for each, answer in zip(EXPERIMENTS, answers):
        if each["name"] == "odd-1d-point" and "results" in answer:
            got = struct.unpack("<176I", zlib.decompress(base64.b64decode(answer["results"])))
            texels = struct.unpack("<22I", each["texture"]["texels"][0])
            wrong = sum(1 for k, value in enumerate(got) if value != texels[min(int(each["points"][k][0]), 21)])
    kept = []
    for each, answer in zip(EXPERIMENTS, answers):
        spec = dict(each["texture"], texels=[packed(level) for level in each["texture"]["texels"]])
        kept.append(dict(name=each["name"], kernel=each["kernel"], texture=spec, surface=each["surface"], out=each["out"], count=len(each["points"]), points=columns(each["points"]),
                         **({"d": columns(each["d"])} if each["d"] else {}), **({"e": columns(each["e"])} if each["e"] else {}), **answer))
    with open(target, "w") as file:
        json.dump({"card": card, "experiments": kept, "times": times}, file)
    failed = [(each["name"], answer["error"]) for each, answer in zip(EXPERIMENTS, answers) if "error" in answer]
    for name, error in failed:
        print(f"{name}: {error}")
    if "error" in times:
        print("times:", times["error"])
    print(f"{last - len(failed)} of {last} experiments on {card}, {wrong} plain fetches differ from their texels (0 is right), {os.path.getsize(target)} bytes, {time.time() - began:.1f} s")


main()
