import { spawn } from 'node:child_process';
import { commandFile } from '../../../services/cli/index.js';
import { startWindjammer, type ProductProcess } from '../../bench/serverProcess.js';
import { readResult, type RunResult } from '../../result/index.js';
import { APPLICATION, OBJECTIVE_MS, type Subject } from './subjects.js';
import type { AgreementTrace } from './traces.js';

export interface AskedRun {
  readonly subject: Subject;
  readonly trace: AgreementTrace;
  readonly seconds: number;
  readonly seed: number;
  readonly answersFile: string;
}

/** What has not run yet is slow: the first thousand queries take up to ten times as long. */
const WARM_UP_SECONDS = 10;

/** A load test of a server that has answered others for some seconds: what it has not run yet is slow. */
export async function liveRun({ subject, trace, seconds, seed, answersFile }: AskedRun): Promise<RunResult> {
  const server = await startWindjammer(commandFile(), APPLICATION);
  try {
    await register(server, subject);
    const { origin } = new URL(server.url);
    return await loadtest([
      ...['--url', origin, '--app', APPLICATION, '--trace', trace.spec, '--scale', String(trace.scale)],
      ...[
        '--duration',
        String(seconds),
        '--warm-up',
        String(WARM_UP_SECONDS),
        '--seed',
        String(seed),
        '--save-answers',
        answersFile,
      ],
    ]);
  } finally {
    await server.stop();
  }
}

async function register(server: ProductProcess, { model, inputType, timed }: Subject): Promise<void> {
  await server.admin('add_app', {
    name: APPLICATION,
    input_type: inputType,
    default_output: '-1',
    latency_slo_micros: OBJECTIVE_MS * 1000,
  });
  if (timed !== undefined) {
    await server.admin('add_model', {
      model_name: model,
      model_version: '1',
      input_type: inputType,
      container_name: 'windjammer/process',
      model_data_path: timed.path,
    });
  }
  await server.admin('add_model_links', { app_name: APPLICATION, model_names: [model] });
  const { origin } = new URL(server.url);
  for (let attempt = 0; attempt < 400; attempt++) {
    const { status } = await fetch(`${origin}/v2/models/${model}/ready`);
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${model} did not start in 20 s`);
}

/** What it prints counts, also where it has ended early: the table says so. */
function loadtest(args: readonly string[]): Promise<RunResult> {
  const child = spawn(process.execPath, [commandFile(), 'loadtest', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => (output += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (errors += piece.toString()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => {
      if (output === '') reject(new Error(`the load test failed: ${errors}`));
      else resolve(readResult(output));
    });
  });
}
