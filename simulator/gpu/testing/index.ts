export { blockAt, type PreemptionEvent } from '../dispatch/index.js';
export type { TimingRule } from '../profiles/index.js';
export { MECHANISMS } from '../timing/index.js';
