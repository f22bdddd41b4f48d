import { fromHalf } from '../arithmetic/index.js';
import type { TextureObject } from './textureObject.js';
import { LINEAR_LIGHT } from './textureUnit.js';

/** Reads one channel of a texel whose bytes begin somewhere. */
export type ChannelReader = (view: DataView, at: number) => number;

/** How channels of an object are read: integers as they are. */
export function channelReaders({ resource }: TextureObject): ChannelReader[] {
  const { type, channels } = resource;
  const bytes = Number(type.slice(1)) / 8;
  return Array.from({ length: channels }, (_, channel) => readerOf(type, channel * bytes));
}

/** Of a colour the last channel is no colour. */
export function isLight({ srgb }: TextureObject['sampler'], channel: number): boolean {
  return srgb && channel < 3;
}

/** What a channel gives of one texel as its reader has it. */
export function alone({ resource, sampler }: TextureObject, channel: number, texel: number): number {
  if (!sampler.normalizedFloat) return texel;
  if (isLight(sampler, channel)) return LINEAR_LIGHT[texel] ?? 0;
  const { type } = resource;
  const bits = Number(type.slice(1)) - (type.startsWith('s') ? 1 : 0);
  return Math.max(-1, texel / (2 ** bits - 1));
}

function readerOf(type: TextureObject['resource']['type'], offset: number): ChannelReader {
  switch (type) {
    case 'u8':
      return (view, at) => view.getUint8(at + offset);
    case 's8':
      return (view, at) => view.getInt8(at + offset);
    case 'u16':
      return (view, at) => view.getUint16(at + offset, true);
    case 's16':
      return (view, at) => view.getInt16(at + offset, true);
    case 'u32':
      return (view, at) => view.getUint32(at + offset, true);
    case 's32':
      return (view, at) => view.getInt32(at + offset, true);
    case 'f16':
      return (view, at) => fromHalf(view.getUint16(at + offset, true));
    case 'f32':
      return (view, at) => view.getFloat32(at + offset, true);
  }
}

/** Whether results are integers: then they are given as they are. */
export function givesIntegers({ resource, sampler }: TextureObject): boolean {
  return !resource.type.startsWith('f') && !sampler.normalizedFloat;
}

const TYPES: Readonly<Record<string, number>> = {
  s8: 0x10d7,
  s16: 0x10d8,
  s32: 0x10d9,
  u8: 0x10da,
  u16: 0x10db,
  u32: 0x10dc,
  f16: 0x10dd,
  f32: 0x10de,
};
const NORMALIZED: Readonly<Record<string, number>> = { s8: 0x10d0, s16: 0x10d1, u8: 0x10d2, u16: 0x10d3 };
const ORDERS: Readonly<Record<number, number>> = { 1: 0x10b0, 2: 0x10b2, 4: 0x10b5 };

/** `channel_data_type`: OpenCL's numbers, as PTX says. */
export function channelDataType({ resource, sampler }: TextureObject): number {
  return (sampler.normalizedFloat ? NORMALIZED[resource.type] : undefined) ?? TYPES[resource.type] ?? 0;
}

/** `channel_order`, likewise. */
export function channelOrder({ resource }: TextureObject): number {
  return ORDERS[resource.channels] ?? 0;
}
