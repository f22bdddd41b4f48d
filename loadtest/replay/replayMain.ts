import { checkApart, CommandError, OutputFile } from '../../services/cli/index.js';
import { runPage } from '../page/index.js';
import { ProgressBar, resultJson, windowsCsv } from '../result/index.js';
import { hostTimesOf } from './replayHostTimes.js';
import type { ReplayOptions } from './replayCommand.js';
import { LoadError, traceChoices } from '../trace/index.js';
import { planReplay, type ReplayRequest } from './replayPlan.js';
import { replay, type ReplayOutcome, type ReplayProgress } from './replayRun.js';

const MIB = 1024 * 1024;

/** JSON on standard output, the report to its file; how long it took on standard error. */
export async function runReplay(options: ReplayOptions): Promise<void> {
  const bar = new ProgressBar(process.stderr);
  const startMs = performance.now();
  const report = options.report === undefined ? undefined : new OutputFile(options.report, '--report');
  const csv = options.csv === undefined ? undefined : new OutputFile(options.csv, '--csv');
  const answers =
    options.saveAnswers === undefined ? undefined : new OutputFile(options.saveAnswers, '--save-answers');
  checkApart(
    [report, csv, answers].filter((file) => file !== undefined),
    [
      { what: 'the file of --trace', path: options.trace },
      { what: 'the file of --inputs', path: options.inputs },
      { what: 'the file of --config', path: options.config },
      { what: 'the file of --host-times', path: options.hostTimes },
    ],
  );
  let outcome: ReplayOutcome;
  try {
    const planned = await planReplay(requestOf(options));
    const settings = {
      ...planned,
      ...(options.hostTimes === undefined
        ? {}
        : {
            hostTimes: await hostTimesOf(options.hostTimes, planned, (text) => bar.update(undefined, text)),
          }),
      ...(answers === undefined ? {} : { onAnswer: (line: string) => answers.write(line) }),
    };
    for (const line of settings.trace.summary) process.stderr.write(`${line}\n`);
    outcome = await replay(settings, (progress) => bar.update(progress.share, progressText(progress)));
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    throw new CommandError(error.message, { cause: error });
  } finally {
    bar.clear();
  }
  const { result, warnings } = outcome;
  const hostSeconds = (performance.now() - startMs) / 1000;
  for (const warning of warnings) process.stderr.write(`windjammer: ${warning}\n`);
  report?.write(runPage(result, hostSeconds));
  csv?.write(windowsCsv(result));
  for (const file of [report, csv, answers]) file?.close();
  process.stdout.write(resultJson(result));
  const simulatedSeconds = result.durationSeconds + result.drainSeconds;
  process.stderr.write(
    `${result.answers} answers, ${simulatedSeconds.toFixed(1)} s simulated in ${hostSeconds.toFixed(1)} s of host time ` +
      `(dilation ${(hostSeconds / simulatedSeconds).toPrecision(2)})\n`,
  );
}

function requestOf(options: ReplayOptions): ReplayRequest {
  const {
    trace,
    seed,
    scale,
    duration,
    app,
    config,
    policy,
    policyFile,
    objectiveMs,
    replicas,
    gpus,
    nodes,
    inputs,
    repeats,
  } = options;
  return {
    trace,
    seed,
    scale,
    feedback: { share: options.feedback, delayMs: options.feedbackDelayMs },
    cacheBytes: options.cacheMib * MIB,
    ...traceChoices(options),
    ...(duration === undefined ? {} : { durationSeconds: duration }),
    ...(app === undefined ? {} : { application: app }),
    ...(config === undefined ? {} : { config }),
    ...(policy === undefined ? {} : { policy }),
    ...(policyFile === undefined ? {} : { policyFile }),
    ...(objectiveMs === undefined ? {} : { objectiveMs }),
    ...(replicas === undefined ? {} : { replicas }),
    ...(gpus === undefined ? {} : { gpus }),
    ...(nodes === undefined ? {} : { nodes }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(repeats === undefined ? {} : { repeats }),
  };
}

function progressText({ simulatedSeconds, arrivals }: ReplayProgress): string {
  return `${simulatedSeconds.toFixed(1)} s simulated, ${arrivals} queries`;
}
