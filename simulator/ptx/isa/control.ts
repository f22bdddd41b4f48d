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

/** Control flow and barriers. */
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
};
