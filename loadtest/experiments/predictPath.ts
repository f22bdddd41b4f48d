/**
 * CPU cost of the query path in process: select, cache, queue, batch, combine and answer for a model that answers at
 * once. No sockets, no JSON; virtual clock. Usage: npm run experiment predictPath [-- --queries N] [--seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { ArgumentError, experimentArguments } from './experimentArguments.js';
import {
  PROTOCOL_VERSION,
  type ContainerChannel,
  type ContainerFrame,
  type FrameSink,
  type FrontendFrame,
  type ItemResult,
} from '../../containers/protocol/index.js';
import { exp3Policy, KeyedDraw } from '../../selection/index.js';
import { VirtualClock } from '../../simulator/time/index.js';
import { PredictionEngine, type Query } from '../../services/prediction/index.js';
import { MemoryStore } from '../../services/store/index.js';
import { renderBars } from '../report/index.js';
import { FixedRegistry } from './fixedRegistry.js';

/** Answers inside `send`. */
class InstantContainer implements ContainerChannel {
  private sink: FrameSink<ContainerFrame> | undefined;

  open(sink: FrameSink<ContainerFrame>): void {
    this.sink = sink;
    sink.onFrame({
      kind: 'hello',
      protocolVersion: PROTOCOL_VERSION,
      model: 'noop',
      version: '1',
      replica: '0',
      inputType: 'doubles',
      maxBatchSize: 1024,
      credits: 2,
    });
  }

  send(frame: FrontendFrame): void {
    if (frame.kind !== 'predict') return;
    const results: ItemResult[] = frame.items.map((item) => ({ id: item.id, ok: true, output: '0' }));
    this.sink?.onFrame({ kind: 'result', batchId: frame.batchId, results, serviceNs: 0 });
  }

  close(): void {}
}

function cpuUs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const used = process.cpuUsage(before);
  return used.user + used.system;
}

function measurePath(
  seed: number,
  policy: string,
  elements: number,
  queries: number,
  together: number,
  repeat: boolean,
): number {
  const clock = new VirtualClock();
  const registry = new FixedRegistry(
    {
      name: 'noop',
      inputType: 'doubles',
      defaultOutput: '-1',
      latencyObjectiveUs: 100_000,
      policy: { name: policy, parameters: null },
    },
    [
      {
        name: 'noop',
        version: '1',
        inputType: 'doubles',
        labels: [],
        container: { kind: 'constant', output: '0' },
        batching: { strategy: 'aimd' },
      },
    ],
  );
  const engine = new PredictionEngine({ clock, registry, store: new MemoryStore(), seed });
  engine.addReplica(new InstantContainer());
  let answered = 0;
  const sink = {
    onAnswer: () => {
      answered += 1;
    },
    onRefusal: (query: Query) => {
      throw new Error(`query ${query.id} was refused`);
    },
  };
  let made = 0;
  const round = (count: number): void => {
    for (let at = 0; at < count; at++) {
      const input = new Float64Array(elements);
      input[0] = repeat ? made % 16 : made;
      const query = {
        id: `query-${made++}`,
        application: 'noop',
        input: new Uint8Array(input.buffer),
        context: '',
      };
      engine.predict(query, sink);
      if (made % together === 0) clock.run(clock.nowNs() + 1000 * together);
    }
    clock.run(clock.nowNs() + 1e6);
  };
  round(queries >> 2);
  const us = cpuUs(() => round(queries));
  if (answered !== made) throw new Error(`${answered} of ${made} queries were answered`);
  return us / queries;
}

function measureObserve(count: number): number {
  const arms = ['a', 'b', 'c', 'd', 'e'];
  let state = exp3Policy.init(arms, null);
  const draw = new KeyedDraw(1);
  const us = cpuUs(() => {
    for (let at = 0; at < count; at++) {
      const selection = exp3Policy.select(state, draw.of(`q${at}`));
      const prediction = { arm: selection.arms[0], output: at % 3 === 0 ? 'x' : 'y' };
      state = exp3Policy.observe(state, selection, [prediction], { label: 'y' });
    }
  });
  return us / count;
}

const { values, seed, folder } = experimentArguments('predictPath', EXPERIMENTS.predictPath);
const queries = Number(values.queries);
if (!Number.isSafeInteger(queries) || queries < 1000) {
  throw new ArgumentError(`--queries must be a whole number from 1000, not '${values.queries}'`);
}
const table = {
  queries,
  cpuUsPerQuery: {
    'static, 8 doubles, 64 together': measurePath(seed, 'static', 8, queries, 64, false),
    'static, 8 doubles, one by one': measurePath(seed, 'static', 8, queries, 1, false),
    'exp3, 8 doubles, 64 together': measurePath(seed, 'exp3', 8, queries, 64, false),
    'static, 784 doubles, 64 together': measurePath(seed, 'static', 784, queries >> 2, 64, false),
    'static, cache hit, 8 doubles': measurePath(seed, 'static', 8, queries, 64, true),
  },
  exp3SelectAndObserveCpuUs: measureObserve(queries),
};
const times: readonly (readonly [string, number])[] = [
  ...Object.entries(table.cpuUsPerQuery),
  ['exp3, select and observe', table.exp3SelectAndObserveCpuUs],
];
folder.print('| path | CPU, us a query |\n| --- | --- |\n');
for (const [name, us] of times) folder.print(`| ${name} | ${us.toFixed(2)} |\n`);
folder.writeJson('predictPath.json', { seed, ...table });
folder.write(
  'predictPath.svg',
  renderBars({
    title: 'CPU cost of the query path in process',
    subtitle: `${queries} queries of a model that answers at once; virtual clock, seed ${seed}`,
    yLabel: 'CPU (us a query)',
    groups: [
      {
        name: '',
        bars: times.map(([name, us]) => ({
          name: name.split(', '),
          value: us,
          text: us.toFixed(2),
          color: name.startsWith('exp3') ? 1 : 0,
        })),
      },
    ],
  }),
);
