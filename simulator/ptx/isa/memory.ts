import { form, type FormTable, type InstructionForm, memoryOrder } from './formRule.js';

const any = '[bus](?:8|16|32|64)|f32|f64';
const spaces = 'global|shared|shared::cta|local|param|param::entry|param::func|const';
const writable = 'global|shared|shared::cta|local|param|param::func';
const caching = 'ca|cg|cs|lu|cv|wb|wt|L1::\\w+|L2::(?:64B|128B|256B)';
const generic = 'global|shared|shared::cta|local|const|param|param::entry';

const atomicPlace = `global|shared|shared::cta|${memoryOrder}`;

/** `atom` and `red` differ in what they give back. */
function atomics(destination: string): InstructionForm[] {
  const scalar = `${destination} <- a T`;
  const vector = `${destination === '' ? '' : 'vT'} <- a vT`;
  return [
    form('[us](?:32|64)', `${atomicPlace}|add|min|max`, scalar, 'add|min|max'),
    form('f32|f64', `${atomicPlace}|add`, scalar, 'add'),
    form('u32', `${atomicPlace}|inc|dec`, scalar, 'inc|dec'),
    form('b32|b64', `${atomicPlace}|and|or|xor`, scalar, 'and|or|xor'),
    form('f16|f16x2|bf16|bf16x2', `${atomicPlace}|add|noftz`, scalar, 'add', 'noftz'),
    form('f32', `global|${memoryOrder}|add|v2|v4`, vector, 'add', 'v2|v4'),
    form('f16|bf16', `global|${memoryOrder}|add|min|max|noftz|v2|v4|v8`, vector, 'add|min|max', 'v2|v4|v8'),
    form('f16x2|bf16x2', `global|${memoryOrder}|add|min|max|noftz|v2|v4`, vector, 'add|min|max', 'v2|v4'),
  ];
}

/** Loads, stores, atomics, copies, address conversion, and hints to caches. */
export const memoryForms: FormTable = {
  ld: [form(any, `${spaces}|${memoryOrder}|mmio|unified|${caching}|nc|v2|v4`, 'vT <- a')],
  ldu: [form(any, 'global|v2|v4', 'vT <- a')],
  st: [form(any, `${writable}|${memoryOrder}|mmio|${caching}|v2|v4`, '<- a vT')],
  cvta: [form('u64', `to|${generic}`, 'T <- T')],
  isspacep: [form('', generic, 'p <- u64', generic)],
  atom: [
    ...atomics('T'),
    form('b32|b64', `${atomicPlace}|exch`, 'T <- a T', 'exch'),
    form('b16|[bus](?:32|64)', `${atomicPlace}|cas`, 'T <- a T T', 'cas'),
    form('b128', `${atomicPlace}|exch`, 'vT <- a vT', 'exch'),
    form('b128', `${atomicPlace}|cas`, 'vT <- a vT vT', 'cas'),
  ],
  red: atomics(''),
  cp: [
    form('', `async|ca|cg|shared|shared::cta|global|${caching}`, '<- a a i {i}', 'async', 'ca|cg', 'global'),
    form('', 'async|commit_group|wait_all', '<-', 'async', 'commit_group|wait_all'),
    form('', 'async|wait_group', '<- i', 'async', 'wait_group'),
  ],
  prefetch: [form('', 'global|local|L1|L2|L2::evict_\\w+', '<- a', 'L1|L2|L2::evict_\\w+')],
  prefetchu: [form('', 'L1', '<- a', 'L1')],
  discard: [form('', 'global|L2', '<- a i', 'L2')],
  applypriority: [form('', 'global|L2::evict_normal', '<- a i', 'L2::evict_normal')],
  membar: [form('', 'cta|gl|sys', '<-', 'cta|gl|sys'), form('', 'proxy|alias', '<-', 'proxy', 'alias')],
  fence: [
    form('', 'sc|acq_rel|acquire|release|cta|cluster|gpu|sys', '<-', 'cta|cluster|gpu|sys'),
    form('', 'proxy|alias|async|global|shared::cta', '<-', 'proxy', 'alias|async'),
  ],
};
