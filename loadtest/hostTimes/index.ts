export { HostThread } from './hostThread.js';
export { HostTimedChannel } from './hostTimedChannel.js';
export { batchNs, queryNs, readHostTimes, wayNs, writeHostTimes, type HostTimes } from './hostTimes.js';
export { measureHost, type AskedLoad, type MeasuredModel } from './measureHost.js';
