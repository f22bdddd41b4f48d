import { floatFormat } from '../../../tensor/index.js';
import type { InputArea } from './inputArea.js';
import { chunkTiles, modeNames, type Mode } from './modes.js';

const { imul } = Math;

/** Words of a tile, as `generator.cu` makes them. */
export function fillTile(
  areas: readonly InputArea[],
  seed: number,
  tile: number,
  tileWords: number,
): Uint32Array {
  const words = new Uint32Array(tileWords);
  for (const area of areas) fillArea(words, area, seed, tile);
  return words;
}

function fillArea(words: Uint32Array, area: InputArea, seed: number, tile: number): void {
  const { kind, offset, units, slots, map } = area;
  const own = mix(seed + imul(tile, 0x9e3779b1) + imul(area.operand, 0x85ebca77));
  if (kind !== 'floats' && kind !== 'integers') {
    for (let unit = 0; unit < units; unit++) words[offset + unit] = plainWord(kind, own, unit);
    return;
  }
  const mode = area.modes[Math.floor(tile / chunkTiles) % modeNames.length] ?? area.modes[0];
  if (mode === undefined) throw new RangeError('an operand without modes');
  if (area.elementBits === 64) {
    for (let unit = 0; unit < units; unit++) {
      const [low, high] = floatElement(area, mode, seed, tile, own, map[unit] ?? 0);
      words[offset + 2 * unit] = low;
      words[offset + 2 * unit + 1] = high;
    }
    return;
  }
  for (let unit = 0; unit < units; unit++) {
    let word = 0;
    for (let slot = 0; slot < slots; slot++) {
      const index = map[unit * slots + slot] ?? -1;
      if (index < 0) continue;
      const bits =
        kind === 'floats'
          ? floatElement(area, mode, seed, tile, own, index)[0]
          : integerElement(area, mode, own, index);
      word |= bits << (slot * area.elementBits);
    }
    words[offset + unit] = word;
  }
}

/** The finaliser of MurmurHash3. */
function mix(value: number): number {
  let u = value >>> 0;
  u = imul(u ^ (u >>> 16), 0x85ebca6b);
  u = imul(u ^ (u >>> 13), 0xc2b2ae35);
  return (u ^ (u >>> 16)) >>> 0;
}

/** Low and high word of an element's bits. */
function floatElement(
  area: InputArea,
  mode: Mode,
  seed: number,
  tile: number,
  own: number,
  element: number,
): readonly [number, number] {
  const format = floatFormat(area.type ?? 'f32');
  if (format === undefined) throw new RangeError('floats of an integer type');
  const { exponentBits, fractionBits, paddingBits, hasInfinity, bias } = format;
  let index = element;
  let flip = 0;
  if (mode.flags & 1) {
    const place = Math.floor(index / area.pairStride) % area.pairExtent;
    const chosen = mix(mix(seed + imul(tile, 0x9e3779b1) + 77) + imul(place >> 1, 0x9e3779b1)) & 3;
    if (place % 2 === 1 && chosen !== 0) {
      index -= area.pairStride;
      flip = area.operand === 1 ? 1 : 0;
    }
  }
  const h1 = mix(own + imul(index, 0xc2b2ae3d));
  const h2 = mix(h1 ^ 0x27d4eb2f);
  const h3 = mix(h1 + 0x165667b1);
  const h4 = mix(h3 ^ 0x9e3779b9);
  const topField = 2 ** exponentBits - 1;
  const isWide = fractionBits > 32;
  // A fraction of more than 32 bits: its high part in `fraction`, its low word apart.
  const partBits = isWide ? fractionBits - 32 : fractionBits;
  const ones = 2 ** partBits - 1;
  let fraction = (h1 & ones) >>> 0;
  let low = isWide ? h2 : 0;
  const setFraction = (high: number, rest: number): void => {
    fraction = high;
    low = isWide ? rest : 0;
  };
  const last = hasInfinity ? topField - 1 : topField;
  const lowField = clamp(mode.low + bias, last);
  const highField = clamp(mode.high + bias, last);
  let field = lowField + (h3 % (highField - lowField + 1));
  const sign = (h1 >>> 31) ^ flip;
  if (mode.flags & 8) {
    if (h4 & 4) setFraction(0, 0);
    else setFraction(ones, 0xffffffff);
  }
  if (mode.flags & 4 && h4 & 8) {
    field = 0;
    setFraction(0, 0);
  }
  if (mode.flags & 2 && Math.floor(h4 / 16) % mode.rarity === 0) {
    switch (h2 % 6) {
      case 0:
        field = topField;
        setFraction(hasInfinity ? 0 : ones, 0);
        break;
      case 1:
        field = topField;
        if (!hasInfinity) setFraction(ones, 0);
        else if (isWide) setFraction(fraction, (low | 1) >>> 0);
        else setFraction(fraction | 1, 0);
        break;
      case 2:
        field = 0;
        setFraction(0, 0);
        break;
      case 3:
        field = last;
        setFraction(hasInfinity ? ones : ones - 1, 0xffffffff);
        break;
      case 4:
        field = 0;
        setFraction(isWide ? 0 : 1, 1);
        break;
      default:
        field = 0;
        setFraction(ones, 0xffffffff);
    }
  } else if (!hasInfinity && field === topField && fraction === ones) fraction--;
  const top = (sign * 2 ** exponentBits + field) * 2 ** partBits + fraction;
  if (isWide) return [low, top >>> 0];
  return paddingBits === 0
    ? [top >>> 0, 0]
    : [(top * 2 ** paddingBits + (h2 & (2 ** paddingBits - 1))) >>> 0, 0];
}

function clamp(field: number, last: number): number {
  return Math.max(0, Math.min(last, field));
}

function integerElement({ elementBits }: InputArea, { flags }: Mode, own: number, index: number): number {
  const h1 = mix(own + imul(index, 0xc2b2ae3d));
  const h3 = mix(h1 + 0x165667b1);
  const mask = elementBits === 32 ? 0xffffffff : 2 ** elementBits - 1;
  if (!(flags & 16)) return (h1 & mask) >>> 0;
  const half = 2 ** (elementBits - 1);
  const small = elementBits === 32 ? h1 & 0xfff : 0;
  switch (h3 % 6) {
    case 0:
      return (h1 & mask) >>> 0;
    case 1:
      return half + small;
    case 2:
      return half - 1 - small;
    case 3:
      return mask - small;
    case 4:
      return small;
    default:
      return elementBits === 32 ? ((h1 % 0x20000) - 0x10000) >>> 0 : 1;
  }
}

const sortedPairs = [4, 8, 12, 9, 13, 14] as const;

function plainWord(kind: InputArea['kind'], own: number, unit: number): number {
  if (kind === 'rows') return ((imul(unit, imul(2, mix(own)) + 1) + mix(own + 1)) & 63) * 16;
  const h1 = mix(own + imul(unit, 0xc2b2ae3d));
  if (kind === 'words') return h1;
  let word = 0;
  for (let nibble = 0; nibble < 8; nibble++) {
    const h = mix(h1 + imul(nibble, 0x9e3779b1));
    const bits = kind === 'twoOfFour' ? (sortedPairs[h % 6] ?? 4) : h & 1 ? 14 : 4;
    word |= bits << (nibble * 4);
  }
  return word >>> 0;
}
