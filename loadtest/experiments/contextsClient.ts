/**
 * A client of the contexts experiment, in a process of its own so that its work is not the watched one's: as many queries as it gets
 * answered, of contexts that come back or of invented ones.
 * Usage: node contextsClient.js URL SECONDS hot|invented [judged]
 */
import { closedLoop, HOT, userName } from './contextsExperiment.js';

const [url, seconds, whose, judged] = process.argv.slice(2);
const started = Date.now().toString(36);
const leg = await closedLoop(
  url,
  Number(seconds),
  (at) => (whose === 'hot' ? userName(at % HOT) : `invented-${started}-${at}`),
  judged !== undefined,
);
process.stdout.write(JSON.stringify(leg));
