export type * from './commands.js';
export { Driver, type DriverParts } from './driver.js';
export { emptyDriver, type DriverState } from './driverState.js';
export { ModuleLibrary } from './moduleLibrary.js';
export { HOST_CPU_LINK, hostLink, type Flow, type LinkUse, type SharedLinks } from './sharedLinks.js';
export { SinkTable } from './sinkTable.js';
