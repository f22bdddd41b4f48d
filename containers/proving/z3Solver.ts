import type { SolverFact, SolverQuery } from '../../simulator/idempotency/index.js';
import type { Solver } from './solver.js';
import { loadZ3, type Context, type LoadedZ3, type Term, type Z3Api } from './z3Api.js';

/** What z3 may spend on one check, in its own unit, which is the same in every run (unlike time). */
export const Z3_RESOURCE_LIMIT = 300_000;

/**
 * z3, compiled to WebAssembly (npm's z3-solver, an optional peer: 34 MB), loaded when the first question comes. Every query has a
 * context of its own, so that its answer depends on nothing asked before, and all that it took is given back.
 */
export class Z3Solver implements Solver {
  private loaded: Promise<LoadedZ3> | undefined;

  constructor(private readonly limit = Z3_RESOURCE_LIMIT) {}

  async range(query: SolverQuery): Promise<SolverFact> {
    this.loaded ??= loadZ3();
    const { Z3 } = await this.loaded;
    const config = Z3.mk_config();
    const context = Z3.mk_context(config);
    Z3.del_config(config);
    try {
      return await rangeIn(Z3, context, query, this.limit);
    } finally {
      Z3.del_context(context);
    }
  }

  /** Lets the process end: z3's threads would keep it. */
  async close(): Promise<void> {
    const loaded = await this.loaded?.catch(() => undefined);
    const { runningWorkers = [], unusedWorkers = [] } = loaded?.em.PThread ?? {};
    for (const worker of [...runningWorkers, ...unusedWorkers]) worker.unref();
    this.loaded = undefined;
  }
}

async function rangeIn(Z3: Z3Api, context: Context, query: SolverQuery, limit: number): Promise<SolverFact> {
  const { bits } = query;
  const solver = Z3.mk_solver_for_logic(context, Z3.mk_string_symbol(context, 'QF_BV'));
  Z3.solver_inc_ref(context, solver);
  const params = Z3.mk_params(context);
  Z3.params_inc_ref(context, params);
  Z3.params_set_uint(context, params, Z3.mk_string_symbol(context, 'rlimit'), limit);
  Z3.solver_set_params(context, solver, params);
  Z3.solver_from_string(context, solver, query.text);
  const sort = Z3.mk_bv_sort(context, bits);
  const x = Z3.mk_const(context, Z3.mk_string_symbol(context, 'x'), sort);
  const numeral = (value: bigint): Term =>
    Z3.mk_numeral(context, BigInt.asUintN(bits, value).toString(), sort);

  /** Some value on one side of a bound; undefined when there is none. */
  const some = async (
    side: 'any' | 'atLeast' | 'atMost',
    bound = 0n,
  ): Promise<bigint | 'unknown' | undefined> => {
    Z3.solver_push(context, solver);
    if (side === 'atLeast') Z3.solver_assert(context, solver, Z3.mk_bvsge(context, x, numeral(bound)));
    if (side === 'atMost') Z3.solver_assert(context, solver, Z3.mk_bvsle(context, x, numeral(bound)));
    const found = await Z3.solver_check(context, solver);
    let value: bigint | 'unknown' | undefined = found === -1 ? undefined : 'unknown';
    if (found === 1) {
      const model = Z3.model_eval(context, Z3.solver_get_model(context, solver), x, true);
      if (model !== null) value = BigInt.asIntN(bits, BigInt(Z3.get_numeral_string(context, model)));
    }
    Z3.solver_pop(context, solver, 1);
    return value;
  };
  const first = await some('any');
  if (first === undefined) return 'never';
  if (first === 'unknown') return 'unknown';
  if (query.most - query.least > query.useful) {
    // Without an end, as far as it matters: halving would take long to find out.
    if ((await some('atLeast', query.least + query.useful)) !== undefined) {
      if ((await some('atLeast', first + query.useful)) !== undefined) return 'unknown';
    }
  }
  const most = await farthest(first, query.most, (value) => some('atLeast', value));
  const least = await farthest(-first, -query.least, async (value) => {
    const found = await some('atMost', -value);
    return typeof found === 'bigint' ? -found : found;
  });
  const [lo, hi] = [Number(-least), Number(most)];
  return Number.isSafeInteger(lo) && Number.isSafeInteger(hi) ? { lo, hi } : 'unknown';
}

/**
 * The greatest value, between one that is taken on and one that none is above: each question halves what is left. A question
 * that is too hard leaves the bound that is proved.
 */
async function farthest(
  taken: bigint,
  bound: bigint,
  someFrom: (value: bigint) => Promise<bigint | 'unknown' | undefined>,
): Promise<bigint> {
  let [low, high] = [taken, bound];
  while (low < high) {
    const middle = low + (high - low + 1n) / 2n;
    const found = await someFrom(middle);
    if (found === 'unknown') break;
    if (found === undefined) high = middle - 1n;
    else low = found > low ? found : middle;
  }
  return high;
}
