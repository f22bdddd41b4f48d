export { Arena, MAX_ARENA_BYTES } from './arena.js';
export { ACCESS, AccessTrace } from './accessTrace.js';
export { findUncovered, type ByteInterval, type CoverFinding, type IntervalSource } from './coverOracle.js';
export { judgeInstance, judgePlaced, type Judgement, type JudgementOptions } from './judgement.js';
export { tryKills, type KillFinding, type KillReport, type RerunMode } from './killOracle.js';
export type {
  InstanceAllocation,
  InstanceArgument,
  LaunchInstance,
  PlacedPointer,
} from './launchInstance.js';
export { OracleRandom } from './oracleRandom.js';
export { OracleBench, type PlacedInstance } from './placedInstance.js';
export { runScheduled, SCHEDULES, USUAL_SCHEDULES, type Schedule, type ScheduledRun } from './schedules.js';
export { findClobber, type TraceFinding } from './traceOracle.js';
