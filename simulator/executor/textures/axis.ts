import type { AddressMode } from './textureObject.js';
import { scaled, subTexels } from './textureUnit.js';

/** Index of what lies outside where the border is read. */
export const BORDER = -1;

/** Two neighbours along an axis, and the second one's weight in 256ths. */
export interface Neighbours {
  first: number;
  second: number;
  weight: number;
}

/** Coordinates of one axis of a texture, of whatever extent. */
export class Axis {
  private readonly mode: AddressMode;

  /** @param mode wrap and mirror hold for normalised coordinates alone */
  constructor(
    mode: AddressMode,
    private readonly isNormalized: boolean,
  ) {
    this.mode = isNormalized || mode === 'border' ? mode : 'clamp';
  }

  /** The texel at a coordinate. */
  nearest(coordinate: number, extent: number): number {
    const texel = Math.floor(this.position(coordinate, extent));
    return this.index(texel, extent);
  }

  /** The texels on both sides of a coordinate. */
  neighbours(coordinate: number, extent: number, into: Neighbours): void {
    const fixed = subTexels(this.position(coordinate, extent)) - 128;
    const first = Math.floor(fixed / 256);
    into.weight = fixed - 256 * first;
    into.first = this.index(first, extent);
    into.second = this.index(first + 1, extent);
  }

  /** The texel of a whole coordinate. */
  whole(texel: number, extent: number): number {
    if (texel >= 0 && texel < extent) return texel;
    return this.mode === 'border' ? BORDER : texel < 0 ? 0 : extent - 1;
  }

  /** In texels, near enough to the texture for a whole number to say where. */
  private position(coordinate: number, extent: number): number {
    if (coordinate !== coordinate) return 0;
    let texels = coordinate;
    if (this.isNormalized) {
      if (this.mode === 'wrap') texels = scaled(coordinate - Math.floor(coordinate), extent);
      else if (this.mode === 'mirror') {
        const part = coordinate - 2 * Math.floor(coordinate / 2);
        texels = scaled(part < 1 ? part : 2 - part, extent);
      } else texels = scaled(coordinate, extent);
    }
    // An infinite coordinate wraps to nowhere.
    if (texels !== texels) return 0;
    return Math.min(Math.max(texels, -2), extent + 2);
  }

  private index(texel: number, extent: number): number {
    if (texel >= 0 && texel < extent) return texel;
    switch (this.mode) {
      case 'border':
        return BORDER;
      case 'wrap':
        return texel < 0 ? texel + extent * Math.ceil(-texel / extent) : texel % extent;
      case 'clamp':
      case 'mirror':
        return texel < 0 ? 0 : extent - 1;
    }
  }
}
