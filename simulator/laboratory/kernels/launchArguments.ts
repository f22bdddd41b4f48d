import type { Extent, FixtureArgument } from './kernelFixture.js';

/** Bytes of one argument, with zeros where the addresses of buffers belong. */
export interface ArgumentBytes {
  readonly bytes: Uint8Array;
  readonly pointers: readonly { readonly offset: number; readonly buffer: string }[];
}

/** A value in an argument: where it may begin, what it is, and the addresses inside. */
interface Slot {
  readonly align: number;
  readonly bytes: number;
  readonly write: (view: DataView, offset: number) => void;
  readonly pointers: ArgumentBytes['pointers'];
}

/** Objects and buffers may have one name. */
export function objectName(name: string): string {
  return `object ${name}`;
}

export function argumentBytes(argument: FixtureArgument): ArgumentBytes {
  const { bytes, write, pointers } = slotOf(argument);
  const packed = new Uint8Array(bytes);
  write(new DataView(packed.buffer), 0);
  return { bytes: packed, pointers };
}

function slotOf(argument: FixtureArgument): Slot {
  if ('buffer' in argument) {
    return { align: 8, bytes: 8, write: () => undefined, pointers: [{ offset: 0, buffer: argument.buffer }] };
  }
  if ('object' in argument) return slotOf({ buffer: objectName(argument.object) });
  if ('i32' in argument) return scalar(4, (view, at) => view.setInt32(at, argument.i32, true));
  if ('u32' in argument) return scalar(4, (view, at) => view.setUint32(at, argument.u32, true));
  if ('u64' in argument) return scalar(8, (view, at) => view.setBigUint64(at, argument.u64, true));
  if ('half' in argument) return scalar(2, (view, at) => view.setUint16(at, argument.half, true));
  if ('f32' in argument) return scalar(4, (view, at) => view.setFloat32(at, argument.f32, true));
  if ('f64' in argument) return scalar(8, (view, at) => view.setFloat64(at, argument.f64, true));
  if ('bytes' in argument) {
    const { bytes } = argument;
    const write = (view: DataView, at: number): void =>
      bytes.forEach((byte, index) => view.setUint8(at + index, byte));
    return { align: 1, bytes: bytes.length, write, pointers: [] };
  }
  return 'struct' in argument
    ? structure(argument.struct.map(slotOf), 1)
    : structure(argument.align16.map(slotOf), 16);
}

function scalar(bytes: number, write: Slot['write']): Slot {
  return { align: bytes, bytes, write, pointers: [] };
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
    pointers: placed.flatMap(({ member, offset: first }) =>
      member.pointers.map(({ offset, buffer }) => ({ offset: first + offset, buffer })),
    ),
  };
}

export function extents(extent: Extent): readonly [number, number, number] {
  const [x = 1, y = 1, z = 1] = typeof extent === 'number' ? [extent] : extent;
  return [x, y, z];
}

function roundUp(value: number, align: number): number {
  return Math.ceil(value / align) * align;
}
