export { InProcessChannel } from '../inProcessChannel.js';
export { NetworkChannel } from './networkChannel.js';
export { SyntheticContainer, type SyntheticService } from './syntheticContainer.js';
export { VirtualNode } from '../virtualNode.js';
export { Reservations } from '../placement/index.js';
