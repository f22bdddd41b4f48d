import { form, type InstructionForm, memoryOrder, since } from './form.js';
import { effects, row, syntax, UNTAINTED } from './parts.js';

const any = '[bus](?:8|16|32|64)|f32|f64';
const spaces = 'global|shared|shared::cta|shared::cluster|local|param|param::entry|param::func|const';
const writable = 'global|shared|shared::cta|shared::cluster|local|param|param::func';
const scopes = 'cta|cluster|gpu|sys';
/** Fences that order what one kind of memory sees alone. */
const restricted = 'proxy|async::generic|sync_restrict::shared::(?:cta|cluster)|cluster';
const caching = 'ca|cg|cs|lu|cv|wb|wt|L1::\\w+|L2::(?:64B|128B|256B)';
const generic = 'global|shared|shared::cta|shared::cluster|local|const|param|param::entry';

const atomicPlace = `global|shared|shared::cta|shared::cluster|${memoryOrder}`;

/** `atom` and `red` differ in what they give back. */
function atomics(destination: string): InstructionForm[] {
  const scalar = `${destination} <- a T`;
  const vector = `${destination === '' ? '' : 'vT'} <- a vT`;
  return [
    ...since('1.1', 11, form('[us](?:32|64)', `${atomicPlace}|add|min|max`, scalar, 'add|min|max')),
    ...since('2.0', 20, form('f32|f64', `${atomicPlace}|add`, scalar, 'add')),
    ...since(
      '1.1',
      11,
      form('u32', `${atomicPlace}|inc|dec`, scalar, 'inc|dec'),
      form('b32|b64', `${atomicPlace}|and|or|xor`, scalar, 'and|or|xor'),
    ),
    ...since('6.2', 60, form('f16|f16x2|bf16|bf16x2', `${atomicPlace}|add|noftz`, scalar, 'add', 'noftz')),
    ...since(
      '8.1',
      90,
      form('f32', `global|${memoryOrder}|add|v2|v4`, vector, 'add', 'v2|v4'),
      form('f16|bf16', `global|${memoryOrder}|add|min|max|noftz|v2|v4|v8`, vector, 'add|min|max', 'v2|v4|v8'),
      form('f16x2|bf16x2', `global|${memoryOrder}|add|min|max|noftz|v2|v4`, vector, 'add|min|max', 'v2|v4'),
    ),
  ];
}

const completes = 'mbarrier::complete_tx::bytes';
const combines = 'and|or|xor|add|inc|dec|min|max';
const reducible = 'f16|bf16|[bus](?:32|64)|f32|f64';

/** Copies of any length, which one thread asks for. What they are made of: `ptx/bulkCopies.ts`. */
const bulkCopies = since(
  '8.0',
  90,
  form(
    '',
    `async|bulk|global|shared::cta|shared::cluster|${completes}`,
    '<- a a i a',
    'async',
    'bulk',
    completes,
  ),
  form('', 'async|bulk|global|shared::cta|bulk_group', '<- a a i', 'async', 'bulk', 'bulk_group'),
  form('', 'async|bulk|prefetch|L2|global', '<- a i', 'async', 'bulk', 'prefetch', 'L2'),
  form('', 'async|bulk|commit_group', '<-', 'async', 'bulk', 'commit_group'),
  form('', 'async|bulk|wait_group|read', '<- i', 'async', 'bulk', 'wait_group'),
  form(
    reducible,
    `reduce|async|bulk|shared::cta|shared::cluster|${completes}|${combines}`,
    '<- a a i a',
    'reduce',
    'async',
    'bulk',
    completes,
    combines,
  ),
  form(
    reducible,
    `reduce|async|bulk|global|shared::cta|bulk_group|${combines}|noftz`,
    '<- a a i',
    'reduce',
    'async',
    'bulk',
    'bulk_group',
    combines,
  ),
);

const tensor = 'async|bulk|tensor|[1-5]d|global|shared::cta|tile';

/** Copies of boxes of a tensor. What they are made of: `ptx/tensorCopies.ts`. */
const tensorCopies = since(
  '8.0',
  90,
  form('', `${tensor}|shared::cluster|${completes}`, '<- a a vi a', 'async', 'tensor', '[1-5]d', completes),
  form('', `${tensor}|bulk_group`, '<- a vi a', 'async', 'tensor', '[1-5]d', 'bulk_group'),
  form('', `${tensor}|prefetch|L2`, '<- a vi', 'async', 'tensor', '[1-5]d', 'prefetch', 'L2'),
  form(
    '',
    `reduce|${tensor}|bulk_group|${combines}`,
    '<- a vi a',
    'reduce',
    'async',
    'tensor',
    '[1-5]d',
    'bulk_group',
    combines,
  ),
);

