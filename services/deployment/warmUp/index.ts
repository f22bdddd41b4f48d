export { WarmUpChannel } from './warmUpChannel.js';
export { warmUpInputs, type WarmUp } from './warmUpInputs.js';
