export { addressText, redisAddress, type RedisAddress } from './redisAddress.js';
export { openConnections } from './openConnections.js';
export { RedisError } from './redisError.js';
export { isAnswer, redisFailure, type RedisFailure, type RedisFailureCause } from './redisFailure.js';
export { RedisScript } from './redisScript.js';
export { withinTime } from './withinTime.js';
export { DEFAULT_PREFIX, isOwnKey, keyPrefix } from './redisKeys.js';
export {
  COMMAND_TIMEOUT_MS,
  connectRedis,
  isLoss,
  openRedis,
  redisRefusal,
  type RedisConnection,
  type RedisUse,
} from './openRedis.js';
