import { abPolicy } from './ab.js';
import { canaryPolicy } from './canary/index.js';
import { cascadePolicy } from './cascade.js';
import { epsilonGreedyPolicy } from './epsilonGreedy.js';
import { exp3Policy } from './exp3.js';
import { exp3sPolicy } from './exp3s.js';
import { exp4Policy } from './exp4.js';
import { lintsPolicy } from './linear/lints.js';
import { linucbPolicy } from './linear/linucb.js';
import { majorityPolicy } from './majority.js';
import type { JsonObject } from './parameters.js';
import { PolicyError, type Json, type SelectionPolicy } from './policy.js';
import { shadowPolicy } from './shadow.js';
import { staticPolicy } from './static.js';
import { thompsonPolicy } from './thompson.js';
import { ucb1Policy } from './ucb1.js';
import { weightedPolicy } from './weighted.js';

const POLICIES = new Map<string, SelectionPolicy>(
  [
    staticPolicy,
    exp3Policy,
    exp3sPolicy,
    epsilonGreedyPolicy,
    ucb1Policy,
    thompsonPolicy,
    linucbPolicy,
    lintsPolicy,
    exp4Policy,
    majorityPolicy,
    weightedPolicy,
    abPolicy,
    shadowPolicy,
    cascadePolicy,
    canaryPolicy,
  ].map((policy) => [policy.name, policy]),
);

export const POLICY_NAMES: readonly string[] = [...POLICIES.keys()];

/** @throws PolicyError when there is no policy of this name. */
export function policyNamed(name: string): SelectionPolicy {
  const policy = POLICIES.get(name);
  if (policy === undefined) {
    throw new PolicyError('name', `there is no policy '${name}': choose one of ${POLICY_NAMES.join(', ')}`);
  }
  return policy;
}

/** @throws PolicyError when the policy does not exist or does not take these parameters. */
export function checkPolicy(name: string, parameters: Json): void {
  policyNamed(name).init([], parameters);
}

/** A state with these parameters in place of its own; what it has learned stays. @throws PolicyError when the policy does not take them. */
export function withParameters(policy: SelectionPolicy, state: Json, parameters: Json): Json {
  const wanted = policy.init([], parameters) as JsonObject;
  const present = state as JsonObject;
  const changed = policy.parameters.filter((name) => !isSame(present[name], wanted[name]));
  if (changed.length === 0) return state;
  if (policy.withParameters !== undefined) return policy.withParameters(state, wanted);
  return policy.restore({ ...present, ...Object.fromEntries(changed.map((name) => [name, wanted[name]])) });
}

function isSame(one: Json, other: Json): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
