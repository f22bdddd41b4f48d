import { openFeedbackQueue } from '../../services/feedbackQueue/index.js';
import { DEFAULT_PREFIX as prefix, redisAddress } from '../../services/redis/index.js';
import { openRedisStore } from '../../services/store/index.js';
import { EmbeddedServer } from '../../services/main.js';

const address = redisAddress(process.argv[2]);
const complain = () => undefined;

/** A frontend on a Redis (its argument) in a process of its own: prints the addresses of its two interfaces when it serves. */
const server = await EmbeddedServer.start({
  host: '127.0.0.1',
  port: 0,
  managementHost: '127.0.0.1',
  managementPort: 0,
  dataDirectory: undefined,
  openSharedStore: () => openRedisStore({ address, prefix, complain }),
  openFeedbackQueue: () => openFeedbackQueue({ address, prefix }),
  seed: 1,
  withDefaults: false,
  complain,
});
const { queryAddress, managementAddress } = server;
process.stdout.write(`${queryAddress.port} ${managementAddress.port}\n`);
process.on('SIGTERM', () => void server.stop({ noticeMs: 0, graceMs: 1000 }).then(() => process.exit(0)));
