export { readClusterKey } from './clusterKey.js';
export { LinkError, type LinkErrorCode } from './linkError.js';
export type { VersionRange } from './messages.js';
export { addressText, readNodeAddress, type NodeAddress } from './nodeAddress.js';
export { NodeServer, type NodeLimits, type NodeSecurity, type NodeServerOptions } from './nodeServer.js';
export { RemoteNode, type DialTimes, type NodeLink, type RemoteNodeOptions } from './remoteNode.js';
