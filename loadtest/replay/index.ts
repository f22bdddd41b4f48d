export { hostTimesOf } from './replayHostTimes.js';
export { planReplay, type ReplayRequest } from './replayPlan.js';
export { replay, type ReplayOutcome } from './replayRun.js';
