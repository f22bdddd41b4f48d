import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ablate, type AblationRow } from './ablation.js';
import { ablationFigure, ablationTable } from './ablationReport.js';
import { BENCH_KERNELS, partName } from './benchKernels.js';
import { compactJson } from '../../report/index.js';
import type { Toolchain } from './compiler.js';

/** Leaves `ablation.json`, `ablation.md` and `ablation.svg` in a folder. @param parts kernels by name; none for all */
export function runAblation(
  folder: string,
  { parts, repeats }: { readonly parts: readonly string[]; readonly repeats: number },
  { cpu, node }: Toolchain,
): void {
  const rows: AblationRow[] = [];
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, name), text);
  };
  for (const kernel of BENCH_KERNELS) {
    if (parts.length > 0 && !parts.includes(partName(kernel))) continue;
    const row = ablate(kernel, { root: process.cwd(), repeats });
    rows.push(row);
    process.stdout.write(
      rows.length === 1 ? ablationTable(rows) : (ablationTable([row]).split('\n')[2] ?? '') + '\n',
    );
    // After each kernel: all of them take a while.
    write('ablation.json', compactJson({ cpu, node, repeats, rows }));
    write('ablation.md', ablationTable(rows));
    write(
      'ablation.svg',
      ablationFigure(rows, `CPU time of one thread at steady speed; ${cpu}, Node ${node}`),
    );
  }
}
