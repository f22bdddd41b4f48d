// Inputs of tiles, by the same rules as generator.ts: element `index` of operand `operand` of tile `tile` is a hash of these.

static __device__ unsigned mix(unsigned u) {
  u ^= u >> 16;
  u *= 0x85ebca6bu;
  u ^= u >> 13;
  u *= 0xc2b2ae35u;
  return u ^ (u >> 16);
}

struct Area {
  unsigned tiles, firstTile, tileWords, offset, units, slots, elementBits, kind;
  unsigned operand, seed, pairStride, pairExtent, chunkTiles, modes;
  unsigned exponentBits, fractionBits, paddingBits, hasInfinity;
  int bias;
};

// low, high: exponents; flags: 1 pairs, 2 specials, 4 noughts, 8 powers, 16 extremes.
struct Mode {
  int low, high, flags, rarity;
};

static __device__ int clampField(int exponent, const Area &area, int top) {
  int field = exponent + area.bias;
  return field < 0 ? 0 : field > top ? top : field;
}

static __device__ unsigned long long floatElement(const Area &area, const Mode &mode, unsigned tile, unsigned index) {
  unsigned flip = 0;
  if (mode.flags & 1) {
    unsigned place = index / area.pairStride % area.pairExtent;
    unsigned chosen = mix(mix(area.seed + tile * 0x9e3779b1u + 77u) + (place >> 1) * 0x9e3779b1u) & 3;
    if ((place & 1) && chosen != 0) {
      index -= area.pairStride;
      flip = area.operand == 1;
    }
  }
  unsigned h1 = mix(mix(area.seed + tile * 0x9e3779b1u + area.operand * 0x85ebca77u) + index * 0xc2b2ae3du);
  unsigned h2 = mix(h1 ^ 0x27d4eb2fu), h3 = mix(h1 + 0x165667b1u), h4 = mix(h3 ^ 0x9e3779b9u);
  unsigned topField = (1u << area.exponentBits) - 1;
  unsigned long long fractionMask = (1ull << area.fractionBits) - 1;
  unsigned long long fraction = area.fractionBits > 32 ? ((unsigned long long)h1 << 32 | h2) : h1;
  fraction &= fractionMask;
  unsigned sign = (h1 >> 31) ^ flip;
  int last = area.hasInfinity ? topField - 1 : topField;
  int low = clampField(mode.low, area, last), high = clampField(mode.high, area, last);
  unsigned long long field = low + h3 % (unsigned)(high - low + 1);
  if (mode.flags & 8) fraction = h4 & 4 ? 0 : fractionMask;
  if ((mode.flags & 4) && (h4 & 8)) field = fraction = 0;
  if ((mode.flags & 2) && h4 / 16 % (unsigned)mode.rarity == 0) {
    unsigned what = h2 % 6;
    if (what == 0) field = topField, fraction = area.hasInfinity ? 0 : fractionMask;
    if (what == 1) field = topField, fraction |= area.hasInfinity ? 1 : fractionMask;
    if (what == 2) field = fraction = 0;
    if (what == 3) field = last, fraction = area.hasInfinity ? fractionMask : fractionMask - 1;
    if (what == 4) field = 0, fraction = 1;
    if (what == 5) field = 0, fraction = fractionMask;
  } else if (!area.hasInfinity && field == topField && fraction == fractionMask) fraction--;
  unsigned long long bits = (unsigned long long)sign << (area.exponentBits + area.fractionBits) | field << area.fractionBits | fraction;
  return area.paddingBits == 0 ? bits : bits << area.paddingBits | (h2 & ((1u << area.paddingBits) - 1));
}

static __device__ unsigned integerElement(const Area &area, const Mode &mode, unsigned tile, unsigned index) {
  unsigned h1 = mix(mix(area.seed + tile * 0x9e3779b1u + area.operand * 0x85ebca77u) + index * 0xc2b2ae3du);
  unsigned h3 = mix(h1 + 0x165667b1u);
  unsigned mask = area.elementBits == 32 ? ~0u : (1u << area.elementBits) - 1;
  unsigned half = area.elementBits == 32 ? 1u << 31 : 1u << (area.elementBits - 1);
  if (!(mode.flags & 16)) return h1 & mask;
  unsigned small = area.elementBits == 32 ? h1 & 0xfff : 0;
  switch (h3 % 6) {
    case 0: return h1 & mask;
    case 1: return half + small;
    case 2: return half - 1 - small;
    case 3: return mask - small;
    case 4: return small;
    default: return area.elementBits == 32 ? h1 % 0x20000 - 0x10000 : 1 & mask;
  }
}

static __device__ unsigned plainWord(const Area &area, unsigned tile, unsigned unit) {
  unsigned own = mix(area.seed + tile * 0x9e3779b1u + area.operand * 0x85ebca77u);
  if (area.kind == 4) return ((unit * (2 * mix(own) + 1) + mix(own + 1)) & 63) * 16;
  unsigned h1 = mix(own + unit * 0xc2b2ae3du);
  if (area.kind == 5) return h1;
  unsigned word = 0;
  for (unsigned nibble = 0; nibble < 8; nibble++) {
    unsigned h = mix(h1 + nibble * 0x9e3779b1u);
    word |= (area.kind == 2 ? 0xed9c84u >> (h % 6 * 4) & 15 : h & 1 ? 14u : 4u) << (nibble * 4);
  }
  return word;
}

// Kinds: 0 floats, 1 integers, 2 and 3 metadata (two of four, one of two), 4 offsets of rows, 5 words.
extern "C" __global__ void fill(unsigned *out, const unsigned short *map, const Mode *modes, Area area) {
  unsigned long long at = (unsigned long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= (unsigned long long)area.tiles * area.units) return;
  unsigned tile = at / area.units + area.firstTile, unit = at % area.units;
  unsigned *words = out + (unsigned long long)(tile - area.firstTile) * area.tileWords + area.offset;
  if (area.kind >= 2) {
    words[unit] = plainWord(area, tile, unit);
    return;
  }
  Mode mode = modes[tile / area.chunkTiles % area.modes];
  if (area.elementBits == 64) {
    unsigned long long bits = map[unit] == 0xffff ? 0 : floatElement(area, mode, tile, map[unit]);
    words[2 * unit] = (unsigned)bits;
    words[2 * unit + 1] = bits >> 32;
    return;
  }
  unsigned word = 0;
  for (unsigned slot = 0; slot < area.slots; slot++) {
    unsigned index = map[unit * area.slots + slot];
    if (index == 0xffff) continue;
    unsigned bits = area.kind == 0 ? (unsigned)floatElement(area, mode, tile, index) : integerElement(area, mode, tile, index);
    word |= bits << (slot * area.elementBits);
  }
  words[unit] = word;
}
