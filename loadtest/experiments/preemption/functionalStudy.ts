import type { DeviceProfile, PreemptionTotals } from '../../../simulator/gpu/index.js';
import { decoder, type DecoderSize } from '../faults/decoder.js';
import { ModelRun } from '../faults/modelRun.js';
import { Interruptions } from './interruptions.js';

export interface FunctionalSettings {
  readonly size: DecoderSize;
  readonly requests: number;
  /** Mean distance of critical launches. */
  readonly gapNs: number;
  readonly seed: number;
}

export interface FunctionalResult {
  readonly policy: string;
  readonly requests: number;
  readonly launches: number;
  readonly urgent: number;
  /** Requests of which at least one launch was taken off the SMs. */
  readonly preempted: number;
  /** Of those, the ones after which all of the model's memory was byte for byte what it is undisturbed; and of the others. */
  readonly identical: number;
  readonly undisturbedIdentical: number;
  readonly totals: PreemptionTotals;
}

const THREADS = 64;

/**
 * Requests to a decoder in the manner of GPT-2, whose kernels run: best effort, one after another, beside critical launches that
 * need the whole card and come at random. After each request all of the model's memory is compared with that of a run alone.
 */
export function functionalStudy(
  card: DeviceProfile,
  policy: string,
  { size, requests, gapNs, seed }: FunctionalSettings,
): FunctionalResult {
  const model = decoder(size);
  const alone = new ModelRun(model, { gpus: [card] });
  alone.pass();
  const expected = alone.memory();
  alone.close();
  const run = new ModelRun(
    model,
    { gpus: [card], scheduling: policy },
    { gpu: 0, launchClass: 'bestEffort' },
  );
  const ptx = model.modules.get('networks');
  if (ptx === undefined) throw new Error('the decoder has no kernels');
  const blocks = (card.sms * card.limits.threadsPerSm) / THREADS;
  const urgent = new Interruptions(run.node, run.clock, { ptx, blocks, threads: THREADS }, gapNs, seed);
  urgent.begin();
  let [preempted, identical, undisturbedIdentical] = [0, 0, 0];
  for (let request = 0; request < requests; request++) {
    const before = preemptions(run);
    run.pass();
    const isPreempted = preemptions(run) > before;
    const isSame = Buffer.compare(run.memory(), expected) === 0;
    if (isPreempted) preempted += 1;
    if (isSame && isPreempted) identical += 1;
    if (isSame && !isPreempted) undisturbedIdentical += 1;
  }
  urgent.end();
  const { preemptions: totals } = run.node.reading(0);
  run.close();
  return {
    policy,
    requests,
    launches: requests * model.launches.length,
    urgent: urgent.ended,
    preempted,
    identical,
    undisturbedIdentical,
    totals,
  };
}

function preemptions({ node }: ModelRun): number {
  const { kills, saves, drains } = node.reading(0).preemptions;
  return kills + saves + drains;
}
