import { Axis, BORDER, type Neighbours } from './axis.js';
import type { FetchForm } from './fetchForm.js';
import { alone, channelReaders, givesIntegers, isLight, type ChannelReader } from './texels.js';
import { levelShapes, type LevelShape, type TextureObject } from './textureObject.js';
import {
  blendOf,
  borderTexel,
  cubePlace,
  levelOfGradients,
  MISSING,
  nanBits,
  nearestLevel,
  shareOut,
  subLevels,
  type Blend,
} from './textureUnit.js';

const floats = new Float32Array(1);
const floatBits = new Int32Array(floats.buffer);
/** Texels that one fetch blends at most: four of each slice of each of two levels. */
const MOST_TEXELS = 16;

/** Operands of a fetch: the same words as floats and as integers. */
export interface FetchOperands {
  readonly words: Int32Array;
  readonly floats: Float32Array;
}

/** A texture object with its memory at hand: gives what its fetches give. */
export class SampledTexture {
  private readonly levels: readonly LevelShape[];
  private readonly axes: readonly [Axis, Axis, Axis];
  private readonly readers: readonly ChannelReader[];
  private readonly blends: readonly Blend[];
  /** As the readers give texels. */
  private readonly border: readonly number[];
  private readonly isInteger: boolean;
  /** Texels of 32 bits are given bit for bit where they are not filtered. */
  private readonly isRaw: boolean;
  private readonly isHalf: boolean;
  private readonly dimensions: 1 | 2 | 3;
  /** Channels that the running fetch keeps. */
  private wanted = 0;
  private readonly isFiltered: boolean;
  private readonly blendsLevels: boolean;
  /** What the running fetch blends: offsets of texels and their weights in 256ths, in fours. */
  private count = 0;
  private readonly offsets = new Float64Array(MOST_TEXELS);
  private readonly weights = new Int32Array(MOST_TEXELS);
  private readonly values = new Float64Array(MOST_TEXELS);
  private readonly along: readonly [Neighbours, Neighbours, Neighbours] = [
    { first: 0, second: 0, weight: 0, isMirrored: false },
    { first: 0, second: 0, weight: 0, isMirrored: false },
    { first: 0, second: 0, weight: 0, isMirrored: false },
  ];
  private readonly place = new Float64Array(3);

  /** Texel that the last fetch read first, as an offset of its bytes in the resource; of tools that watch memory. */
  lastOffset = 0;

  /** @param view of the resource's bytes */
  constructor(
    readonly object: TextureObject,
    private readonly view: DataView,
    private readonly texelBytes: number,
  ) {
    const { resource, sampler } = object;
    this.levels = levelShapes(resource);
    const axis = (index: 0 | 1 | 2): Axis =>
      // Directions have no unit.
      new Axis(
        resource.cube ? 'clamp' : sampler.address[index],
        resource.cube || sampler.normalizedCoordinates,
      );
    this.axes = [axis(0), axis(1), axis(2)];
    this.readers = channelReaders(object);
    this.isInteger = givesIntegers(object);
    this.isFiltered = sampler.filter === 'linear';
    this.blendsLevels = sampler.mipmapFilter === 'linear' && this.levels.length > 1 && !this.isInteger;
    this.isRaw = /32$/.test(resource.type);
    this.isHalf = resource.type === 'f16';
    const { type, channels } = resource;
    this.blends = Array.from({ length: channels }, (_, channel) => blendOf(type, isLight(sampler, channel)));
    this.border = sampler.border.map((each) => borderTexel(each, type, this.isInteger));
    this.dimensions = resource.depth > 0 ? 3 : resource.height > 0 ? 2 : 1;
  }

  /** Whether instructions of a geometry read such a texture. */
  fits({ isCube, isLayered, dimensions }: FetchForm): boolean {
    const { resource } = this.object;
    return resource.cube === isCube && resource.layers > 0 === isLayered && this.dimensions === dimensions;
  }

  /** Writes the four words that a fetch gives. */
  fetch(form: FetchForm, operands: FetchOperands, results: Int32Array): void {
    this.wanted = form.wanted;
    const layer = this.takePlace(form, operands);
    const operandsAt = form.coordinates;
    if (form.operation === 'tld4') {
      this.gather(form.channel, layer, results);
      return;
    }
    if (form.isWhole) {
      this.readWhole(form.level === 'level' ? (operands.words[operandsAt] ?? 0) : 0, layer, results);
      return;
    }
    const fixed = this.levels.length === 1 ? 0 : this.levelOf(form, operands, operandsAt);
    if (!this.blendsLevels) {
      const nearest = nearestLevel(fixed);
      if (!this.isFiltered) this.readNearest(nearest, layer, results);
      else {
        this.count = 0;
        this.addLinear(nearest, layer, 256);
        this.giveBlends(results);
      }
      return;
    }
    const lower = Math.min(Math.floor(fixed / 256), this.levels.length - 1);
    const weight = fixed - 256 * lower;
    this.count = 0;
    this.addLevel(lower, layer, 256 - weight);
    if (weight > 0) this.addLevel(Math.min(lower + 1, this.levels.length - 1), layer, weight);
    this.giveBlends(results);
  }

