import { form, since } from './form.js';
import { effects, row, syntax, TAINTED, UNTAINTED } from './parts.js';
import type { EffectKind, Taint } from './row.js';

/** `barrier` is `bar` whose warps need not arrive together, unless it says `.aligned`. */
const barriers = [
  form('', 'cta|sync|aligned', '<- i {i}', 'sync'),
  ...since('2.0', 20, form('', 'cta|arrive|aligned', '<- i i', 'arrive')),
  ...since(
    '2.0',
    20,
    form('u32', 'cta|red|popc|aligned', 'T <- i p', 'red', 'popc'),
    form('u32', 'cta|red|popc|aligned', 'T <- i i p', 'red', 'popc'),
    form('pred', 'cta|red|and|or|aligned', 'T <- i p', 'red', 'and|or'),
    form('pred', 'cta|red|and|or|aligned', 'T <- i i p', 'red', 'and|or'),
  ),
];

/** Of all threads of a cluster: who has arrived goes on, and waits later. */
const clusterBarriers = since(
  '7.8',
  90,
  form('', 'cluster|arrive|aligned|release|relaxed', '<-', 'cluster', 'arrive'),
  form('', 'cluster|wait|aligned|acquire', '<-', 'cluster', 'wait'),
);

/** The outside notices. */
const effect = (text: string): Taint => ({ kind: 'effect', text });

type Control = Extract<EffectKind, 'return' | 'exit' | 'trap' | 'breakpoint'>;

function ends<const K extends Control>(kind: K, modifiers: string) {
  return row(effects[kind], {
    forms: [form('', modifiers, '<-')],
    syntax: syntax({ writes: 'never' }),
    counted: 'control',
    cost: 'end',
    registers: 'plain',
    isUniform: false,
    nanBits: 'canonical',
    pointers: 'none',
    taint: UNTAINTED,
    watch: 'nothing',
    heldBy: 'kernels',
  });
}

const BARRIER = {
  syntax: syntax({ writes: 'reductions', isNegatable: true, rule: 'barrier' }),
  counted: 'barrier',
  cost: 'barrier',
  registers: 'plain',
  isUniform: false,
  nanBits: 'canonical',
  pointers: 'none',
  taint: { kind: 'exchange', name: 'bar', isOpenWithoutSync: false },
  watch: 'barrier',
  heldBy: 'kernels',
} as const;

/** What asks the machine for something, and writes nothing. */
const HINT = {
  syntax: syntax({ writes: 'never' }),
  registers: 'plain',
  isUniform: false,
  nanBits: 'canonical',
  pointers: 'none',
  taint: UNTAINTED,
  watch: 'nothing',
  heldBy: 'tests',
} as const;

/** Control flow and barriers. */
export const control = {
  bra: row(effects.branch, {
    forms: [form('', 'uni', '<- l')],
    syntax: syntax({ writes: 'never' }),
    counted: 'control',
    cost: 'branch',
    registers: 'plain',
    isUniform: true,
    nanBits: 'canonical',
    pointers: 'none',
    taint: UNTAINTED,
    watch: 'nothing',
    heldBy: 'kernels',
  }),
  ret: ends('return', 'uni'),
  exit: ends('exit', 'uni'),
  // With the fault that it is, as the parser writes it where a stack ends.
  trap: {
    ...ends('trap', 'stackOverflow'),
    taint: effect('may end in a fault'),
  },
  brkpt: {
    ...ends('breakpoint', ''),
    taint: effect('may stop at a breakpoint'),
  },
  pmevent: row(effects.hint, {
    ...HINT,
    forms: since('1.4', 10, form('', 'mask', '<- i')),
    counted: 'byType',
    cost: 'request',
    taint: effect('counts an event'),
  }),
  nanosleep: row(effects.wait, {
    ...HINT,
    forms: since('6.3', 70, form('u32', '', '<- i')),
    counted: 'fence',
    cost: 'request',
    taint: TAINTED,
  }),
  // A launch starts when those before it in its stream have completed and all they stored is there: nothing is left to wait for.
  griddepcontrol: row(effects.hint, {
    ...HINT,
    forms: since('7.8', 90, form('', 'launch_dependents|wait', '<-', 'launch_dependents|wait')),
    counted: 'byType',
    cost: 'request',
  }),
  bar: row(effects.alignedBarrier, {
    ...BARRIER,
    forms: [...barriers, ...since('6.0', 30, form('', 'warp|sync', '<- i', 'warp', 'sync'))],
  }),
  barrier: row(effects.barrier, {
    ...BARRIER,
    forms: [...since('6.0', 30, ...barriers), ...clusterBarriers],
  }),
  brx: row(effects.switch, {
    forms: [],
    formless: { kind: 'parsed', text: 'brx.idx{.uni} index, list' },
    syntax: syntax({ writes: 'never', rule: 'switch' }),
    counted: 'control',
    cost: 'switch',
    registers: 'plain',
    isUniform: true,
    nanBits: 'canonical',
    pointers: 'none',
    taint: UNTAINTED,
    watch: 'nothing',
    heldBy: 'kernels',
  }),
  call: row(effects.call, {
    forms: [],
    formless: { kind: 'parsed', text: 'call{.uni} {(result), }function{, (arguments)}{, prototype}' },
    syntax: syntax({ rule: 'call' }),
    counted: 'control',
    cost: 'call',
    registers: 'plain',
    isUniform: false,
    nanBits: 'canonical',
    pointers: 'any',
    taint: UNTAINTED,
    watch: 'nothing',
    heldBy: 'kernels',
  }),
};
