import { exp3Policy } from './exp3.js';
import { PolicyError, type Json, type SelectionPolicy } from './policy.js';
import { staticPolicy } from './static.js';

const POLICIES = new Map<string, SelectionPolicy>([
  [staticPolicy.name, staticPolicy],
  [exp3Policy.name, exp3Policy],
]);

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
