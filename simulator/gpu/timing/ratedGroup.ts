import type { BlockWork } from './blockWork.js';

/** Blocks of one kind, `perSm` on each of their SMs. */
export interface RatedGroup {
  readonly work: BlockWork;
  readonly sms: number;
  readonly perSm: number;
  /** Whose they are; of several launches the lowest is the oldest. */
  readonly launch?: number;
}

/** SMs that all hold the same groups; `members` are positions in the list of groups. */
export interface SmClass {
  readonly members: readonly number[];
}
