import type { Command } from 'commander';

/** Adds a command, with its options and what it does, to the program. */
export type AddCommand = (program: Command) => void;

/**
 * Every command, in the order in which help lists them, with the room that has it: a room is loaded when its command is asked for.
 * This is the one place of a service that may name the laboratory, and it is loaded for these three alone.
 */
const COMMANDS: ReadonlyMap<string, () => Promise<AddCommand>> = new Map([
  ['serve', async () => (await import('./serveCommand.js')).addServeCommand],
  ['node', async () => (await import('./nodeCommand.js')).addNodeCommand],
  ['config', async () => (await import('./config.js')).addConfigCommand],
  ['doctor', async () => (await import('./doctorCommand.js')).addDoctorCommand],
  ['predict', async () => (await import('./predict.js')).addPredictCommand],
  ['feedback', async () => (await import('./feedback.js')).addFeedbackCommand],
  ['batch', async () => (await import('./batch.js')).addBatchCommand],
  ['job', async () => (await import('./job.js')).addJobCommand],
  ['deploy', async () => (await import('./deploy.js')).addDeployCommand],
  ['app', async () => (await import('./app.js')).addAppCommand],
  ['model', async () => (await import('./model.js')).addModelCommand],
  ['canary', async () => (await import('./canary.js')).addCanaryCommand],
  ['policy', async () => (await import('./policy.js')).addPolicyCommand],
  ['link', async () => (await import('./link.js')).addLinkCommand],
  ['state', async () => (await import('./state.js')).addStateCommand],
  ['queue', async () => (await import('./queue.js')).addQueueCommand],
  ['events', async () => (await import('./events.js')).addEventsCommand],
  ['key', async () => (await import('./key.js')).addKeyCommand],
  ['backup', async () => (await import('./backup.js')).addBackupCommand],
  ['restore', async () => (await import('./backup.js')).addRestoreCommand],
  ['cluster', async () => (await import('./cluster.js')).addClusterCommand],
  ['import', async () => (await import('./importCommand.js')).addImportCommand],
  ['test', async () => (await import('./testCommand.js')).addTestCommand],
  ['gpu', async () => (await import('./gpuRun.js')).addGpuCommand],
  ['completion', async () => (await import('./completion.js')).addCompletionCommand],
  ['record', async () => (await import('./record.js')).addRecordCommand],
  ['evaluate', async () => (await import('./evaluate.js')).addEvaluateCommand],
  ['loadtest', async () => (await import('../../loadtest/load/loadCommand.js')).addLoadtestCommand],
  ['report', async () => (await import('../../loadtest/page/reportCommand.js')).addReportCommand],
  ['replay', async () => (await import('../../loadtest/replay/replayCommand.js')).addReplayCommand],
]);

/** What adds the command that arguments ask for, or all where they ask for none of them, or for a script that completes all. */
export function commandsFor(args: readonly string[]): Promise<AddCommand[]> {
  const [asked = ''] = args;
  const load = asked === 'completion' ? undefined : COMMANDS.get(asked);
  return Promise.all(load === undefined ? [...COMMANDS.values()].map((each) => each()) : [load()]);
}
