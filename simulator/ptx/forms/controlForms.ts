import { form, type FormTable } from './formRule.js';

/** `barrier` is `bar` whose warps need not arrive together, unless it says `.aligned`. */
const barriers = [
  form('', 'cta|sync|aligned', '<- i {i}', 'sync'),
  form('', 'cta|arrive|aligned', '<- i i', 'arrive'),
  form('u32', 'cta|red|popc|aligned', 'T <- i p', 'red', 'popc'),
  form('u32', 'cta|red|popc|aligned', 'T <- i i p', 'red', 'popc'),
  form('pred', 'cta|red|and|or|aligned', 'T <- i p', 'red', 'and|or'),
  form('pred', 'cta|red|and|or|aligned', 'T <- i i p', 'red', 'and|or'),
];

/** Control flow, barriers, and what lanes of a warp tell each other. */
export const controlForms: FormTable = {
  bra: [form('', 'uni', '<- l')],
  ret: [form('', 'uni', '<-')],
  exit: [form('', 'uni', '<-')],
  // With the fault that it is, as the parser writes it where a stack ends.
  trap: [form('', 'stackOverflow', '<-')],
  brkpt: [form('', '', '<-')],
  pmevent: [form('', 'mask', '<- i')],
  nanosleep: [form('u32', '', '<- i')],
  griddepcontrol: [form('', 'launch_dependents|wait', '<-', 'launch_dependents|wait')],
  bar: [...barriers, form('', 'warp|sync', '<- i', 'warp', 'sync')],
  barrier: barriers,
  activemask: [form('b32', '', 'T <-')],
  elect: [form('', 'sync', 'b32|p <- i', 'sync')],
  shfl: [
    form('b32', 'sync|up|down|bfly|idx', 'T|p <- T i i i', 'sync', 'up|down|bfly|idx'),
    form('b32', 'up|down|bfly|idx', 'T|p <- T i i', 'up|down|bfly|idx'),
  ],
  vote: [
    form('pred', 'sync|all|any|uni', 'p <- p i', 'sync', 'all|any|uni'),
    form('b32', 'sync|ballot', 'T <- p i', 'sync', 'ballot'),
    form('pred', 'all|any|uni', 'p <- p', 'all|any|uni'),
    form('b32', 'ballot', 'T <- p', 'ballot'),
  ],
  match: [
    form('b32|b64', 'sync|any', 'u32 <- T i', 'sync', 'any'),
    form('b32|b64', 'sync|all', 'u32|p <- T i', 'sync', 'all'),
  ],
  redux: [
    form('[us]32', 'sync|add|min|max', 'T <- T i', 'sync', 'add|min|max'),
    form('b32', 'sync|and|or|xor', 'T <- T i', 'sync', 'and|or|xor'),
  ],
};
