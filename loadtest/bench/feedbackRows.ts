import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { policyNamed } from '../../selection/index.js';
import { commandFile } from '../../services/cli/index.js';
import { WebSocketClient, WindjammerClient } from '../../services/client/index.js';
import { SelectionStates } from '../../services/feedback/index.js';
import { connectRedis, openRedis, redisAddress } from '../../services/redis/index.js';
import { RedisServer } from '../../services/redis/tests/redisServer.js';
import { MemoryStore } from '../../services/store/index.js';
import { KERNEL_MODELS, feedbackRate, together } from './feedbackRate.js';
import type { Bench, Measured, Row } from './rows.js';
import { startWindjammer } from './serverProcess.js';

const IN_FLIGHT = 64;
const SEED = 1;

/** Feedback: through Redis, in process, and what the prediction cache brings it. */
export const FEEDBACK_ROWS: readonly Row[] = [
  {
    name: 'feedback',
    group: 'cluster',
    run: async (bench) => [await durable(bench), await inProcess(bench), await cached(bench)],
  },
];

/** Judgements of queries by one client over a WebSocket, acknowledged when Redis has them on disk, and learned beside. */
async function durable({ options }: Bench): Promise<Measured> {
  const redis = await RedisServer.start();
  const frontend = await startWindjammer(
    commandFile(),
    'app',
    ['--no-defaults'],
    ['--store', redis.url, '--data-dir', join(redis.folder, 'frontend')],
  );
  try {
    const { management } = new WindjammerClient({ managementUrl: frontend.managementUrl });
    await management.addModel({
      model_name: 'm',
      model_version: '1',
      input_type: 'doubles',
      container_name: 'windjammer/constant',
      output: 'm',
    });
    await management.addApplication({
      name: 'app',
      input_type: 'doubles',
      default_output: '-',
      latency_slo_micros: 1_000_000,
      policy: { name: 'ucb1', parameters: { memory: null } },
    });
    await management.addLinks('app', ['m']);
    const client = await WebSocketClient.connect(frontend.webSocketUrl, { maxInFlight: IN_FLIGHT });
    let [acknowledged, errors, seconds] = [0, 0, 0];
    const started = performance.now();
    while (seconds < options.legSeconds) {
      const queries: string[] = [];
      await together(2000, async (at) => {
        queries.push((await client.predict('app', new Float64Array([at]))).queryId);
      });
      const from = performance.now();
      await together(queries.length, async (at) => {
        await client.feedback('app', { queryId: queries[at], label: 'm' }).then(
          () => (acknowledged += 1),
          () => (errors += 1),
        );
      });
      seconds += (performance.now() - from) / 1000;
    }
    const learned = await learnedAll(management, acknowledged);
    const total = (performance.now() - started) / 1000;
    await client.close();
    const sets = await plainSets(redis, options.legSeconds);
    const title = `durable feedback through Redis, ${IN_FLIGHT} in flight (learned ${(acknowledged / total).toFixed(0)}/s beside predictions; plain SETs ${sets.toFixed(0)}/s)`;
    return {
      title,
      sides: [],
      checks: [
        {
          what: title,
          figure: acknowledged / seconds,
          bound: 'atLeast',
          floor: 3000,
          unit: '/s',
          errors: errors + Math.abs(learned - acknowledged),
        },
      ],
    };
  } finally {
    await frontend.stop();
    await redis.stop();
  }
}

/** What this Redis and its disk take of the smallest writes, as many in flight. */
async function plainSets({ url }: RedisServer, seconds: number): Promise<number> {
  const address = redisAddress(url);
  const redis = openRedis(address, { name: 'bench', kind: 'command', onError: () => undefined });
  await connectRedis(redis, address);
  const started = performance.now();
  let sets = 0;
  while (performance.now() - started < seconds * 1000) {
    await together(2000, async (at) => void (await redis.set(`bench:${at}`, '1')));
    sets += 2000;
  }
  const perSecond = sets / ((performance.now() - started) / 1000);
  redis.disconnect();
  return perSecond;
}

/** How many are learned, once as many are as were acknowledged, or after a minute. */
async function learnedAll(management: WindjammerClient['management'], acknowledged: number): Promise<number> {
  for (let attempt = 0; ; attempt++) {
    const { state } = await management.exportState('app');
    const { judged } = state as { readonly judged: readonly number[] };
    if (judged[0] >= acknowledged || attempt === 600) return judged[0];
    await after(100);
  }
}

/** Observations of one state, written behind as fast as a store in memory takes them. */
async function inProcess({ options }: Bench): Promise<Measured> {
  const arms = ['a', 'b', 'c', 'd'];
  const states = new SelectionStates({
    application: 'app',
    policy: policyNamed('exp3'),
    parameters: null,
    arms,
    store: new MemoryStore(),
    onWriteFailed: () => undefined,
  });
  let [learned, errors, sent] = [0, 0, 0];
  const started = performance.now();
  const untilMs = started + options.legSeconds * 1000;
  while (performance.now() < untilMs) {
    for (let at = 0; at < 256; at++) {
      const arm = arms[at & 3];
      sent += 1;
      states.own.observe({
        selection: { arms: [arm], propensity: 0.25 },
        predictions: [{ arm, output: '1' }],
        feedback: { label: '2' },
        marks: [`q-${sent}`],
        done: (became) => {
          if (became === 'learned') learned += 1;
          else errors += 1;
        },
      });
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  const seconds = (performance.now() - started) / 1000;
  const what = 'observations of one state in process, each with a mark';
  return {
    title: what,
    sides: [],
    checks: [{ what, figure: learned / seconds, bound: 'atLeast', floor: 200_000, unit: '/s', errors }],
  };
}

async function cached({ options }: Bench): Promise<Measured> {
  const without = await feedbackRate(KERNEL_MODELS, 'input, not cached', options.legSeconds, SEED);
  const withCache = await feedbackRate(KERNEL_MODELS, 'input, cached', options.legSeconds, SEED);
  const title = `feedback by input, four-model ensemble: with the cache ${withCache.perSecond.toFixed(0)}/s, without ${without.perSecond.toFixed(0)}/s`;
  return {
    title,
    sides: [],
    checks: [
      {
        what: title,
        figure: withCache.perSecond / without.perSecond,
        bound: 'atLeast',
        floor: 1.6,
        unit: 'x',
        errors: withCache.errors + without.errors,
      },
    ],
  };
}
