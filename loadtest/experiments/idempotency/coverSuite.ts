import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../../simulator/files/index.js';
import {
  builtInModelPath,
  inputLength,
  loadKernelModel,
  type BuiltInModel,
} from '../../../containers/models/index.js';
import { VirtualNode } from '../../../containers/runtime/testing/index.js';
import type { ContainerFrame, FrontendFrame } from '../../../containers/protocol/index.js';
import { NodeMemory } from '../../../simulator/executor/index.js';
import {
  FIXTURE_BACKING_BYTES,
  PlacedFixture,
  type KernelFixture,
} from '../../../simulator/laboratory/kernels/index.js';
import {
  isWorkSpec,
  LaunchSpecError,
  runLaunchSpec,
  runWorkSpec,
} from '../../../simulator/launchSpec/index.js';
import { parseModule } from '../../../simulator/ptx/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';
import { CoveringExecutor, type CoverTotals } from './coveringExecutor.js';

const FUEL = 50_000_000;
const ROOM = 'simulator/laboratory/kernels/';

/** Runs the launches of a CUDA program. @throws Error when one faults */
export function coverFixture(fixture: KernelFixture, totals: CoverTotals): void {
  const memory = new NodeMemory({ backingBytes: FIXTURE_BACKING_BYTES });
  const executor = new CoveringExecutor(memory, totals);
  const placed = new PlacedFixture(fixture, memory.createSpace());
  for (const launch of placed.launches(parseModule(textOf(fixture), `${fixture.name}.ptx`))) {
    const [x, y, z] = launch.shape.grid;
    const result = executor.run(launch, { lo: 0, hi: x * y * z }, 'fast', FUEL);
    if (result.status === 'fault') throw new Error(`${fixture.name}: ${result.fault.message}`);
  }
}

/** Where code is compiled to its text is not copied. */
export function textOf({ ptx }: KernelFixture): string {
  const path = ptx.pathname.slice(ptx.pathname.lastIndexOf(ROOM));
  return readFileSync(join(packageRoot(), path), 'utf8');
}

/** Loads a model, with its warm-up, and serves batches of these sizes of random inputs. */
export function coverModel(name: BuiltInModel, batches: readonly number[], totals: CoverTotals): void {
  const clock = new VirtualClock();
  const node = new VirtualNode({ clock, executor: (memory) => new CoveringExecutor(memory, totals) });
  const path = builtInModelPath(name);
  const { manifest } = loadKernelModel(path);
  const channel = node.start({ model: name, version: '1', replica: '0', inputType: 'floats', path });
  const failures: string[] = [];
  channel.open({
    onFrame: (frame: ContainerFrame) => {
      if (frame.kind === 'down') failures.push(frame.reason);
      if (frame.kind === 'result')
        for (const result of frame.results) if (!result.ok) failures.push(result.message);
    },
  });
  clock.run();
  batches.forEach((size, batchId) => {
    const items = Array.from({ length: size }, (_, id) => ({
      id,
      bytes: strokes(inputLength(manifest), 7 * id + batchId),
      budgetNs: 1e9,
    }));
    channel.send({ kind: 'predict', batchId, items } satisfies FrontendFrame);
    clock.run();
  });
  node.close(() => undefined);
  if (failures.length > 0) throw new Error(`${name}: ${failures[0]}`);
}

/** Specs of one or several launches: of the documentation, and those that were measured on a card and are not too large. */
export function exampleSpecs(mostThreads: number): readonly string[] {
  const root = packageRoot();
  const inFolders = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.json'))
      .sort()
      .map((file) => join(root, folder, file));
  return [...inFolders('docs/examples'), ...inFolders('simulator/gpu/reference/launches')].filter((file) => {
    const spec = JSON.parse(readFileSync(file, 'utf8')) as Partial<Record<'grid' | 'block', number[]>>;
    if (isWorkSpec(spec)) return true;
    if (spec.grid === undefined || spec.block === undefined) return false;
    return [...spec.grid, ...spec.block].reduce((product, extent) => product * extent, 1) <= mostThreads;
  });
}

/** A fault ends it, as one example of the documentation means to. @throws LaunchSpecError of other kinds */
export function coverSpec(file: string, totals: CoverTotals): void {
  const spec = JSON.parse(readFileSync(file, 'utf8')) as unknown;
  const node = { executor: (memory: NodeMemory) => new CoveringExecutor(memory, totals) };
  try {
    if (isWorkSpec(spec)) runWorkSpec(spec, dirname(file), { node });
    else runLaunchSpec(spec, dirname(file), { node });
  } catch (error) {
    if (!(error instanceof LaunchSpecError) || error.code !== 'fault') throw error;
  }
}

/** A made-up drawing: what it shows does not matter. */
function strokes(length: number, seed: number): Uint8Array {
  return new Uint8Array(
    Float32Array.from({ length }, (_, at) => ((at * 31 + seed * 17) % 97 < 12 ? 1 : 0)).buffer,
  );
}
