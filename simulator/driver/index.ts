export type * from './commands.js';
export type { CopyUsage } from './copyMeter.js';
export { Driver, type DriverParts } from './driver.js';
export type { DriverObserver } from './driverObserver.js';
export { emptyDriver, type ContextState, type DriverState, type PendingCommand } from './driverState.js';
export { ModuleLibrary } from './moduleLibrary.js';
export { HOST_CPU_LINK, hostLink, type Flow, type LinkUse, type SharedLinks } from './sharedLinks.js';
export { SinkTable } from './sinkTable.js';
