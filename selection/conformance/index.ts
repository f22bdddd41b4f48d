import fc from 'fast-check';
import type { Json } from '../policy.js';
import { BrokenRule, shown } from './expectations.js';
import type { Examinee, Rule } from './rules.js';

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

/**
 * Holds a policy to one rule. Repeats itself exactly.
 * @param isFinal of what was thrown: no smaller counterexample is looked for
 */
export function judge(
  rule: Rule,
  examinee: Examinee,
  isFinal: (error: unknown) => boolean = () => false,
): Verdict {
  let isOver = false;
  const attempt = (check: () => void): void => {
    if (isOver) return;
    try {
      check();
    } catch (error) {
      isOver = isFinal(error);
      throw error;
    }
  };
  const found = fc.check(rule.property(examinee, attempt), { seed: rule.seed, numRuns: rule.runs });
  if (!found.failed || found.counterexample === null) return { rule: rule.name, isKept: true };
  const [drawn] = found.counterexample as readonly (readonly Json[] | null)[];
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
    ...(drawn === null ? {} : { counterexample: drawn.map(shown).join('; ') }),
    fix: rule.fix,
  };
}
