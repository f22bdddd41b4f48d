export { MemoryBudget } from './memoryBudget.js';
export { CLOSED_BY_PEER, ZmtpConnection, type MessageLimits, type ZmtpListener } from './zmtpConnection.js';
