export { Autoscaler } from './autoscaler.js';
export type { AutoscalingSettings } from './scaleDecision.js';
export type { VersionLoad } from './loadMeter.js';
