import { form, since } from './form.js';
import { effects, row, syntax, UNTAINTED } from './parts.js';

const place = 'shared|shared::cta';
const anyPlace = `${place}|shared::cluster`;
const order = 'relaxed|acquire|release|cta|cluster';

/** Barriers in shared memory that count arrivals and bytes. */
export const mbarriers = {
  // Becomes loads, stores and `advance` (`ptx/mbarriers.ts`).
  mbarrier: row(effects.atomic, {
    forms: [
      ...since(
        '7.0',
        80,
        form('b64', `init|${place}`, '<- a i', 'init'),
        form('b64', `inval|${place}`, '<- a', 'inval'),
        form('b64', `arrive|noComplete|${order}|${anyPlace}`, 'T <- a {i}', 'arrive'),
        form('b64', `arrive_drop|noComplete|${order}|${anyPlace}`, 'T <- a {i}', 'arrive_drop'),
        form('b64', `test_wait|${order}|${place}`, 'p <- a T', 'test_wait'),
        form('b64', 'pending_count', 'b32 <- T', 'pending_count'),
      ),
      ...since(
        '7.1',
        80,
        form('b64', `test_wait|parity|${order}|${place}`, 'p <- a i', 'test_wait', 'parity'),
      ),
      ...since(
        '7.8',
        90,
        form('b64', `try_wait|${order}|${place}`, 'p <- a T {i}', 'try_wait'),
        form('b64', `try_wait|parity|${order}|${place}`, 'p <- a i {i}', 'try_wait', 'parity'),
      ),
      ...since(
        '8.0',
        90,
        form('b64', `arrive|expect_tx|${order}|${anyPlace}`, 'T <- a i', 'arrive', 'expect_tx'),
        form('b64', `arrive_drop|expect_tx|${order}|${anyPlace}`, 'T <- a i', 'arrive_drop', 'expect_tx'),
        form('b64', `expect_tx|${order}|${anyPlace}`, '<- a i', 'expect_tx'),
        form('b64', `complete_tx|${order}|${anyPlace}`, '<- a i', 'complete_tx'),
        // What the parser makes of all that changes one.
        form('b64', `advance|${order}|${anyPlace}`, 'T <- a T', 'advance'),
      ),
    ],
    syntax: syntax({ writes: 'states', hints: 'access', rewritten: 'mbarrier' }),
    counted: 'atomic',
    cost: 'mbarrier',
    registers: 'atomic',
    isUniform: false,
    nanBits: 'canonical',
    pointers: 'none',
    taint: UNTAINTED,
    watch: 'update',
    heldBy: 'tests',
  }),
};
