import { VirtualNode } from '../../../containers/runtime/testing/index.js';
import { builtInModelPath, digitAt, loadDigits } from '../../../containers/models/index.js';
import type { ContainerFrame } from '../../../containers/protocol/index.js';
import { VirtualClock } from '../../../simulator/time/index.js';
import { distribution, type Distribution } from './statistics.js';
import { timed } from './stopwatch.js';

const MODEL = 'digits-mlp';
const BATCH = 32;
const WARM_UP_BATCHES = 60;
const BATCHES = 60;

/** Host time of a batch of 32 digits in the MLP's container, from its frame to its answer, in milliseconds. */
export function digitsRow(): Distribution {
  const clock = new VirtualClock();
  const node = new VirtualNode({ clock });
  const identity = { model: MODEL, version: '1', replica: '0' };
  const channel = node.start({ ...identity, inputType: 'floats', path: builtInModelPath(MODEL) });
  const frames: ContainerFrame[] = [];
  channel.open({ onFrame: (frame) => void frames.push(frame) });
  clock.run();
  const [hello] = frames;
  if (hello?.kind !== 'hello')
    throw new Error(`${MODEL} does not start: ${hello?.kind === 'down' ? hello.reason : 'no frame'}`);
  const { heldOut } = loadDigits();
  let batchId = 0;
  const batch = (): number => {
    const first = BATCH * batchId++;
    const items = Array.from({ length: BATCH }, (_, id) => {
      const pixels = Float32Array.from(digitAt(heldOut, (first + id) % heldOut.count));
      return { id, bytes: new Uint8Array(pixels.buffer), budgetNs: 1e9 };
    });
    frames.length = 0;
    const { timing } = timed(() => {
      channel.send({ kind: 'predict', batchId, items });
      clock.run();
    });
    const [answer] = frames;
    if (answer?.kind !== 'result' || answer.results.some(({ ok }) => !ok))
      throw new Error(`${MODEL} gave no answer to a batch: ${JSON.stringify(answer)}`);
    return timing.cpuMs;
  };
  for (let run = 0; run < WARM_UP_BATCHES; run++) batch();
  const times = Array.from({ length: BATCHES }, batch);
  node.close(() => undefined);
  return distribution(times);
}
