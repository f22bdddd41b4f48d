import { DATATYPES } from '../../../containers/models/index.js';
import type { InputType } from '../../../containers/protocol/index.js';

export { DATATYPES };
export type Datatype = (typeof DATATYPES)[number];

/** Those that outputs have: what is computed of FP16 is FP32. */
export type OutputDatatype = Exclude<Datatype, 'FP16'>;

/** What an input of each type may be sent as; the first is what metadata names. */
export const INPUT_DATATYPES: Readonly<Record<InputType, readonly [Datatype, ...Datatype[]]>> = {
  floats: ['FP32'],
  doubles: ['FP64'],
  integers: ['INT32'],
  bytes: ['UINT8', 'BYTES'],
  strings: ['BYTES'],
};
