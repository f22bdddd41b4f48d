export { FaultDraws } from './faultDraws.js';
export { FaultError, type FaultErrorCode } from './faultError.js';
export { FAULT_KINDS, checkFaults, type FaultAt, type FaultKind, type FaultOptions } from './faultOptions.js';
export { emptyFaultTotals, type FaultTotals } from './faultTotals.js';
export {
  bytesOf,
  intersection,
  mapped,
  regionsOf,
  side,
  type MappedRange,
  type MemoryRegions,
  type TouchedIntervals,
} from './memoryRegions.js';
export {
  RECOVERY_SCHEMES,
  SAVE_PLACES,
  asksVerdicts,
  recoveryScheme,
  runsAgainAsItIs,
  savePlace,
  type RecoveryScheme,
  type SavePlace,
} from './recoveryScheme.js';
