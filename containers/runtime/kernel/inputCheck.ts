import { inputItemBytes, inputLength, type KernelModelManifest } from '../../models/index.js';

/** Says what is wrong with an item's bytes, or undefined. */
export type InputCheck = (bytes: Uint8Array) => string | undefined;

/** The check of the model's one input: its length, and for numbers that each is finite and in the manifest's range. */
export function inputCheck(manifest: KernelModelManifest): InputCheck {
  const { type, minimum = -Infinity, maximum = Infinity } = manifest.inputs[0];
  const length = inputLength(manifest);
  const itemBytes = inputItemBytes(manifest);
  const elementBytes = itemBytes / length;
  const range =
    minimum === -Infinity && maximum === Infinity ? 'a finite number' : `from ${minimum} to ${maximum}`;
  return (bytes) => {
    if (bytes.length !== itemBytes) {
      const values = bytes.length / elementBytes;
      return `the input must have ${length} ${type}, it has ${Number.isInteger(values) ? values : `${bytes.length} bytes`}`;
    }
    const values = valuesOf(type, bytes);
    for (let index = 0; index < values.length; index++) {
      const value = values[index];
      // False for NaN, too.
      if (value >= minimum && value <= maximum && Math.abs(value) !== Infinity) continue;
      return `input[${index}] must be ${range}, it is ${value}`;
    }
    return undefined;
  };
}

type NumericArray = Int32Array | Uint8Array | Float32Array | Float64Array;

function valuesOf(type: 'integers' | 'bytes' | 'floats' | 'doubles', bytes: Uint8Array): NumericArray {
  if (type === 'bytes') return bytes;
  const elementBytes = type === 'doubles' ? 8 : 4;
  const aligned = bytes.byteOffset % elementBytes === 0 ? bytes : bytes.slice();
  const { buffer, byteOffset } = aligned;
  const count = bytes.length / elementBytes;
  switch (type) {
    case 'integers':
      return new Int32Array(buffer, byteOffset, count);
    case 'floats':
      return new Float32Array(buffer, byteOffset, count);
    case 'doubles':
      return new Float64Array(buffer, byteOffset, count);
  }
}
