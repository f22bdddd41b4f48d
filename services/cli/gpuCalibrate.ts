import { Option, type Command } from 'commander';
import { resolve } from 'node:path';
import { packageRoot } from '../../simulator/files/index.js';
import type {
  CalibrationReport,
  Comparison,
  MeasuredLaunch,
  MeasuredSet,
} from '../../simulator/laboratory/calibration/index.js';
import { CommandError } from './commandError.js';
import { deviceOption, wholeNumber } from './optionValues.js';
import { writeMeasuredSpecs } from './measuredSpecs.js';
import { OutputFile, checkApart } from './outputFile.js';
import { print, table } from './printing.js';
import { ProgressLine } from './progressLine.js';
import { noteUnmeasured } from './unmeasured.js';
import { percent } from '../../simulator/text/index.js';

interface CalibrateOptions {
  readonly device?: string;
  readonly set?: string;
  readonly from?: string;
  readonly launches?: string;
  readonly only?: string;
  readonly specs?: string;
  readonly largest: number;
  readonly backToBack?: boolean;
  readonly svg?: string;
  readonly html?: string;
  readonly json?: boolean;
  readonly check?: boolean;
}

const SETS: ReadonlyMap<string, readonly MeasuredSet[]> = new Map([
  ['reference', ['reference']],
  ['validation', ['validation']],
  ['heldOut', ['heldOut']],
  ['tensor', ['tensor']],
  ['all', ['reference', 'validation', 'heldOut', 'tensor']],
]);

/** What `--check` holds a calibration to. */
const MOST_MEAN = 0.12;
const MOST_WORST = 0.5;
const MOST_BACK_TO_BACK = 0.2;

export function addGpuCalibrateCommand(gpu: Command): void {
  gpu
    .command('calibrate')
    .description("hold the simulated card's times against a real one's: a table and a log-log scatter")
    .addOption(deviceOption())
    .addOption(
      new Option(
        '--set <name>',
        'launches measured on an H200: those that the model was fitted on (reference, the default), those that its rules were chosen by too (validation), others (heldOut), those on tensor cores (tensor), or all',
      ).choices([...SETS.keys()]),
    )
    .option('--launches <folder>', 'launch specs of your own; their expect.durationUs is what a card took')
    .option(
      '--from <csv>',
      'times of your own: columns launch (a spec of --launches, without .json), duration_us and, for --back-to-back, back_to_back_us',
    )
    .option('--only <text>', 'launches whose name contains it')
    .addOption(
      new Option(
        '--largest <bits>',
        'leave out launches with a buffer of more than 2^bits elements, which take long and gigabytes',
      )
        .argParser(wholeNumber(0, 40))
        .default(24),
    )
    .option(
      '--back-to-back',
      'also intervals between launches in one graph, where they were measured; takes five times as long',
    )
    .option(
      '--specs <folder>',
      'instead of running them, write the launches of the set there as launch specs, a file each',
    )
    .option('--svg <file>', 'write the scatter')
    .option('--html <file>', 'write the scatter and all figures as one page')
    .option('--json', 'print it as JSON')
    .option(
      '--check',
      `end with 1 unless the kernels' mean error is at most ${MOST_MEAN * 100} % and no launch is off by more than ${MOST_WORST * 100} %, and the mean error of intervals, if there are any, at most ${MOST_BACK_TO_BACK * 100} %`,
    )
    .action(runCalibration);
}

async function runCalibration(options: CalibrateOptions): Promise<void> {
  checkOptions(options);
  // Loaded when it is needed: the other commands start without the simulator.
  const { CalibrationError, calibrate, calibrationReport, largestBuffer, scatterPage, scatterSvg } =
    await import('../../simulator/laboratory/calibration/index.js');
  const { LaunchSpecError, deviceOf } = await import('../../simulator/launchSpec/index.js');
  // Before the launches, which may take long.
  const files = [
    ...(options.svg === undefined
      ? []
      : [{ file: new OutputFile(options.svg, '--svg'), render: scatterSvg }]),
    ...(options.html === undefined
      ? []
      : [{ file: new OutputFile(options.html, '--html'), render: scatterPage }]),
  ];
  checkApart(
    files.map(({ file }) => file),
    [
      { what: 'the table of --from', path: options.from },
      { what: 'the card', path: options.device },
    ],
  );
  const progress = new ProgressLine();
  try {
    const measured = await readMeasured(options);
    const named = measured.filter(({ name }) => name.includes(options.only ?? ''));
    const launches = named.filter((launch) => largestBuffer(launch) <= 2 ** options.largest);
    if (launches.length === 0) throw new CommandError(nothingLeft(options, named.length));
    if (options.specs !== undefined) {
      writeMeasuredSpecs(options.specs, launches);
      const written = `${counted(launches.length, 'launch spec', 'launch specs')} in ${options.specs}`;
      print(options.json, { specs: launches.length, folder: options.specs }, written);
      return;
    }
    if (options.backToBack === true && launches.every(({ backToBackUs }) => backToBackUs === undefined)) {
      throw new CommandError(
        '--back-to-back: of none of the launches the interval was measured: give it as column back_to_back_us of --from, or as expect.backToBackUs of a spec',
      );
    }
    const report = calibrationReport(
      calibrate(
        launches,
        {
          ...(options.device === undefined ? {} : { device: options.device }),
          backToBack: options.backToBack === true,
        },
        (launch, index) => progress.show(`${index + 1} of ${launches.length}: ${launch.name}`),
      ),
    );
    progress.clear();
    const cards = new Map(launches.map(({ spec, folder }) => [options.device ?? spec.device, folder]));
    for (const [device, folder] of cards) {
      const { name, measured } = deviceOf({ device }, folder);
      noteUnmeasured({ device: name, measured }, device);
    }
    const title = `Simulated ${options.device ?? launches[0].spec.device} against measured launches`;
    for (const { file, render } of files) file.write(render(report, title));
    print(options.json, report, reportText(report, named.length - launches.length, options.largest));
    if (options.check === true) check(report);
  } catch (error) {
    if (!(error instanceof CalibrationError) && !(error instanceof LaunchSpecError)) throw error;
    throw new CommandError(`${error.code}: ${error.message}`, { cause: error });
  } finally {
    progress.clear();
    for (const { file } of files) file.close();
  }
}

