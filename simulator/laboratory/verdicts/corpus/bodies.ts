import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { parseModule, type IrModule } from '../../../ptx/index.js';
import { corpusFolder } from './corpusFolder.js';
import { KERNELS } from './manifests/index.js';
import type { KernelManifest } from './manifest.js';

/** One body of a kernel: its source compiled in one way. */
export interface CorpusBody {
  /** `elementwise/relu i32.plain` */
  readonly id: string;
  readonly manifest: KernelManifest;
  readonly variant: string;
}

/** PTX texts of one source by variant. */
type PackedSource = Readonly<Record<string, string>>;

interface PackedBody {
  readonly entry: string;
  readonly variant: string;
}

const packed = new Map<string, PackedSource>();
const modules = new Map<string, IrModule>();

/** Every body, in the order of the manifests: bodies of one kernel all differ. */
export function corpusBodies(): readonly CorpusBody[] {
  const index = JSON.parse(
    readFileSync(join(corpusFolder(), 'packed/bodies.json'), 'utf8'),
  ) as readonly PackedBody[];
  const variants = new Map<string, string[]>();
  for (const { entry, variant } of index) variants.set(entry, [...(variants.get(entry) ?? []), variant]);
  return KERNELS.flatMap((manifest) =>
    (variants.get(manifest.entry) ?? []).map((variant) => ({
      id: `${manifest.family}/${manifest.entry} ${variant}`,
      manifest,
      variant,
    })),
  );
}

/** The PTX text that a body is in, with other kernels of its source. */
export function bodyText({ manifest, variant }: CorpusBody): string {
  const { family } = manifest;
  let source = packed.get(family);
  if (source === undefined) {
    const bytes = readFileSync(join(corpusFolder(), `packed/${family}.json.br`));
    source = JSON.parse(brotliDecompressSync(bytes).toString('utf8')) as PackedSource;
    packed.set(family, source);
  }
  const text = source[variant];
  if (text === undefined) throw new RangeError(`${family} has no variant ${variant}: pack the bodies anew`);
  return text;
}

/** The module that a body is in, parsed once. */
export function bodyModule(body: CorpusBody): IrModule {
  const file = `${body.manifest.family}.${body.variant}.ptx`;
  let module = modules.get(file);
  if (module === undefined) {
    module = parseModule(bodyText(body), file);
    modules.set(file, module);
  }
  return module;
}
