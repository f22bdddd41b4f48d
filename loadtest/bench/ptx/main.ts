/**
 * `npm run bench:ptx [-- sgemm_naive ... start launch digits] [--repeats N] [--cflags '-O3'] [--json] [--check]`: kernels in PTX against the
 * same loop nests in C, in the same run on one thread each, and what a launch costs besides; each figure with the floor that
 * it is held to. With --json one JSON document a part; with --check the exit code is 1 when a figure does not hold.
 * With --ablation [--out FOLDER] instead: each kernel with each optimisation of the compiler left out, as files there.
 */
import { reasonOf } from '../../../simulator/text/index.js';
import { checkTable, holds, type Check } from '../check.js';
import { runAblation } from './ablationRun.js';
import { commandLine } from './commandLine.js';
import { toolchain } from './compiler.js';
import { PARTS } from './parts.js';
import { heading } from './table.js';

// What has been begun is tidied up.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

try {
  const options = commandLine(process.argv.slice(2));
  const tools = toolchain(options.flags);
  if (!options.json) process.stdout.write(heading(tools));
  if (options.ablation !== undefined) {
    runAblation(options.ablation, options, tools);
    process.exit(0);
  }
  const checks: Check[] = [];
  for (const part of PARTS) {
    if (options.parts.length > 0 && !options.parts.includes(part.name)) continue;
    const found = await part.run({ root: process.cwd(), ...options });
    checks.push(...found.checks);
    if (options.json) {
      const judged = found.checks.map((check) => ({ ...check, holds: holds(check) }));
      process.stdout.write(
        `${JSON.stringify({ part: part.name, ...tools, found: found.data, checks: judged })}\n`,
      );
    } else process.stdout.write(found.text);
  }
  if (!options.json) process.stdout.write(`\n${checkTable(checks)}`);
  if (options.check && !checks.every(holds)) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${reasonOf(error)}\n`);
  process.exitCode = 2;
}
