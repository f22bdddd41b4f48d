export { PowerMeter } from './powerMeter.js';
export { emptyPower, totalWatts, type PowerState, type Watts } from './powerState.js';
export type { DeviceReadings } from './readings.js';
