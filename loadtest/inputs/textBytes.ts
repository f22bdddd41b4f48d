import { inputValue, type InputForm } from '../../containers/protocol/index.js';
import { jsonInput } from '../../services/client/index.js';

const known = new WeakMap<Uint8Array, number>();

/** Of an input as JSON: what a frontend has to read of it. */
export function textBytes(type: InputForm['type'], input: Uint8Array): number {
  let bytes = known.get(input);
  if (bytes === undefined) {
    bytes = Buffer.byteLength(JSON.stringify(jsonInput(inputValue(type, input))));
    known.set(input, bytes);
  }
  return bytes;
}
