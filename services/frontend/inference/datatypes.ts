import type { InputType } from '../../../containers/protocol/index.js';

/** The protocol's datatypes. */
export const DATATYPES = [
  'BOOL',
  'UINT8',
  'UINT16',
  'UINT32',
  'UINT64',
  'INT8',
  'INT16',
  'INT32',
  'INT64',
  'FP16',
  'FP32',
  'FP64',
  'BYTES',
] as const;
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
