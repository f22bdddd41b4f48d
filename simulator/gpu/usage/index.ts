export type { ContextUsage, DeviceUsage } from './deviceUsage.js';
export { UsageMeter } from './usageMeter.js';
