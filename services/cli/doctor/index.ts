export { certificate } from './certificates.js';
export { dataDirectory, logFile, nodeDirectory } from './disk.js';
export { fail, type Finding } from './finding.js';
export { files, memory, versions } from './machine.js';
export { ports, reached } from './ports.js';
export { sharedRedis } from './redis.js';
