import { readFileSync } from 'node:fs';
import { NodeMemory, WasmExecutor, type ExecutorLaunch } from '../../../simulator/executor/index.js';
import {
  FIXTURE_BACKING_BYTES,
  PlacedFixture,
  type KernelFixture,
} from '../../../simulator/laboratory/kernels/index.js';
import { parseModule } from '../../../simulator/ptx/index.js';

const FUEL = 50_000_000;

/** Of the text: parsing would be the first step of what is timed. */
export function instructionsOf(fixture: KernelFixture): number {
  return textOf(fixture)
    .split('\n')
    .filter((line) => /^\s+(@!?%\w+\s+)?[a-z][\w.:]*\b.*;\s*(\/\/.*)?$/.test(line)).length;
}

/** PTX is not copied beside compiled code. */
export function textOf({ ptx }: KernelFixture): string {
  return readFileSync(new URL(ptx.href.replace('/dist/simulator/', '/simulator/')), 'utf8');
}

/** A program on a node of its own, which has not seen its text yet. */
export class Program {
  private readonly memory = new NodeMemory({ backingBytes: FIXTURE_BACKING_BYTES });
  private readonly placed: PlacedFixture;
  private readonly executor = new WasmExecutor(this.memory);
  private launches: readonly ExecutorLaunch[] = [];

  constructor(private readonly fixture: KernelFixture) {
    this.placed = new PlacedFixture(fixture, this.memory.createSpace());
  }

  load(text: string): void {
    this.launches = this.placed.launches(parseModule(text, `${this.fixture.name}.ptx`));
  }

  run(): void {
    for (const launch of this.launches) {
      const [x, y, z] = launch.shape.grid;
      const { status } = this.executor.run(launch, { lo: 0, hi: x * y * z }, 'fast', FUEL);
      if (status !== 'done') throw new Error(`${this.fixture.name} did not end`);
    }
  }

  fill(): void {
    this.placed.fill();
  }
}