/** What one access through an address is. */
const ACCESS = {
  isUniform: false,
  nanBits: 'kept',
  pointers: 'loaded',
  taint: UNTAINTED,
  watch: 'access',
  heldBy: 'vectors',
} as const;

const ADDRESS = {
  counted: 'byType',
  registers: 'plain',
  taint: UNTAINTED,
  watch: 'nothing',
  heldBy: 'tests',
} as const;

/** Whose address it is, and where it lies in another block of the cluster. */
const RANK = {
  ...ADDRESS,
  cost: 'integer',
  isUniform: false,
  nanBits: 'canonical',
  taint: { kind: 'effect', text: 'may reach the shared memory of other blocks' },
} as const;

const HINT = {
  syntax: syntax({ writes: 'never' }),
  counted: 'byType',
  cost: 'request',
  registers: 'plain',
  isUniform: false,
  nanBits: 'canonical',
  pointers: 'none',
  taint: UNTAINTED,
  watch: 'nothing',
  heldBy: 'tests',
} as const;

const FENCE = { ...HINT, counted: 'fence', cost: 'fence', watch: 'fence' } as const;

/** Loads, stores, atomics, copies, address conversion, and hints to caches. */
export const memory = {
  ld: row(effects.load, {
    ...ACCESS,
    forms: [form(any, `${spaces}|${memoryOrder}|mmio|unified|${caching}|nc|v2|v4`, 'vT <- a')],
    syntax: syntax({ isWider: true, hints: 'access', isBraced: true }),
    counted: 'load',
    cost: 'load',
    registers: 'load',
  }),
  ldu: row(effects.readOnlyLoad, {
    ...ACCESS,
    forms: since('2.0', 20, form(any, 'global|v2|v4', 'vT <- a')),
    syntax: syntax({ isWider: true, hints: 'access', isBraced: true }),
    counted: 'load',
    cost: 'access',
    registers: 'load',
    watch: 'nothing',
    heldBy: 'tests',
  }),
  st: row(effects.store, {
    ...ACCESS,
    forms: [
      form(any, `${writable}|${memoryOrder}|mmio|${caching}|v2|v4`, '<- a vT'),
      ...since(
        '8.1',
        90,
        form(
          '[bus](?:32|64)|f32|f64',
          `async|weak|${completes}|shared::cluster|v2|v4`,
          '<- a vT a',
          'async',
          completes,
        ),
      ),
    ],
    syntax: syntax({ writes: 'never', isWider: true, hints: 'access', isBraced: true }),
    counted: 'store',
    cost: 'access',
    registers: 'plain',
  }),
  cvta: row(effects.address, {
    ...ADDRESS,
    forms: since('2.0', 20, form('u64', `to|${generic}`, 'T <- T')),
    syntax: syntax({ hints: 'address', rewritten: 'symbol' }),
    cost: 'folded',
    isUniform: true,
    nanBits: 'canonical',
    pointers: 'converted',
  }),
  isspacep: row(effects.address, {
    ...ADDRESS,
    forms: since('2.0', 20, form('', generic, 'p <- u64', generic)),
    syntax: syntax({ hints: 'address' }),
    cost: 'classification',
    isUniform: false,
    nanBits: 'canonical',
    pointers: 'none',
  }),
  mapa: row(effects.address, {
    ...RANK,
    forms: since(
      '7.8',
      90,
      form('u32', 'shared::cluster', 'T <- T i', 'shared::cluster'),
      form('u64', 'shared::cluster', 'T <- T i'),
    ),
    syntax: syntax({ rewritten: 'symbol' }),
    pointers: 'any',
  }),
  getctarank: row(effects.address, {
    ...RANK,
    forms: since(
      '7.8',
      90,
      form('u32', 'shared::cluster', 'u32 <- T', 'shared::cluster'),
      form('u64', 'shared::cluster', 'u32 <- T'),
    ),
    syntax: syntax({ rewritten: 'symbol' }),
    pointers: 'none',
  }),
  atom: row(effects.atomic, {
    ...ACCESS,
    forms: [
      ...atomics('T'),
      ...since(
        '1.1',
        11,
        form('b32|b64', `${atomicPlace}|exch`, 'T <- a T', 'exch'),
        form('b16|[bus](?:32|64)', `${atomicPlace}|cas`, 'T <- a T T', 'cas'),
      ),
      ...since(
        '8.3',
        90,
        form('b128', `${atomicPlace}|exch`, 'vT <- a vT', 'exch'),
        form('b128', `${atomicPlace}|cas`, 'vT <- a vT vT', 'cas'),
      ),
    ],
    syntax: syntax({ rule: 'vectors', hints: 'access' }),
    counted: 'atomic',
    cost: 'access',
    registers: 'atomic',
    watch: 'update',
    pointers: 'any',
  }),
  red: row(effects.reduction, {
    ...ACCESS,
    forms: [
      ...atomics(''),
      ...since(
        '8.1',
        90,
        form(
          '[bus](?:32|64)',
          `async|relaxed|cluster|${completes}|shared::cluster|${combines}`,
          '<- a T a',
          'async',
          completes,
          combines,
        ),
      ),
    ],
    syntax: syntax({ writes: 'never', hints: 'access' }),
    counted: 'atomic',
    cost: 'access',
    registers: 'plain',
    watch: 'update',
  }),
  cp: row(effects.copy, {
    forms: since(
      '7.0',
      80,
      form(
        '',
        `async|ca|cg|shared|shared::cta|global|${caching}`,
        '<- a a i {i}',
        'async',
        'ca|cg',
        'global',
      ),
      form('', 'async|commit_group|wait_all', '<-', 'async', 'commit_group|wait_all'),
      form('', 'async|wait_group', '<- i', 'async', 'wait_group'),
      form('b64', 'async|mbarrier|arrive|noinc|shared|shared::cta', '<- a', 'async', 'mbarrier', 'arrive'),
    ).concat(bulkCopies, tensorCopies),
    syntax: syntax({ writes: 'never', rule: 'copy', hints: 'copy', rewritten: 'copy' }),
    counted: 'copy',
    cost: 'request',
    registers: 'plain',
    isUniform: false,
    nanBits: 'canonical',
    pointers: 'none',
    taint: UNTAINTED,
    watch: 'copy',
    heldBy: 'tests',
  }),
  prefetch: row(effects.hint, {
    ...HINT,
    forms: [
      ...since('2.0', 20, form('', 'global|local|L1|L2|L2::evict_\\w+', '<- a', 'L1|L2|L2::evict_\\w+')),
      ...since('8.0', 90, form('', 'tensormap|param|const', '<- a', 'tensormap')),
    ],
  }),
  prefetchu: row(effects.hint, { ...HINT, forms: since('2.0', 20, form('', 'L1', '<- a', 'L1')) }),
  discard: row(effects.discard, {
    ...HINT,
    forms: since('7.4', 80, form('', 'global|L2', '<- a i', 'L2')),
  }),
  applypriority: row(effects.hint, {
    ...HINT,
    forms: since('7.4', 80, form('', 'global|L2::evict_normal', '<- a i', 'L2::evict_normal')),
  }),
  membar: row(effects.fence, {
    ...FENCE,
    watch: 'barrierOfMemory',
    forms: [
      ...since('1.4', 11, form('', 'cta|gl|sys', '<-', 'cta|gl|sys')),
      ...since('7.5', 70, form('', 'proxy|alias', '<-', 'proxy', 'alias')),
    ],
  }),
  fence: row(effects.fence, {
    ...FENCE,
    forms: [
      ...since(
        '6.0',
        70,
        form('', 'sc|acq_rel|acquire|release|cta|cluster|gpu|sys', '<-', 'cta|cluster|gpu|sys'),
      ),
      ...since(
        '7.5',
        70,
        form('', 'proxy|alias|async|global|shared::cta|shared::cluster', '<-', 'proxy', 'alias|async'),
      ),
      ...since(
        '8.0',
        90,
        form('', 'mbarrier_init|release|cluster', '<-', 'mbarrier_init', 'release', 'cluster'),
      ),
      ...since(
        '8.3',
        90,
        form('', `proxy|tensormap::generic|release|${scopes}`, '<-', 'tensormap::generic', 'release', scopes),
        form(
          '',
          `proxy|tensormap::generic|acquire|${scopes}`,
          '<- a i',
          'tensormap::generic',
          'acquire',
          scopes,
        ),
      ),
      ...since(
        '8.6',
        90,
        form('', `${restricted}|acquire`, '<-', 'acquire', 'sync_restrict::shared::cluster', 'cluster'),
        form('', `${restricted}|release`, '<-', 'release', 'sync_restrict::shared::cta', 'cluster'),
      ),
    ],
  }),
};
