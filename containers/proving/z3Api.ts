import type { Worker } from 'node:worker_threads';
import { SOLVER_PACKAGE } from './installedSolver.js';

/**
 * What is used of the C interface of z3 as npm's z3-solver has it. Written out, so that the build needs no types of a package
 * that may not be there.
 */
export interface Z3Api {
  mk_config(): Config;
  del_config(config: Config): void;
  mk_context(config: Config): Context;
  del_context(context: Context): void;
  mk_string_symbol(context: Context, name: string): Name;
  mk_solver_for_logic(context: Context, logic: Name): Z3Instance;
  solver_inc_ref(context: Context, solver: Z3Instance): void;
  mk_params(context: Context): Params;
  params_inc_ref(context: Context, params: Params): void;
  params_set_uint(context: Context, params: Params, name: Name, value: number): void;
  solver_set_params(context: Context, solver: Z3Instance, params: Params): void;
  solver_from_string(context: Context, solver: Z3Instance, text: string): void;
  solver_push(context: Context, solver: Z3Instance): void;
  solver_pop(context: Context, solver: Z3Instance, count: number): void;
  solver_assert(context: Context, solver: Z3Instance, truth: Term): void;
  /** 1: satisfiable, −1: not, 0: given up. */
  solver_check(context: Context, solver: Z3Instance): Promise<number>;
  solver_get_model(context: Context, solver: Z3Instance): Model;
  mk_bv_sort(context: Context, bits: number): Sort;
  mk_const(context: Context, name: Name, sort: Sort): Term;
  mk_numeral(context: Context, digits: string, sort: Sort): Term;
  mk_bvsge(context: Context, a: Term, b: Term): Term;
  mk_bvsle(context: Context, a: Term, b: Term): Term;
  model_eval(context: Context, model: Model, term: Term, completion: boolean): Term | null;
  get_numeral_string(context: Context, term: Term): string;
}

/** Pointers into z3's memory. */
type Handle<T extends string> = number & { readonly handle: T };
export type Context = Handle<'context'>;
type Config = Handle<'config'>;
type Name = Handle<'name'>;
type Z3Instance = Handle<'solver'>;
type Params = Handle<'params'>;
type Model = Handle<'model'>;
type Sort = Handle<'sort'>;
export type Term = Handle<'term'>;

export interface LoadedZ3 {
  readonly Z3: Z3Api;
  readonly em: {
    readonly PThread: {
      readonly runningWorkers: readonly Worker[];
      readonly unusedWorkers: readonly Worker[];
    };
  };
}

/** The z3 package is not there, or cannot be loaded. */
export class SolverMissing extends Error {}

/** @throws SolverMissing */
export async function loadZ3(name = SOLVER_PACKAGE): Promise<LoadedZ3> {
  try {
    const { init } = (await import(name)) as { readonly init: () => Promise<LoadedZ3> };
    return await init();
  } catch (error) {
    throw new SolverMissing(`${name} cannot be loaded: install it with npm install --include=optional`, {
      cause: error,
    });
  }
}
