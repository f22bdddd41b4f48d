/**
 * Asks the assembler which of the attempted forms exist for sm_90a, and keeps the answer in `assembled.json`.
 *   node dist/simulator/laboratory/tensor/forms/recordAssembled.js [--all]
 * Needs `ptxas`. Asks for what has no answer yet, or with --all for everything, as after a new assembler.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../files/index.js';
import { header, moveKernel, tileKernel } from '../probes/kernelText.js';
import { attemptedMoveForms, readAssembled, tileForms, type Assembled } from './index.js';

const folder = mkdtempSync(join(tmpdir(), 'tensor-forms-'));
const known = process.argv.includes('--all') ? undefined : readAssembled();
const accepted: string[] = [];
const refused: Record<string, string> = {};

/** The assembler's first complaint about a module, undefined where it has none. */
function complaint(text: string): string | undefined {
  const path = join(folder, 'form.ptx');
  writeFileSync(path, header + text);
  const { status, stderr } = spawnSync('ptxas', ['-arch=sm_90a', path, '-o', '/dev/null'], {
    encoding: 'utf8',
  });
  if (status === 0) return undefined;
  const [first = 'refused'] = stderr.split('\n');
  return first.replace(/^ptxas .*?; ?(?:error|fatal) *: */, '').trim();
}

function ask(name: string, text: string): void {
  if (known?.accepted.includes(name) === true) {
    accepted.push(name);
    return;
  }
  const said = known?.refused[name] ?? complaint(text);
  if (said === undefined) accepted.push(name);
  else refused[name] = said;
}

try {
  for (const form of tileForms) ask(form.name, tileKernel('form', form));
  for (const form of attemptedMoveForms) ask(form.name, moveKernel('form', form));
} finally {
  rmSync(folder, { recursive: true });
}
const [, , , version = ''] = spawnSync('ptxas', ['--version'], { encoding: 'utf8' }).stdout.split('\n');
const assembled: Assembled = { assembler: version, accepted, refused };
writeFileSync(
  join(packageRoot(), 'simulator/laboratory/tensor/forms/assembled.json'),
  `${JSON.stringify(assembled, undefined, 1)}\n`,
);
process.stdout.write(`${accepted.length} forms assemble, ${Object.keys(refused).length} do not\n`);
