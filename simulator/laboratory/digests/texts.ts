import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packageRoot } from '../../files/index.js';
import { parseModule, type IrModule } from '../../ptx/index.js';
import { generateKernel, type FuzzCase } from '../fuzz/index.js';
import { allForms, probeModule } from '../instructions/index.js';
import { bodyModule, corpusBodies, heldOutBodies, heldOutModule } from '../verdicts/index.js';

/** A module that digests are made of. */
export interface NamedModule {
  readonly name: string;
  readonly module: IrModule;
}

const NO_SOURCES = new Set(['node_modules', 'dist', '.git', 'data']);

/** Every PTX file of the repository. */
function* files(root: string, folder = root): Generator<NamedModule> {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !NO_SOURCES.has(entry.name)) yield* files(root, path);
    if (!entry.isFile() || !entry.name.endsWith('.ptx')) continue;
    const name = relative(root, path);
    const module = tryParse(readFileSync(path, 'utf8'), name);
    if (module !== undefined) yield { name, module };
  }
}

/** Some files are there because they are refused. */
function tryParse(text: string, name: string): IrModule | undefined {
  try {
    return parseModule(text, name);
  } catch {
    return undefined;
  }
}

/** Kernels of files; one in `oneIn` of the bodies of both corpora of verdicts, and of the forms of instructions. */
export function* modules(oneIn: number): Generator<NamedModule> {
  yield* files(packageRoot());
  const seen = new Set<IrModule>();
  const bodies = [
    ...corpusBodies().map((body) => ({ name: body.id, module: () => bodyModule(body) })),
    ...heldOutBodies().map(({ body }) => ({ name: body.id, module: () => heldOutModule(body) })),
  ];
  for (const [index, { name, module }] of bodies.entries()) {
    if (index % oneIn !== 0) continue;
    const found = module();
    if (!seen.has(found)) yield { name, module: found };
    seen.add(found);
  }
  for (const [index, form] of allForms.entries())
    if (index % oneIn === 0)
      yield { name: `form ${form.name}`, module: parseModule(probeModule([form]), form.name) };
}

/** Random kernels of both generations and all styles. */
export function* fuzzCases(seeds: number): Generator<FuzzCase> {
  for (let seed = 1; seed <= seeds; seed++) {
    const style = { together: seed % 3 === 0, inStep: seed % 5 === 0 };
    yield generateKernel(seed, { generation: seed % 2 === 1 ? 1 : 2, ...style });
  }
}
