import { guardedPolicy } from './guardedPolicy.js';
import { SchedulingError, type SchedulingPolicy } from './policy.js';

/** Makes a fresh policy, one a device. */
export type PolicyMaker = () => SchedulingPolicy;

const METHODS = ['decide', 'snapshot', 'restore'] as const;
const OPTIONAL_METHODS = ['mayKill', 'onIdle'] as const;
const FLAGS = ['preempts', 'takesTurns'] as const;

/**
 * A policy of somebody's own: `exported` is what its module gives, a function that makes a policy, as its default.
 * @param from where it was found, for messages
 * @throws SchedulingError `invalidPolicy`, naming what is missing
 */
export function userPolicy(exported: unknown, from: string): PolicyMaker {
  if (typeof exported !== 'function') {
    throw invalid(
      from,
      `its default export is ${described(exported)}; export a function that returns a policy`,
    );
  }
  const make = (): SchedulingPolicy => checked((exported as () => unknown)(), from);
  make();
  return make;
}

function checked(made: unknown, from: string): SchedulingPolicy {
  if (typeof made !== 'object' || made === null) {
    throw invalid(
      from,
      `its function returned ${described(made)}; return an object with ${METHODS.join(', ')}`,
    );
  }
  const policy = made as Record<string, unknown>;
  if (typeof policy.name !== 'string' || policy.name === '') {
    throw invalid(from, `name is ${described(policy.name)}; give a text that messages can name it by`);
  }
  for (const method of METHODS) {
    if (typeof policy[method] === 'function') continue;
    throw invalid(from, `'${policy.name}' has no function '${method}'`);
  }
  for (const method of OPTIONAL_METHODS) {
    const given = policy[method];
    if (given === undefined || typeof given === 'function') continue;
    throw invalid(
      from,
      `'${policy.name}': ${method} is ${described(given)}; give a function or leave it out`,
    );
  }
  for (const flag of FLAGS) {
    const given = policy[flag];
    if (given === undefined || typeof given === 'boolean') continue;
    throw invalid(from, `'${policy.name}': ${flag} is ${described(given)}; give true or false`);
  }
  return guardedPolicy(made as SchedulingPolicy);
}

function described(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  return typeof value === 'string' ? `'${value}'` : `a value of type ${typeof value}`;
}

function invalid(from: string, what: string): SchedulingError {
  return new SchedulingError('invalidPolicy', `policy ${from}: ${what}`);
}
