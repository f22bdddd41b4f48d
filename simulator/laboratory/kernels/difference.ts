import type { Buffers, Bound, HostArray, KernelFixture } from './kernelFixture.js';

/** The first element in which results depart from what is expected, in words; undefined when there is none. */
export function firstDifference(
  fixture: KernelFixture,
  actual: Buffers,
  expected: Buffers,
): string | undefined {
  for (const [name, rule] of Object.entries(fixture.outputs)) {
    const [got, want] = [actual[name], expected[name]];
    if (got === undefined || want === undefined) return `there is no buffer ${name}`;
    if (got.length !== want.length) return `${name} has ${got.length} elements, ${want.length} expected`;
    const index = rule === 'exact' ? firstUnequal(got, want) : firstOutside(got, want, rule);
    if (index !== undefined) {
      return `${fixture.name}: ${name}[${index}] is ${String(got[index])}, ${String(want[index])} expected`;
    }
  }
  return undefined;
}

/** By bits: -0 is not 0, and a NaN is one payload. */
function firstUnequal(got: HostArray, want: HostArray): number | undefined {
  const width = got.BYTES_PER_ELEMENT;
  const a = new Uint8Array(got.buffer, got.byteOffset, got.byteLength);
  const b = new Uint8Array(want.buffer, want.byteOffset, want.byteLength);
  const at = a.findIndex((byte, index) => byte !== b[index]);
  return at < 0 ? undefined : Math.floor(at / width);
}

function firstOutside(got: HostArray, want: HostArray, bound: Bound): number | undefined {
  for (let index = 0; index < got.length; index++) {
    const [a, b] = [Number(got[index]), Number(want[index])];
    if (Object.is(a, b)) continue;
    const room = (bound.absolute ?? 0) + (bound.relative ?? 0) * Math.abs(b);
    if (!(Math.abs(a - b) <= room)) return index;
  }
  return undefined;
}
