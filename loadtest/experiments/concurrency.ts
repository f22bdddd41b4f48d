/**
 * Launches side by side: the scenarios that were measured on the card, replayed on the simulated one. Prints measured and
 * simulated makespan, each launch's own time alone and end, and what is left of the error when times alone are given.
 * Usage: npm run experiment concurrency -- [--only TEXT] [--launches]
 */
import { parseArgs } from 'node:util';
import { ConcurrencyReplay, type Replayed } from './concurrencyReplay.js';
import { measuredScenarios, type Scenario } from './concurrencyScenario.js';
import { percent } from '../../simulator/text/index.js';

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, launches: { type: 'boolean', default: false } },
});

const replay = new ConcurrencyReplay();
const errors: number[] = [];
const normalisedErrors: number[] = [];
const endErrors: number[] = [];

for (const scenario of measuredScenarios()) {
  if (!scenario.name.includes(values.only)) continue;
  const raw = replay.run(scenario);
  const normalised = replay.runGiven(scenario);
  const error = raw.makespanUs / scenario.makespanUs - 1;
  const normalisedError = normalised.makespanUs / scenario.makespanUs - 1;
  errors.push(error);
  normalisedErrors.push(normalisedError);
  process.stdout.write(
    `${scenario.name.padEnd(50)} ${us(scenario.makespanUs)} ${us(raw.makespanUs)} ${percent(error).padStart(7)}   ` +
      `times alone given: ${us(normalised.makespanUs)} ${percent(normalisedError).padStart(7)}\n`,
  );
  scenario.launches.forEach(({ expect }, index) => {
    endErrors.push((normalised.launches[index].endUs - expect.endUs) / scenario.makespanUs);
  });
  if (values.launches) printLaunches(scenario, raw, normalised);
}
summary('makespan', errors);
summary('makespan, times alone given', normalisedErrors);
summary('ends of launches, times alone given, of the makespan', endErrors);

function printLaunches(scenario: Scenario, raw: Replayed, normalised: Replayed): void {
  scenario.launches.forEach(({ kernel, stream, expect }, index) => {
    const { aloneUs, startUs, endUs } = raw.launches[index];
    const given = normalised.launches[index];
    process.stdout.write(
      `    ${`${kernel} (${stream})`.padEnd(20)} alone ${us(expect.aloneUs)} ${us(aloneUs)}   start ${us(expect.startUs)} ` +
        `${us(startUs)} ${us(given.startUs)}   end ${us(expect.endUs)} ${us(endUs)} ${us(given.endUs)}\n`,
    );
  });
}

function summary(what: string, of: readonly number[]): void {
  const sizes = of.map(Math.abs);
  const mean = sizes.reduce((sum, each) => sum + each, 0) / sizes.length;
  process.stdout.write(
    `${what}: mean error ${percent(mean).padStart(7)}, worst ${percent(Math.max(...sizes)).padStart(7)}, ` +
      `${sizes.filter((each) => each <= 0.2).length} of ${sizes.length} within 20 %\n`,
  );
}

function us(value: number): string {
  return value.toFixed(1).padStart(6);
}
