import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { packageRoot } from '../../containers/models/index.js';
import { addAppCommand } from './app.js';
import { addBatchCommand } from './batch.js';
import { addCompletionCommand } from './completion.js';
import { addDeployCommand } from './deploy.js';
import { addFeedbackCommand } from './feedback.js';
import { addGpuCommand } from './gpuRun.js';
import { addImportCommand } from './importCommand.js';
import { addKeyCommand } from './key.js';
import { addLinkCommand } from './link.js';
import { addModelCommand } from './model.js';
import { addPredictCommand } from './predict.js';
import { addServeCommand } from './serveCommand.js';
import { addTestCommand } from './testCommand.js';

/** The command line. Exit code 0: done; 1: failed, with a message on standard error; 130: stopped by a second signal. */
export function windjammerProgram(): Command {
  const program = new Command('windjammer')
    .description('prediction serving from model containers on a simulated GPU cluster')
    .version(productVersion())
    // A subcommand may have a --version of its own.
    .enablePositionalOptions()
    .showHelpAfterError('(--help shows what there is)');
  addServeCommand(program);
  addPredictCommand(program);
  addFeedbackCommand(program);
  addBatchCommand(program);
  addDeployCommand(program);
  addAppCommand(program);
  addModelCommand(program);
  addLinkCommand(program);
  addKeyCommand(program);
  addImportCommand(program);
  addTestCommand(program);
  addGpuCommand(program);
  addCompletionCommand(program);
  return program;
}

function productVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}
