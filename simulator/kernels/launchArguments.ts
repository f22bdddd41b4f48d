import type { Extent, FixtureArgument } from './kernelFixture.js';

/** A value in an argument buffer: where it goes and what it is. */
interface Slot {
  readonly align: number;
  readonly bytes: number;
  readonly write: (view: DataView, offset: number) => void;
}

/** Bytes of one argument, buffers replaced by their device addresses. */
export function argumentBytes(
  argument: FixtureArgument,
  addressOf: (buffer: string) => number,
): { readonly bytes: Uint8Array; readonly align: number } {
  const { align, bytes, write } = slotOf(argument, addressOf);
  const packed = new Uint8Array(bytes);
  write(new DataView(packed.buffer), 0);
  return { bytes: packed, align };
}

function slotOf(argument: FixtureArgument, addressOf: (buffer: string) => number): Slot {
  if ('buffer' in argument) {
    const address = BigInt(addressOf(argument.buffer));
    return { align: 8, bytes: 8, write: (view, at) => view.setBigUint64(at, address, true) };
  }
  if ('i32' in argument) {
    return { align: 4, bytes: 4, write: (view, at) => view.setInt32(at, argument.i32, true) };
  }
  if ('u32' in argument) {
    return { align: 4, bytes: 4, write: (view, at) => view.setUint32(at, argument.u32, true) };
  }
  if ('u64' in argument) {
    return { align: 8, bytes: 8, write: (view, at) => view.setBigUint64(at, argument.u64, true) };
  }
  if ('half' in argument) {
    return { align: 2, bytes: 2, write: (view, at) => view.setUint16(at, argument.half, true) };
  }
  if ('f32' in argument) {
    return { align: 4, bytes: 4, write: (view, at) => view.setFloat32(at, argument.f32, true) };
  }
  if ('f64' in argument) {
    return { align: 8, bytes: 8, write: (view, at) => view.setFloat64(at, argument.f64, true) };
  }
  if ('bytes' in argument) {
    const { bytes } = argument;
    return {
      align: 1,
      bytes: bytes.length,
      write: (view, at) => bytes.forEach((byte, index) => view.setUint8(at + index, byte)),
    };
  }
  const [members, align] = 'struct' in argument ? [argument.struct, 1] : [argument.align16, 16];
  return structure(
    members.map((member) => slotOf(member, addressOf)),
    align,
  );
}

function structure(members: readonly Slot[], least: number): Slot {
  const align = Math.max(least, ...members.map((member) => member.align));
  const placed: { readonly member: Slot; readonly offset: number }[] = [];
  let end = 0;
  for (const member of members) {
    const offset = roundUp(end, member.align);
    placed.push({ member, offset });
    end = offset + member.bytes;
  }
  return {
    align,
    bytes: roundUp(end, align),
    write: (view, at) => placed.forEach(({ member, offset }) => member.write(view, at + offset)),
  };
}

export function extents(extent: Extent): readonly [number, number, number] {
  const [x = 1, y = 1, z = 1] = typeof extent === 'number' ? [extent] : extent;
  return [x, y, z];
}

function roundUp(value: number, align: number): number {
  return Math.ceil(value / align) * align;
}
