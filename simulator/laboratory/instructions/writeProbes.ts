import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { operandsOf } from './evaluation.js';
import { allForms } from './forms/index.js';
import { probeModule } from './probe.js';

const formsPerModule = 350;

/**
 * Writes what `card.cu` runs on a card: PTX modules with a probe kernel a form, the operands of each list of source types,
 * and `forms.txt`. `probeCard.ts` says what is done with it.
 */
export function writeProbes(directory: string): void {
  mkdirSync(directory, { recursive: true });
  const written = new Set<string>();
  const lines: string[] = [];
  for (let first = 0; first < allForms.length; first += formsPerModule) {
    const forms = allForms.slice(first, first + formsPerModule);
    const name = `m${first / formsPerModule}`;
    writeFileSync(join(directory, `${name}.ptx`), probeModule(forms, first));
    for (const form of forms) {
      const operands = `ops_${form.sources.join('_')}`;
      lines.push(`${name}.cubin ${operands} ${form.sources.length} ${form.results.length} ${form.name}`);
      if (written.has(operands)) continue;
      written.add(operands);
      writeFileSync(join(directory, operands), new Uint8Array(operandsOf(form).buffer));
    }
  }
  writeFileSync(join(directory, 'forms.txt'), `${lines.join('\n')}\n`);
}
