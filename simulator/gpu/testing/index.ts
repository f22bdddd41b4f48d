export { blockAt, type PreemptionEvent } from '../dispatch/index.js';
export type { TimingRule } from '../profiles/index.js';
export { instructionPlans, MECHANISMS } from '../timing/index.js';
