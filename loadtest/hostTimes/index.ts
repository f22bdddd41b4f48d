export { HostDraws } from './hostDraws.js';
export { HostFrontend, type QueryWay } from './hostFrontend.js';
export { HostThread } from './hostThread.js';
export { HostTimedChannel } from './hostTimedChannel.js';
export { readHostTimes, SHARES, writeHostTimes, type HostTimes } from './hostTimes.js';
export { measureHost, type AskedLoad, type MeasuredModel } from './measureHost.js';
export { ComputedResults, SentResults } from './resultTimes.js';
