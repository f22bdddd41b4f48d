/** Runs one experiment by its name. Usage: npm run experiment NAME [-- OPTIONS] */
import { ArgumentError } from './experimentArguments.js';
import { runExperiment } from './runExperiment.js';

try {
  await runExperiment(process.argv[2], process.argv.slice(3), (text) => process.stderr.write(text));
} catch (error) {
  if (!(error instanceof ArgumentError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
