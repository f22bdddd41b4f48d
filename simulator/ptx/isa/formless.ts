import { effects, row, syntax, UNTAINTED } from './parts.js';
import type { Effects, Formless, Syntax, Watch } from './row.js';

/** Rows of opcodes without forms: what the lowering writes, what the parser replaces, and what is refused by name. */

function formless<const E extends Effects>(of: E, how: Formless, writes: Syntax['writes'] = 'always') {
  return row(of, {
    forms: [],
    formless: how,
    syntax: syntax({ writes }),
    counted: 'byType',
    cost: 'other',
    registers: 'plain',
    isUniform: false,
    nanBits: 'canonical',
    pointers: 'any',
    taint: UNTAINTED,
    watch: 'nothing',
    heldBy: 'tests',
  });
}

/** A function of the device runtime, which the lowering makes an instruction of. */
function runtime(name: string, text: string, watch: Watch) {
  return {
    ...formless(effects.host, { kind: 'lowered', text: `call ${name}` }),
    counted: 'control',
    cost: 'call',
    taint: { kind: 'effect', text },
    watch,
  } as const;
}

export const runtimeCalls = {
  vprintf: runtime('vprintf', 'prints', 'nothing'),
  assertfail: runtime('__assertfail', 'reports a failed assertion', 'nothing'),
  malloc: runtime('malloc', 'takes memory from the device heap', 'heap'),
  free: runtime('free', 'gives memory back to the device heap', 'heap'),
};

const replaced = (text: string): Formless => ({ kind: 'replaced', text });

/** Whose result any value, or moves and sums, stand for. */
export const replacedByOthers = {
  createpolicy: {
    ...formless(effects.unknown, replaced('createpolicy.….b64 policy, …')),
    syntax: syntax({ rewritten: 'policy' }),
  },
  alloca: {
    ...formless(effects.unknown, replaced('alloca.u64 address, bytes{, align}')),
    syntax: syntax({ writes: 'always', rewritten: 'stack' }),
  },
  stacksave: {
    ...formless(effects.unknown, replaced('stacksave.u64 top')),
    syntax: syntax({ writes: 'always', rewritten: 'stack' }),
  },
  stackrestore: {
    ...formless(effects.unknown, replaced('stackrestore.u64 top'), 'never'),
    syntax: syntax({ writes: 'never', rewritten: 'stack' }),
  },
};

const refused = (reason: string): Formless => ({ kind: 'refused', reason });
const TENSORS = refused('products of a warpgroup are not supported: use mma.sync');
const MAPS = refused('a tensor map cannot be changed on the device: make another by the driver');

export const refusedByName = {
  wgmma: formless(effects.unknown, TENSORS),
  tcgen05: formless(effects.unknown, refused('no card here has tensor memory, which came with sm_100a')),
  multimem: formless(
    effects.unknown,
    refused(
      'memory of several GPUs behind one address, which cards of sm_90 and later have behind an NVSwitch, is not supported: load from and store to each GPU by itself',
    ),
  ),
  tensormap: formless(effects.unknown, MAPS),
  setmaxnreg: formless(effects.hint, refused('this instruction is not supported')),
};

/** An opcode that nobody has heard of: it may do anything. */
export const unknownOpcode = formless(effects.unknown, refused('this instruction is not supported'));
