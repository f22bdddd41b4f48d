export { heldOutBodies, heldOutModule, HELD_OUT_KERNELS, type HeldOutBody } from './bodies.js';
export { evaluateHeldOut, heldOutTable, type SourceResult } from './evaluation.js';
export { heldOutInstance, launchesOf, type HeldOutLaunch } from './instances.js';