  /** Takes coordinates from the operands. @returns the layer, or the face of one */
  private takePlace(form: FetchForm, { words, floats: values }: FetchOperands): number {
    const { place } = this;
    const from = form.isLayered ? 1 : 0;
    if (form.isWhole) {
      for (let axis = 0; axis < form.dimensions; axis++) place[axis] = words[from + axis] ?? 0;
    } else {
      const used = form.isCube ? 3 : form.dimensions;
      for (let axis = 0; axis < used; axis++) place[axis] = values[from + axis] ?? 0;
    }
    const most = Math.max(1, this.object.resource.layers) - 1;
    const layer = form.isLayered ? Math.min((words[0] ?? 0) >>> 0, most) : 0;
    if (!form.isCube) return layer;
    const { face, s, t } = cubePlace(place[0] ?? 0, place[1] ?? 0, place[2] ?? 0);
    place[0] = s;
    place[1] = t;
    return layer * 6 + face;
  }

  /** In 256ths. A fetch that tells no level reads the first one, without bias. */
  private levelOf(form: FetchForm, { floats: values }: FetchOperands, at: number): number {
    const bias = subLevels(this.object.sampler.levelBias);
    if (form.level === 'level') return this.clampLevel(subLevels(values[at] ?? 0) + bias);
    if (form.level !== 'grad') return this.clampLevel(0);
    const { resource } = this.object;
    const extents = [resource.width, resource.height, resource.depth].slice(0, this.dimensions);
    const slope = (from: number): number[] =>
      extents.map((extent, axis) => (values[from + axis] ?? 0) * extent);
    return this.clampLevel(levelOfGradients(slope(at), slope(at + form.slopes)) + bias);
  }

  private clampLevel(level: number): number {
    const least = Math.max(0, subLevels(this.object.sampler.leastLevel));
    const greatest = Math.max(0, subLevels(this.object.sampler.greatestLevel));
    const last = 256 * (this.levels.length - 1);
    // What is no number is the least.
    return Math.min(level >= least ? level : least, greatest, last);
  }

  private shape(level: number): LevelShape {
    const shape = this.levels[Math.min(Math.max(level, 0), this.levels.length - 1)];
    if (shape === undefined) throw new RangeError(`no level ${level}`);
    return shape;
  }

  /** Byte offset of a texel, or of nothing where the border is read. */
  private offset({ offset, rowBytes, sliceBytes }: LevelShape, x: number, y: number, slice: number): number {
    if (x === BORDER || y === BORDER || slice === BORDER) return BORDER;
    return offset + slice * sliceBytes + y * rowBytes + x * this.texelBytes;
  }

  private readNearest(level: number, layer: number, results: Int32Array): void {
    const shape = this.shape(level);
    const [ax, ay, az] = this.axes;
    const x = ax.nearest(this.place[0] ?? 0, shape.width);
    const y = this.dimensions < 2 ? 0 : ay.nearest(this.place[1] ?? 0, shape.height);
    const z = this.dimensions < 3 ? layer : az.nearest(this.place[2] ?? 0, shape.depth);
    this.give(this.offset(shape, x, y, z), results);
  }

  /** Whole coordinates know no address modes; of one dimension they read linear memory alone. */
  private readWhole(level: number, layer: number, results: Int32Array): void {
    const { dimensions, object } = this;
    const [x = 0, y = 0, z = 0] = this.place;
    const shape = level >= 0 && level < this.levels.length ? this.shape(level) : undefined;
    const isInside =
      shape !== undefined &&
      within(x, shape.width) &&
      (dimensions < 2 || within(y, shape.height)) &&
      (dimensions < 3 || within(z, shape.depth));
    const isReadable = dimensions > 1 || object.resource.kind === 'linear' || object.resource.layers > 0;
    if (!isInside || !isReadable) results.fill(0);
    else this.give(this.offset(shape, x, dimensions < 2 ? 0 : y, dimensions < 3 ? layer : z), results);
  }

  /** Channels of one texel. */
  private give(offset: number, results: Int32Array): void {
    if (offset !== BORDER) this.lastOffset = offset;
    for (let channel = 0; channel < 4; channel++)
      if (((this.wanted >> channel) & 1) === 1) results[channel] = this.word(offset, channel);
  }

  private word(offset: number, channel: number): number {
    const read = this.readers[channel];
    if (read === undefined) return MISSING;
    if (offset === BORDER && this.isInteger) return this.border[channel] ?? 0;
    if (this.isRaw && offset !== BORDER) return this.view.getInt32(offset + 4 * channel, true);
    const texel = offset === BORDER ? (this.border[channel] ?? 0) : read(this.view, offset);
    // A half's own bits, also where it is no number.
    if (this.isHalf && texel !== texel) return this.halfNan(offset, channel);
    return this.bitsOf(alone(this.object, channel, texel));
  }

