import { form, type FormTable } from './formRule.js';

/** What lanes of a warp tell each other. */
export const exchangeForms: FormTable = {
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
