import type { LoadedModule } from '../executor/index.js';
import {
  CostError,
  scalarsOf,
  uniformWork,
  type CostLibrary,
  type FixedCost,
  type KnownWork,
  type LaunchCost,
  type ProfiledCost,
} from '../gpu/index.js';
import type { IrFunction } from '../ptx/index.js';
import type { LaunchFit } from './launchFit.js';
import { Refusal } from './refusal.js';

/** One of both: work as it is, or what work follows from. */
export interface KnownCost {
  readonly known?: KnownWork;
  readonly cost?: ProfiledCost;
  /** Of a block whose registers and shared memory nobody knows. */
  readonly contextBytes?: number | undefined;
}

/** What launches cost where nothing is executed. */
export class LaunchCosts {
  /** Of kernels without arguments, whose shape says all. */
  private readonly ofShapes = new WeakMap<
    LaunchFit,
    { readonly identity: string; readonly found: KnownCost }
  >();
  private readonly works = new WeakMap<FixedCost, KnownCost>();

  constructor(private readonly library: CostLibrary) {}

  /**
   * @param identity SHA-256 of the module's text
   * @throws Refusal when nothing tells, naming the kernel and what was recorded of it
   */
  costOf(
    module: LoadedModule,
    identity: string,
    kernel: IrFunction,
    fit: LaunchFit,
    params: Uint8Array,
  ): KnownCost {
    if (params.length > 0) return this.find(module, identity, kernel, fit, params);
    let kept = this.ofShapes.get(fit);
    if (kept?.identity !== identity) {
      kept = { identity, found: this.find(module, identity, kernel, fit, params) };
      this.ofShapes.set(fit, kept);
    }
    return kept.found;
  }

  private find(
    module: LoadedModule,
    identity: string,
    kernel: IrFunction,
    { shape }: LaunchFit,
    params: Uint8Array,
  ): KnownCost {
    const scalars = (): string => scalarsOf({ module, kernel, shape, params });
    try {
      return this.knownCost(this.library.find({ module: identity, kernel: kernel.name, shape, scalars }));
    } catch (error) {
      if (!(error instanceof CostError)) throw error;
      throw new Refusal('invalidLaunch', error.message);
    }
  }

  private knownCost(cost: LaunchCost): KnownCost {
    if (cost.kind === 'profiled') return { cost };
    let known = this.works.get(cost);
    if (known === undefined) {
      const { work, contextBytes } = cost;
      this.works.set(cost, (known = { known: uniformWork(work), contextBytes }));
    }
    return known;
  }
}
