import fc from 'fast-check';
import type { Json } from '../policy.js';
import { BrokenRule, shown } from './expectations.js';
import { RULES, type Examinee, type Rule } from './rules.js';

export { ALL, live, predictionsOf, RIGHT, steps } from './histories.js';
export { RULES, type Examinee, type Rule } from './rules.js';

/** How a policy does under a rule. */
export interface Verdict {
  readonly rule: string;
  readonly isKept: boolean;
  /** What was expected and found, or what the policy threw. */
  readonly reason?: string;
  /** The smallest that was found of what breaks it: what happened to the state, or was asked. */
  readonly counterexample?: string;
  readonly fix?: string;
}

/** Shrinking stops then: a policy that is slow, or ends by a watchdog, would go on for long. */
const MOST_SHRINK_MS = 10_000;

/** Holds a policy to one rule. Repeats itself exactly. */
export function judge(rule: Rule, examinee: Examinee): Verdict {
  const found = fc.check(rule.property(examinee), {
    seed: rule.seed,
    numRuns: rule.runs,
    interruptAfterTimeLimit: MOST_SHRINK_MS,
  });
  if (!found.failed || found.counterexample === null) return { rule: rule.name, isKept: true };
  const [drawn] = found.counterexample as readonly Json[];
  const thrown = found.errorInstance;
  const reason =
    thrown instanceof BrokenRule
      ? thrown.message
      : thrown instanceof Error
        ? `${thrown.name}: ${thrown.message}`
        : String(thrown);
  return {
    rule: rule.name,
    isKept: false,
    reason,
    ...(drawn === null ? {} : { counterexample: shown(drawn) }),
    fix: rule.fix,
  };
}

export function judgeAll(examinee: Examinee): readonly Verdict[] {
  return RULES.map((rule) => judge(rule, examinee));
}