  private halfNan(offset: number, channel: number): number {
    if (offset === BORDER) return nanBits('f16');
    const half = this.view.getUint16(offset + 2 * channel, true);
    return ((half & 0x8000) << 16) | 0x7f800000 | ((half & 0x3ff) << 13);
  }

  private bitsOf(value: number): number {
    if (this.isInteger) return value | 0;
    if (value !== value) return nanBits(this.object.resource.type);
    floats[0] = value;
    return floatBits[0] ?? 0;
  }

  private addLevel(level: number, layer: number, weight: number): void {
    if (this.isFiltered) {
      this.addLinear(level, layer, weight);
      return;
    }
    const shape = this.shape(level);
    const [ax, ay, az] = this.axes;
    const x = ax.nearest(this.place[0] ?? 0, shape.width);
    const y = this.dimensions < 2 ? 0 : ay.nearest(this.place[1] ?? 0, shape.height);
    const z = this.dimensions < 3 ? layer : az.nearest(this.place[2] ?? 0, shape.depth);
    this.weights.fill(0, this.count, this.count + 4);
    this.weights[this.count] = weight;
    this.offsets[this.count] = this.offset(shape, x, y, z);
    this.count += 4;
  }

  /** Adds the texels around a place, each by its weight; all together weigh as much as is told. */
  private addLinear(level: number, layer: number, weight: number): void {
    const shape = this.shape(level);
    const { dimensions, axes, along, place } = this;
    const [x, y, z] = along;
    axes[0].neighbours(place[0] ?? 0, shape.width, x);
    // One dimension is a row at whose edge the unit reads: half of what it reads is the border, if there is one.
    axes[1].neighbours(dimensions < 2 ? 0 : (place[1] ?? 0), shape.height, y);
    if (dimensions < 3) {
      this.addFour(shape, layer, weight);
      return;
    }
    axes[2].neighbours(place[2] ?? 0, shape.depth, z);
    const second = (weight * z.weight + 128) >> 8;
    this.addFour(shape, z.first, weight - second);
    this.addFour(shape, z.second, second);
  }

  private addFour(shape: LevelShape, slice: number, weight: number): void {
    const [x, y] = this.along;
    const at = this.count;
    shareOut(weight, x.weight, y.weight, this.weights, at);
    this.offsets[at] = this.offset(shape, x.first, y.first, slice);
    this.offsets[at + 1] = this.offset(shape, x.second, y.first, slice);
    this.offsets[at + 2] = this.offset(shape, x.first, y.second, slice);
    this.offsets[at + 3] = this.offset(shape, x.second, y.second, slice);
    this.count = at + 4;
  }

  /** A texel without weight counts for nothing, whatever it is. */
  private giveBlends(results: Int32Array): void {
    const { count, offsets, weights, values, readers, view, border } = this;
    for (let i = 0; i < count; i++)
      if (weights[i] !== 0 && offsets[i] !== BORDER) this.lastOffset = offsets[i] ?? 0;
    for (let channel = 0; channel < 4; channel++) {
      if (((this.wanted >> channel) & 1) === 0) continue;
      const read = readers[channel];
      const blend = this.blends[channel];
      if (read === undefined || blend === undefined) {
        results[channel] = MISSING;
        continue;
      }
      for (let i = 0; i < count; i++) {
        const offset = offsets[i] ?? BORDER;
        values[i] = offset === BORDER ? (border[channel] ?? 0) : weights[i] === 0 ? 0 : read(view, offset);
      }
      results[channel] = this.bitsOf(blend(values, weights, count));
    }
  }

  /** One channel of the four texels around a place: below left first, then counterclockwise (PTX, `tld4`). */
  private gather(channel: number, layer: number, results: Int32Array): void {
    const shape = this.shape(nearestLevel(this.clampLevel(0)));
    const [x, y] = this.along;
    this.axes[0].neighbours(this.place[0] ?? 0, shape.width, x);
    this.axes[1].neighbours(this.place[1] ?? 0, shape.height, y);
    const at = (column: number, row: number): number => {
      const offset = this.offset(shape, column, row, layer);
      if (offset !== BORDER) this.lastOffset = offset;
      return this.word(offset, channel);
    };
    const [left, right] = x.isMirrored ? [x.second, x.first] : [x.first, x.second];
    const [upper, lower] = y.isMirrored ? [y.second, y.first] : [y.first, y.second];
    results[0] = at(left, lower);
    results[1] = at(right, lower);
    results[2] = at(right, upper);
    results[3] = at(left, upper);
  }
}

function within(index: number, extent: number): boolean {
  return index >= 0 && index < extent;
}
