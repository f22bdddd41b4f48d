import { readFileSync } from 'node:fs';
import { commandFile } from '../../services/cli/index.js';
import { deploySlowModel } from './batchingRows.js';
import { chooseGenerator, load } from './loadGenerator.js';
import { predictBench, soloBench, type BenchSide, type SideResult } from './predictBench.js';
import type { Bench, Measured, Row } from './rows.js';
import { startNode, startWindjammer, type NodeUnderTest, type ProductProcess } from './serverProcess.js';
import { FIXED_MS, ITEM_MS } from './slowModel.js';

const CONNECTIONS = 64;
/** Few, so that the server has processors left when it serves four nodes: how nodes scale is asked, and not how the server does. */
const CLIENTS_A_NODE = 16;
const NODES = 4;
/** Before the batch sizes of all replicas are what they will be. */
const ADAPTATION_SECONDS = 5;
const SLOW = 'slow';
const CLOCK_TICKS = 100;

const generator = chooseGenerator();

/** Models in node processes of their own, which the server dials. */
export const CLUSTER_ROWS: readonly Row[] = [
  { name: 'nodes', group: 'cluster', run: async (bench) => [await overhead(bench), await scaling(bench)] },
];

/** What an answer costs the server that comes from another process and not from its own. */
async function overhead({ options }: Bench): Promise<Measured> {
  return withNodes(1, async ([node]) => {
    const remote = await startWindjammer(commandFile(), 'noop', dialling([node]));
    try {
      const embedded = await startWindjammer(commandFile(), 'noop');
      try {
        const before = cpuSecondsOf(node);
        const result = await predictBench(
          noopLoad(remote, 'through a node'),
          noopLoad(embedded, 'embedded'),
          options,
        );
        const { product, baseline, cpuRatio } = result;
        const asked = product.requestsPerSecond * 2 * options.legSeconds;
        const nodeUs = ((cpuSecondsOf(node) - before) / asked) * 1e6;
        const title = `noop, miss, ${CONNECTIONS} connections (${generator}); the node itself: about ${nodeUs.toFixed(1)} CPU us an answer`;
        const errors = product.errors + baseline.errors;
        const what = 'noop through a node: server CPU an answer over embedded';
        return {
          title,
          sides: [product, baseline],
          checks: [{ what, figure: cpuRatio, bound: 'atMost', floor: 1.5, unit: 'x', errors }],
        };
      } finally {
        await embedded.stop();
      }
    } finally {
      await remote.stop();
    }
  });
}

/** The same model on one node and on four, a replica and as many clients a node. */
async function scaling(bench: Bench): Promise<Measured> {
  const one = await withNodes(1, (nodes) => slowOn(bench, nodes));
  const four = await withNodes(NODES, (nodes) => slowOn(bench, nodes));
  const inTime = ({ requestsPerSecond, defaultShare }: SideResult) => requestsPerSecond * (1 - defaultShare);
  return {
    title: `${FIXED_MS} ms + ${ITEM_MS} ms an item, a replica and ${CLIENTS_A_NODE} clients a node (${generator})`,
    sides: [one, four],
    checks: [
      {
        what: `slow model on ${NODES} node processes over 1: answers in time`,
        figure: inTime(four) / inTime(one),
        bound: 'atLeast',
        floor: 3.9,
        unit: 'x',
        errors: one.errors + four.errors,
      },
    ],
  };
}

async function slowOn({ options, file }: Bench, nodes: readonly NodeUnderTest[]): Promise<SideResult> {
  const product = await startWindjammer(commandFile(), SLOW, dialling(nodes, '--no-defaults'));
  try {
    await deploySlowModel(product, SLOW, file('slowModel.js'), nodes.length);
    const common = { url: product.url, inputLength: 8, unique: true, countDefaults: true };
    const connections = CLIENTS_A_NODE * nodes.length;
    return await soloBench(
      {
        server: product,
        title: `${nodes.length} node${nodes.length === 1 ? '' : 's'}, ${connections} clients`,
        load: (seconds, salt) => load(generator, { ...common, connections, seconds, salt }),
      },
      { ...options, warmUpSeconds: Math.max(options.warmUpSeconds, ADAPTATION_SECONDS) },
    );
  } finally {
    await product.stop();
  }
}

function noopLoad(server: ProductProcess, title: string): BenchSide {
  const common = { url: server.url, connections: CONNECTIONS, unique: true, inputLength: 8 };
  return { server, title, load: (seconds, salt) => load(generator, { ...common, seconds, salt }) };
}

async function withNodes<T>(count: number, run: (nodes: readonly NodeUnderTest[]) => Promise<T>): Promise<T> {
  const names = Array.from({ length: count }, (_, index) => `n${index}`);
  const nodes = await Promise.all(names.map((name) => startNode(commandFile(), name)));
  try {
    return await run(nodes);
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

function dialling(nodes: readonly NodeUnderTest[], ...more: string[]): readonly string[] {
  return ['--only-nodes', ...more, ...nodes.flatMap(({ url }) => ['--node', url])];
}

/** CPU that a node has spent so far, all its threads: user and system, of /proc. */
function cpuSecondsOf({ pid }: NodeUnderTest): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS;
}
