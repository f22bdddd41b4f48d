import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { parseModule, type IrModule } from '../../../ptx/index.js';
import { corpusFolder } from '../corpus/corpusFolder.js';
import { FUSED, TILES } from './compilers.js';
import { FRAMEWORKS } from './frameworks.js';
import type { HeldOutKernel, Source } from './heldOutKernel.js';
import { HAND_WRITTEN, PRIMITIVES } from './primitives.js';
import { SUITES } from './suites.js';

export const HELD_OUT_KERNELS: readonly HeldOutKernel[] = [
  ...FRAMEWORKS,
  ...SUITES,
  ...FUSED,
  ...TILES,
  ...PRIMITIVES,
  ...HAND_WRITTEN,
];

/** One body of a kernel: its source compiled in one way. */
export interface HeldOutBody {
  /** `frameworks/vecSilu4 sm90` */
  readonly id: string;
  readonly kernel: HeldOutKernel;
  readonly variant: string;
}

interface FrozenBody {
  readonly entry: string;
  readonly variant: string;
  /** The truth about each launch, in order: idempotent, not, or no launch since it faults. */
  readonly labels: string;
}

export const heldOutFolder = (): string => join(corpusFolder(), '../heldOut');

const frozen = (): readonly FrozenBody[] =>
  JSON.parse(readFileSync(join(heldOutFolder(), 'bodies.json'), 'utf8')) as readonly FrozenBody[];

/** Every body with the truth about its launches, in the order of the kernels. */
export function heldOutBodies(): readonly { readonly body: HeldOutBody; readonly labels: string }[] {
  const kernels = new Map(HELD_OUT_KERNELS.map((kernel) => [kernel.entry, kernel]));
  return frozen().map(({ entry, variant, labels }) => {
    const kernel = kernels.get(entry);
    if (kernel === undefined) throw new RangeError(`no kernel ${entry}`);
    return { body: { id: `${kernel.source}/${entry} ${variant}`, kernel, variant }, labels };
  });
}

const texts = new Map<Source, Readonly<Record<string, string>>>();
const modules = new Map<string, IrModule>();

/** The module that a body is in, parsed once. */
export function heldOutModule({ kernel: { source }, variant }: HeldOutBody): IrModule {
  const file = `${source}.${variant}.ptx`;
  let module = modules.get(file);
  if (module === undefined) {
    let variants = texts.get(source);
    if (variants === undefined) {
      const bytes = readFileSync(join(heldOutFolder(), `packed/${source}.json.br`));
      variants = JSON.parse(brotliDecompressSync(bytes).toString('utf8')) as Readonly<Record<string, string>>;
      texts.set(source, variants);
    }
    module = parseModule(variants[variant] ?? '', file);
    modules.set(file, module);
  }
  return module;
}
