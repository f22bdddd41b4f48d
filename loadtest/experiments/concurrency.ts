/**
 * Launches side by side: the scenarios that were measured on the card, replayed on the simulated one. Prints measured and
 * simulated makespan, each launch's own time alone and end, and what is left of the error when times alone are given.
 * Usage: npm run experiment concurrency [-- --only TEXT] [--launches] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { experimentArguments } from './experimentArguments.js';
import { renderFigure } from '../report/index.js';
import { ConcurrencyReplay, type Replayed } from './concurrencyReplay.js';
import { measuredScenarios, type Scenario } from './concurrencyScenario.js';
import { percent } from '../../simulator/text/index.js';

const { values, folder } = experimentArguments('concurrency', EXPERIMENTS.concurrency);

const replay = new ConcurrencyReplay();
const errors: number[] = [];
const normalisedErrors: number[] = [];
const endErrors: number[] = [];
const makespans: { name: string; measuredUs: number; simulatedUs: number; timesGivenUs: number }[] = [];

for (const scenario of measuredScenarios()) {
  if (!scenario.name.includes(values.only)) continue;
  const raw = replay.run(scenario);
  const normalised = replay.runGiven(scenario);
  const error = raw.makespanUs / scenario.makespanUs - 1;
  const normalisedError = normalised.makespanUs / scenario.makespanUs - 1;
  makespans.push({
    name: scenario.name,
    measuredUs: scenario.makespanUs,
    simulatedUs: raw.makespanUs,
    timesGivenUs: normalised.makespanUs,
  });
  errors.push(error);
  normalisedErrors.push(normalisedError);
  folder.print(
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
folder.writeJson('concurrency.json', { makespans });
const byTime = [...makespans].sort((a, b) => a.measuredUs - b.measuredUs);
const line = (name: string, color: number, of: (one: (typeof makespans)[number]) => number) => ({
  name,
  color,
  points: byTime.map((one, at) => [at + 1, of(one)] as const),
});
folder.write(
  'concurrency.svg',
  renderFigure({
    title: 'Launches side by side, measured and simulated',
    subtitle: 'Each scenario that was measured on an H200, the shortest first; nothing in it is drawn',
    xLabel: 'scenario',
    panels: [
      {
        yLabel: 'makespan (us)',
        logarithmic: true,
        series: [
          line('measured', 0, ({ measuredUs }) => measuredUs),
          line('simulated', 1, ({ simulatedUs }) => simulatedUs),
          line('simulated, times alone given', 2, ({ timesGivenUs }) => timesGivenUs),
        ],
      },
    ],
  }),
);

function printLaunches(scenario: Scenario, raw: Replayed, normalised: Replayed): void {
  scenario.launches.forEach(({ kernel, stream, expect }, index) => {
    const { aloneUs, startUs, endUs } = raw.launches[index];
    const given = normalised.launches[index];
    folder.print(
      `    ${`${kernel} (${stream})`.padEnd(20)} alone ${us(expect.aloneUs)} ${us(aloneUs)}   start ${us(expect.startUs)} ` +
        `${us(startUs)} ${us(given.startUs)}   end ${us(expect.endUs)} ${us(endUs)} ${us(given.endUs)}\n`,
    );
  });
}

function summary(what: string, of: readonly number[]): void {
  const sizes = of.map(Math.abs);
  const mean = sizes.reduce((sum, each) => sum + each, 0) / sizes.length;
  folder.print(
    `${what}: mean error ${percent(mean).padStart(7)}, worst ${percent(Math.max(...sizes)).padStart(7)}, ` +
      `${sizes.filter((each) => each <= 0.2).length} of ${sizes.length} within 20 %\n`,
  );
}

function us(value: number): string {
  return value.toFixed(1).padStart(6);
}
