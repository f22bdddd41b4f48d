export * from './policy.js';
export { KeyedDraw } from './keyedDraw.js';
export { exp3Policy, type Exp3State } from './exp3.js';
export { staticPolicy, type StaticState } from './static.js';
export { POLICY_NAMES, checkPolicy, policyNamed } from './policies.js';
