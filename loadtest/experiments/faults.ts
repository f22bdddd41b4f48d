/**
 * Recovery from transient faults, with and without verdicts about idempotency (PICKER, EuroSys'26, fault tolerance and soft errors),
 * in virtual time: what a pass of a model takes longer while nothing fails; whether all of its memory is the same after faults that
 * strike launches at random points; and how many failed launches need nothing but to run again.
 * Writes overheads.json, overheads.svg, struck.json and softErrors.json, and prints the tables.
 * Usage: npm run experiment faults [-- --only overheads|struck|softErrors] [--seed N] [--folder FOLDER]
 */
import { EXPERIMENTS } from './experimentList.js';
import { ArgumentError, experimentArguments } from './experimentArguments.js';
import type { RecoveryScheme, SavePlace } from '../../simulator/faults/index.js';
import { convolutionNetworks } from './faults/convolutionNetworks.js';
import { SMALL_DECODER, decoder } from './faults/decoder.js';
import { digitsModel } from './faults/digitsModels.js';
import { faultStudy } from './faults/faultStudy.js';
import { overheadFigure } from './faults/overheadFigure.js';
import { faultlessOverheads } from './faults/overheadStudy.js';
import { softErrors } from './faults/softErrors.js';
import type { StudiedModel } from './faults/studiedModel.js';
import { percent } from '../../simulator/text/index.js';

const BATCH = 64;
const FAULTS_A_MODEL = 100;
const SOFT_ERRORS = 1000;
const SOFT_ERROR_RATE = 0.03;
const CHOICES = (
  [
    ['restore', 'host'],
    ['restore', 'device'],
    ['verdicts', 'host'],
    ['verdicts', 'device'],
  ] satisfies [RecoveryScheme, SavePlace][]
).map(([scheme, saveTo]) => ({ scheme, saveTo }));
const UNSAVED = { scheme: 'verdicts', kind: 'bitFlip' } as const;
const SAVED = { scheme: 'restore', kind: 'failure' } as const;
const PARTS: Readonly<Record<string, () => void>> = { overheads, struck, softErrors: failed };

const { values, seed, folder } = experimentArguments('faults', EXPERIMENTS.faults);
const part = values.only;
if (part !== undefined && !Object.hasOwn(PARTS, part)) {
  throw new ArgumentError(`--only must be one of ${Object.keys(PARTS).join(', ')}, not '${part}'`);
}
for (const [name, run] of Object.entries(PARTS)) if (part === undefined || part === name) run();

/** The system's own: two that it serves, and a decoder that writes in place. */
function ownModels(): readonly StudiedModel[] {
  return [digitsModel('digits-mlp', BATCH), digitsModel('digits-rbf-svm', BATCH), decoder(SMALL_DECODER)];
}

/** What recovery costs while nothing fails. */
function overheads(): void {
  table([
    'model',
    'launches',
    'proved idempotent',
    'pass, us',
    '`restore` to the host',
    '`restore` on the device',
    '`verdicts`, host',
    '`verdicts`, device',
  ]);
  const sizes = [
    { size: 'large', models: convolutionNetworks('large') },
    { size: 'small', models: convolutionNetworks('small') },
    { size: 'own', models: ownModels() },
  ];
  const found = sizes.flatMap(({ size, models }) =>
    models.map((model) => {
      const { passUs, schemes } = faultlessOverheads(model, CHOICES);
      const launches = model.launches.length;
      const proved = launches - (schemes.find(({ scheme }) => scheme === 'verdicts')?.savedLaunches ?? 0);
      const cells = schemes.map(({ overhead }) => percent(overhead, 2));
      row([`${model.name}, ${size}`, `${launches}`, `${proved}`, passUs.toFixed(0), ...cells]);
      return { size, model: model.name, launches, proved, passUs, schemes };
    }),
  );
  folder.writeJson('overheads.json', { seed, batch: BATCH, found });
  folder.write('overheads.svg', overheadFigure(found, seed));
}

/** Whether memory is as without faults after each of many. */
function struck(): void {
  table([
    'model',
    'scheme',
    'faults',
    'what they leave',
    'run again',
    'restored',
    'memory as without faults',
  ]);
  const own = ownModels();
  const studies = [
    ...[...convolutionNetworks('small'), ...own].map((model) => ({ model, ...UNSAVED })),
    ...own.map((model) => ({ model, ...SAVED })),
  ];
  const found = studies.map(({ model, scheme, kind }) => {
    const study = faultStudy(model, scheme, kind, FAULTS_A_MODEL, seed);
    const { injected, reexecuted, restored } = study.totals;
    row([
      model.name,
      `\`${scheme}\``,
      `${injected}`,
      kind,
      `${reexecuted}`,
      `${restored}`,
      `${study.identical} of ${study.faults}`,
    ]);
    return { model: model.name, ...study };
  });
  folder.writeJson('struck.json', { seed, batch: BATCH, found });
}

/** How many launches that failed need nothing but to run again. */
function failed(): void {
  table([
    'scheme',
    'launches',
    'failed',
    'idempotent share',
    'run again',
    '95 % interval',
    'passes whose memory was as without faults',
  ]);
  const found = (['verdicts', 'klevel'] as const).map((scheme) => {
    const each = softErrors(decoder(SMALL_DECODER), scheme, SOFT_ERRORS, SOFT_ERROR_RATE, seed);
    const [low, high] = each.interval.map(percent);
    row([
      `\`${scheme}\``,
      `${each.launches}`,
      `${each.totals.injected}`,
      percent(each.idempotentShare, 2),
      percent(each.repairedShare, 2),
      `${low} to ${high}: ${each.isWithin ? 'within' : 'outside'}`,
      `${each.identical} of ${each.passes}`,
    ]);
    return each;
  });
  folder.writeJson('softErrors.json', { seed, rate: SOFT_ERROR_RATE, found });
}

function table(columns: readonly string[]): void {
  row(columns);
  row(columns.map(() => '---'));
}

function row(cells: readonly string[]): void {
  folder.print(`| ${cells.join(' | ')} |\n`);
}
