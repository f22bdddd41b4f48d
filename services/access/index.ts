export { AccessKey, type KeyRecord } from './accessKey.js';
export { AccessKeys, type NewKey } from './accessKeys.js';
export { chosenProtocol, WEB_SOCKET_PROTOCOL } from './credentials.js';
export type { DenialCount, Interface } from './denialLog.js';
export { Denial } from './denials.js';
export { Gate, type GateOptions } from './gate.js';
export { newKeyText } from './keyText.js';
export { SCOPES, type Scope, type TargetKind } from './scopes.js';
