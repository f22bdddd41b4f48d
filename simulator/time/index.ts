export { ClockError, type Clock, type EventPayload, type EventRecord, type EventSink } from './clock.js';
export { NumberTable } from './numberTable.js';
export { PacedClock, type PacedClockOptions } from './pacedClock.js';
export { timeAfter } from './timeAfter.js';
export { VirtualClock, type ClockSnapshot } from './virtualClock.js';
