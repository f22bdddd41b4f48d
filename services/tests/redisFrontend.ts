import { openFeedbackQueue } from '../feedbackQueue/index.js';
import { openJobQueue } from '../jobQueue/index.js';
import { DEFAULT_PREFIX as prefix, redisAddress } from '../redis/index.js';
import { openRedisStore } from '../store/index.js';
import { EmbeddedServer } from '../main.js';

/*
 * A frontend in a process of its own, to be killed: `node redisFrontend.js REDIS_URL [DATA_DIRECTORY]`. Says its ports as
 * JSON on its first line.
 */
const [url, dataDirectory] = process.argv.slice(2);

const address = redisAddress(url);
const complain = () => undefined;

const server = await EmbeddedServer.start({
  host: '127.0.0.1',
  port: 0,
  managementHost: '127.0.0.1',
  managementPort: 0,
  dataDirectory,
  openSharedStore: () => openRedisStore({ address, prefix, complain }),
  openFeedbackQueue: () => openFeedbackQueue({ address, prefix }),
  openJobQueue: () => openJobQueue({ address, prefix }),
  seed: 1,
  withDefaults: false,
  complain,
});
process.stdout.write(
  `${JSON.stringify({ query: server.queryAddress.port, management: server.managementAddress.port })}\n`,
);
process.stdin.on('end', () => void server.stop({ noticeMs: 0, graceMs: 1000 }).then(() => process.exit(0)));
process.stdin.resume();
