import { form, since } from './form.js';
import { effects, row, syntax, TAINTED } from './parts.js';
import type { Row, Taint } from './row.js';

type Told = Pick<
  Row,
  'forms' | 'counted' | 'cost' | 'registers' | 'nanBits' | 'pointers' | 'taint' | 'watch'
> &
  Partial<Pick<Row, 'syntax'>>;

function exchange(told: Told, of: typeof effects.exchange | typeof effects.agreement = effects.exchange) {
  return row(of, {
    syntax: syntax(),
    ...told,
    isUniform: false,
    heldBy: 'kernels',
  });
}

/** What lanes tell each other by it is that of the lanes it names; without `.sync` those that happen to be there. */
function told(name: string, isOpenWithoutSync: boolean): Taint {
  return { kind: 'exchange', name, isOpenWithoutSync };
}

/** What lanes of a warp tell each other. */
export const exchanges = {
  activemask: exchange(
    {
      forms: since('6.2', 30, form('b32', '', 'T <-')),
      counted: 'warp',
      cost: 'vote',
      registers: 'plain',
      nanBits: 'canonical',
      pointers: 'none',
      taint: TAINTED,
      watch: 'nothing',
    },
    effects.agreement,
  ),
  elect: exchange({
    forms: since('8.0', 90, form('', 'sync', 'b32|p <- i', 'sync')),
    counted: 'warp',
    cost: 'vote',
    registers: 'plain',
    nanBits: 'canonical',
    pointers: 'none',
    taint: TAINTED,
    watch: 'exchange',
    syntax: syntax({ rule: 'pair' }),
  }),
  shfl: exchange({
    forms: [
      ...since('6.0', 30, form('b32', 'sync|up|down|bfly|idx', 'T|p <- T i i i', 'sync', 'up|down|bfly|idx')),
      ...since('3.0', 30, form('b32', 'up|down|bfly|idx', 'T|p <- T i i', 'up|down|bfly|idx')),
    ],
    counted: 'warp',
    cost: 'shuffle',
    registers: 'exchange',
    taint: told('shfl', true),
    syntax: syntax({ rule: 'synchronous' }),
    watch: 'shuffle',
    nanBits: 'kept',
    pointers: 'any',
  }),
  vote: exchange(
    {
      forms: [
        ...since('6.0', 30, form('pred', 'sync|all|any|uni', 'p <- p i', 'sync', 'all|any|uni')),
        ...since('6.0', 30, form('b32', 'sync|ballot', 'T <- p i', 'sync', 'ballot')),
        ...since('1.2', 12, form('pred', 'all|any|uni', 'p <- p', 'all|any|uni')),
        ...since('2.0', 20, form('b32', 'ballot', 'T <- p', 'ballot')),
      ],
      counted: 'warp',
      cost: 'vote',
      registers: 'exchange',
      nanBits: 'canonical',
      pointers: 'none',
      taint: told('vote', true),
      watch: 'exchange',
      syntax: syntax({ isNegatable: true, rule: 'synchronous' }),
    },
    effects.agreement,
  ),
  match: exchange({
    forms: since(
      '6.0',
      70,
      form('b32|b64', 'sync|any', 'u32 <- T i', 'sync', 'any'),
      form('b32|b64', 'sync|all', 'u32|p <- T i', 'sync', 'all'),
    ),
    counted: 'warp',
    cost: 'match',
    registers: 'exchange',
    nanBits: 'canonical',
    pointers: 'none',
    taint: TAINTED,
    watch: 'exchange',
    syntax: syntax({ rule: 'pairOfAll' }),
  }),
  redux: exchange(
    {
      forms: since(
        '7.0',
        80,
        form('[us]32', 'sync|add|min|max', 'T <- T i', 'sync', 'add|min|max'),
        form('b32', 'sync|and|or|xor', 'T <- T i', 'sync', 'and|or|xor'),
      ),
      counted: 'warp',
      cost: 'reduction',
      registers: 'exchange',
      nanBits: 'canonical',
      pointers: 'none',
      taint: told('redux', false),
      watch: 'exchange',
    },
    effects.agreement,
  ),
};
