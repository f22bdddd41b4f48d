/** A container as Clipper's are, in a process of its own: dials the port that its environment names. */
import { TwinContainer } from '../../containers/runtime/clipper/tests/twinContainer.js';
import { DIALLED, dialledAnswer } from './expectations.js';

const container = new TwinContainer({
  port: Number(process.env.CLIPPER_PORT),
  model: DIALLED,
  version: '1',
  inputType: 'doubles',
  predict: (inputs) => inputs.map((input) => JSON.stringify(dialledAnswer(input.readDoubleLE()))),
});
await container.ended;
process.stderr.write(`${String(container.failure)}\n`);
process.exitCode = 1;