/** Options about what runs. */
const FOR_RUNS = ['device', 'svg', 'html', 'check'] as const;

function checkOptions(options: CalibrateOptions): void {
  const { set, from, launches, specs } = options;
  if (set !== undefined && (from !== undefined || launches !== undefined)) {
    throw new CommandError(
      '--set: it names launches that come with Windjammer; leave it out beside --launches',
    );
  }
  if (specs !== undefined && launches !== undefined) {
    throw new CommandError('--specs: those of --launches are launch specs already; leave one of the two out');
  }
  const idle = FOR_RUNS.find((name) => options[name] !== undefined);
  if (specs !== undefined && idle !== undefined) {
    throw new CommandError(`--specs: nothing runs with it; leave --${idle} out`);
  }
  if (from !== undefined && launches === undefined) {
    throw new CommandError('--from: give the folder of the launch specs that it is about, with --launches');
  }
}

async function readMeasured({ set, from, launches }: CalibrateOptions): Promise<MeasuredLaunch[]> {
  const { measuredByTable, measuredLaunches, measuredSet } =
    await import('../../simulator/laboratory/calibration/index.js');
  if (launches !== undefined) {
    const folder = resolve(launches);
    return from === undefined ? measuredLaunches(folder) : measuredByTable(from, folder);
  }
  return (SETS.get(set ?? 'reference') ?? []).flatMap((name) => measuredSet(packageRoot(), name));
}

function nothingLeft({ only, largest }: CalibrateOptions, named: number): string {
  return named === 0
    ? `--only: no launch has '${only ?? ''}' in its name`
    : `--largest: all ${named} launches have buffers of more than 2^${largest} elements`;
}

function check({ meanOfKernels, worst, backToBackMeanOfKernels = 0 }: CalibrationReport): void {
  if (backToBackMeanOfKernels > MOST_BACK_TO_BACK) {
    throw new CommandError(
      `--check: mean error of intervals ${percent(backToBackMeanOfKernels)}, more than ${MOST_BACK_TO_BACK * 100} %`,
    );
  }
  if (meanOfKernels > MOST_MEAN) {
    throw new CommandError(`--check: mean error ${percent(meanOfKernels)}, more than ${MOST_MEAN * 100} %`);
  }
  if (Math.abs(worst.error) > MOST_WORST) {
    throw new CommandError(
      `--check: ${worst.name} is off by ${percent(worst.error)}, more than ${MOST_WORST * 100} %`,
    );
  }
}

function reportText(report: CalibrationReport, leftOut: number, largest: number): string {
  const { launches, kernels, worst } = report;
  const hasIntervals = report.backToBackMeanOfKernels !== undefined;
  const lines = [
    table(
      [
        'launch',
        'measured us',
        'simulated us',
        'error',
        ...(hasIntervals ? ['back to back us', 'simulated us', 'error'] : []),
      ],
      launches.map((launch) => [
        launch.name,
        ...figures(launch),
        ...(hasIntervals ? figures(launch.backToBack) : []),
      ]),
    ),
    '',
    table(
      ['kernel', 'launches', 'mean |error|', 'worst', 'slope'],
      kernels.map((kernel) => [
        kernel.kernel,
        String(kernel.launches),
        percent(kernel.meanError),
        percent(kernel.worstError),
        kernel.slope?.toFixed(2) ?? '',
      ]),
    ),
    '',
    `${counted(launches.length, 'launch', 'launches')} of ${counted(kernels.length, 'kernel', 'kernels')}: mean of the kernels' mean errors ${percent(report.meanOfKernels)}, ` +
      `median launch ${percent(report.medianError)}, worst ${percent(worst.error)} (${worst.name})`,
    `within 25 %: ${percent(report.withinQuarter)} of the launches; |simulated - measured| over the smaller: mean ${percent(report.meanSymmetricError)}`,
  ];
  if (report.backToBackMeanOfKernels !== undefined) {
    lines.push(
      `intervals back to back: mean of the kernels' mean errors ${percent(report.backToBackMeanOfKernels)}`,
    );
  }
  if (leftOut > 0) {
    lines.push(`left out: ${leftOut} with buffers of more than 2^${largest} elements (--largest)`);
  }
  return lines.join('\n');
}

function figures(of: Comparison | undefined): string[] {
  if (of === undefined) return ['', '', ''];
  return [of.measuredUs.toFixed(2), of.simulatedUs.toFixed(2), percent(of.error)];
}

function counted(count: number, one: string, more: string): string {
  return `${count} ${count === 1 ? one : more}`;
}
