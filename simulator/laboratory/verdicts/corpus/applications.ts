import type { Dim3 } from '../../../executor/index.js';
import { OracleRandom, type InstanceArgument, type LaunchInstance } from '../oracles/index.js';
import type { OracleBench } from '../oracles/index.js';
import { bodyModule, corpusBodies, type CorpusBody } from './bodies.js';

/** One launch of an application: buffers by name, integers and floats in order of the kernel's parameters. */
export interface ApplicationLaunch {
  readonly entry: string;
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly args: readonly (string | number | { readonly float: number })[];
}

/**
 * A program that launches kernels one after another on the same buffers. No pointer is rewritten: which launches are
 * idempotent follows from what it does.
 */
export interface Application {
  readonly name: string;
  /** The kernel that is idempotent in some of its launches and not in others. */
  readonly watched: string;
  readonly buffers: Readonly<Record<string, Uint8Array>>;
  /** The next launch, or undefined at the end; `read` gives a buffer as it is now. */
  readonly next: (step: number, read: (buffer: string) => Uint8Array) => ApplicationLaunch | undefined;
}

const words = (values: ArrayLike<number>): Uint8Array => new Uint8Array(Int32Array.from(values).buffer);
const floats = (count: number, random: OracleRandom): Uint8Array =>
  new Uint8Array(Float32Array.from({ length: count }, () => random.word() / 2 ** 31 - 1).buffer);

/** Breadth-first search over a random graph, until a step marks nothing: the last launch of bfsAdvance only reads. */
function breadthFirst(): Application {
  const random = new OracleRandom(11);
  const [nodes, degree] = [96, 2];
  const starts = Array.from({ length: nodes + 1 }, (_, node) => node * degree);
  const edges = Array.from({ length: nodes * degree }, () => random.below(nodes));
  const first = (value: number): Uint8Array =>
    Uint8Array.from({ length: nodes }, (_, i) => (i === 0 ? value : 0));
  const shape = { grid: [Math.ceil(nodes / 32), 1, 1], block: [32, 1, 1] } as const;
  return {
    name: 'breadthFirst',
    watched: 'bfsAdvance',
    buffers: {
      starts: words(starts),
      edges: words(edges),
      frontier: first(1),
      updating: first(0),
      visited: first(1),
      cost: words(new Array<number>(nodes).fill(0)),
      again: new Uint8Array(1),
    },
    next: (step, read) => {
      // The host clears the flag and looks at it after each pair of launches.
      if (step > 0 && step % 2 === 0) {
        if (read('again')[0] === 0) return undefined;
        read('again').fill(0);
      }
      return step % 2 === 0
        ? {
            entry: 'bfsExpand',
            ...shape,
            args: ['starts', 'edges', 'frontier', 'updating', 'visited', 'cost', nodes],
          }
        : { entry: 'bfsAdvance', ...shape, args: ['frontier', 'updating', 'visited', 'again', nodes] };
    },
  };
}

/** Tracks points over frames: the first frame sets the templates, the others blend into them. */
function tracking(): Application {
  const random = new OracleRandom(12);
  const [points, width, frames] = [6, 32, 8];
  return {
    name: 'tracking',
    watched: 'trackTemplate',
    buffers: { templates: floats(points * width, random), frame: floats(points * 2 * width, random) },
    next: (step) =>
      step >= frames
        ? undefined
        : {
            entry: 'trackTemplate',
            grid: [points, 1, 1],
            block: [width, 1, 1],
            args: ['templates', 'frame', points, width, step],
          },
  };
}

/** Layers of a decoder: each adds its output to the residual stream in place, but the first writes a stream of its own. */
function residualStream(): Application {
  const random = new OracleRandom(13);
  const [count, layers] = [200, 5];
  const shape = { grid: [2, 1, 1], block: [64, 1, 1] } as const;
  return {
    name: 'residualStream',
    watched: 'residualAdd',
    buffers: {
      embedded: floats(count, random),
      stream: floats(count, random),
      output: floats(count, random),
    },
    next: (step) => {
      if (step >= 2 * layers) return undefined;
      const from = step < 2 ? 'embedded' : 'stream';
      return step % 2 === 0
        ? { entry: 'gelu', grid: [4, 1, 1], block: [64, 1, 1], args: ['output', from, count] }
        : { entry: 'residualAdd', ...shape, args: ['stream', 'output', from, count] };
    },
  };
}

/** Scales gradients in place once they are too large, and copies them scaled otherwise, four elements at a time. */
function gradientScaling(): Application {
  const random = new OracleRandom(14);
  const [count, steps] = [512, 4];
  return {
    name: 'gradientScaling',
    watched: 'scaleVectorized',
    buffers: { gradients: floats(count, random), scaled: floats(count, random) },
    next: (step) =>
      step >= steps
        ? undefined
        : {
            entry: 'scaleVectorized',
            grid: [4, 1, 1],
            block: [32, 1, 1],
            args: [step % 2 === 0 ? 'scaled' : 'gradients', 'gradients', { float: 0.5 }, count],
          },
  };
}

export const APPLICATIONS: readonly Application[] = [
  breadthFirst(),
  tracking(),
  residualStream(),
  gradientScaling(),
];

/** A launch of an application as an instance: memory is what the launches before have left. */
export interface ApplicationInstance extends LaunchInstance {
  readonly step: number;
}

/** Runs an application and tells each launch before it happens. */
export function runApplication(
  bench: OracleBench,
  application: Application,
  use: (instance: ApplicationInstance) => void,
): void {
  const names = Object.keys(application.buffers);
  const contents = new Map(Object.entries(application.buffers).map(([name, bytes]) => [name, bytes.slice()]));
  const read = (name: string): Uint8Array => contents.get(name) ?? new Uint8Array();
  for (let step = 0; ; step++) {
    const launch = application.next(step, read);
    if (launch === undefined) return;
    const ir = bodyModule(bodyOf(launch.entry));
    const { grid, block, entry, args } = launch;
    const kernel = ir.functions.find(({ isEntry, name }) => isEntry && name === entry);
    const instance: ApplicationInstance = {
      step,
      ir,
      entry,
      shape: { grid, block, dynamicSharedBytes: 0 },
      allocations: names.map((name) => ({ bytes: read(name).slice() })),
      args: args.map((argument, index): InstanceArgument => {
        if (typeof argument === 'string')
          return {
            bytes: new Uint8Array(8),
            pointers: [{ at: 0, allocation: names.indexOf(argument), offset: 0 }],
          };
        if (typeof argument === 'number')
          return { bytes: integerBytes(argument, kernel?.parameters[index]?.bytes ?? 4) };
        return { bytes: new Uint8Array(Float32Array.of(argument.float).buffer) };
      }),
    };
    use(instance);
    bench.with(instance, ({ launch: placed, executor, addresses, blocks, fuel }) => {
      const result = executor.run(placed, { lo: 0, hi: blocks }, 'fast', fuel);
      if (result.status === 'fault') throw new Error(result.fault.message);
      names.forEach((name, index) => {
        const bytes = read(name);
        bytes.set(placed.module.space.view(addresses[index] ?? 0, bytes.length));
      });
    });
  }
}

/** The first body of a kernel. */
function bodyOf(entry: string): CorpusBody {
  const body = corpusBodies().find(({ manifest }) => manifest.entry === entry);
  if (body === undefined) throw new RangeError(`the corpus has no kernel ${entry}`);
  return body;
}

/** A signed integer of 4 or 8 bytes. */
function integerBytes(value: number, width: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value), true);
  return bytes.slice(0, width);
}
