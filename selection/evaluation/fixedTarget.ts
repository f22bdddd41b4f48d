import { KeyedDraw } from '../keyedDraw.js';
import type { Arm, Json, QueryView, SelectionPolicy } from '../policy.js';

/** Draws by which the probabilities of a policy that draws by features are told. */
const DRAWS = 100;

/** The policies whose choice does not depend on feedback. */
const FIXED: readonly string[] = ['static', 'ab', 'shadow'];

export function isFixed(policy: SelectionPolicy): boolean {
  return FIXED.includes(policy.name);
}

/** Whether one model alone answers. */
export function answersAlone(policy: SelectionPolicy, arms: readonly Arm[]): boolean {
  if (policy.escalate !== undefined) return false;
  const { arms: asked } = policy.select(policy.init([...new Set([...arms, 'a', 'b'])], null), () => 0.5);
  return asked.length <= 1;
}

/** The probability of each arm for a query under a policy whose state stays as it is. */
export class FixedTarget {
  private readonly draw: KeyedDraw;
  private shares: ReadonlyMap<Arm, number> | undefined;

  constructor(
    private readonly policy: SelectionPolicy,
    private readonly state: Json,
    seed: number,
  ) {
    this.draw = new KeyedDraw(seed);
  }

  /**
   * Exact where the policy draws nothing or looks at no features; otherwise the shares of some draws, which are independent of the
   * log and leave estimates unbiased.
   * @param key of the query's draws
   * @returns those above 0; they add up to one unless the policy asks nobody
   */
  of(query: QueryView, key: string): ReadonlyMap<Arm, number> {
    if (isFixed(this.policy)) return this.sameForAll();
    let isDrawn = false;
    const next = this.draw.of(`${key} 0`);
    const [first] = this.policy.select(
      this.state,
      () => {
        isDrawn = true;
        return next();
      },
      query,
    ).arms;
    if (first === undefined) return new Map();
    if (!isDrawn) return new Map([[first, 1]]);
    if (this.policy.featureFault === undefined) return this.sameForAll();
    const shares = new Map<Arm, number>([[first, 1 / DRAWS]]);
    for (let at = 1; at < DRAWS; at++) {
      const [arm] = this.policy.select(this.state, this.draw.of(`${key} ${at}`), query).arms;
      shares.set(arm, (shares.get(arm) ?? 0) + 1 / DRAWS);
    }
    return shares;
  }

  /** Of a deal of contexts the shares, too: the log may be of that very deal, which then is no draw beside it. */
  private sameForAll(): ReadonlyMap<Arm, number> {
    this.shares ??= new Map([...this.policy.shares(this.state)].filter(([, share]) => share > 0));
    return this.shares;
  }
}
