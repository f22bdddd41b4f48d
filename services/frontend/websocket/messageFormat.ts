import { ERROR_CATALOGUE, errorJson } from '../../errors/index.js';
import type { Answer, FeedbackOutcome } from '../../prediction/index.js';
import {
  encodeError,
  encodeFeedbackAnswer,
  predictionFrameBytes,
  writePrediction,
  type WireError,
} from '../../wire/index.js';
import { outputJson, predictionJson } from '../answers.js';
import { Opcode, type FrameWriter } from './frameWriter.js';

/** How answers to a message are written: as the message itself was. */
export interface MessageFormat {
  prediction(frames: FrameWriter, id: number, answer: Answer): void;
  feedback(frames: FrameWriter, id: number, outcome: FeedbackOutcome): void;
  /** @param id undefined: the message had none that could be read. */
  error(frames: FrameWriter, id: number | undefined, error: WireError): void;
}

export const JSON_FORMAT: MessageFormat = {
  prediction: (frames, id, answer) =>
    frames.text(`{"type":"prediction","id":${id},${predictionJson(answer).slice(1)}`),
  feedback: (frames, id, { joined, durable }) =>
    frames.text(`{"type":"feedback","id":${id},"accepted":true,"joined":"${joined}","durable":${durable}}`),
  error: (frames, id, { code, message, field, retryAfterMs }) => {
    const { status } = ERROR_CATALOGUE[code];
    const head = `{"type":"error","id":${id ?? null},"status":${status},`;
    frames.text(head + errorJson(code, message, field, retryAfterMs).slice(1));
  },
};

export const BINARY_FORMAT: MessageFormat = {
  prediction: (frames, id, answer) => {
    const output = outputJson(answer.output);
    const outputBytes = Buffer.byteLength(output);
    const at = frames.begin(Opcode.binary, predictionFrameBytes(answer, outputBytes));
    writePrediction(frames.target, at, id, answer, output, outputBytes);
  },
  feedback: (frames, id, outcome) => frames.binary(encodeFeedbackAnswer(id, outcome)),
  // A frame whose id cannot be read ends the connection: 0 is never seen.
  error: (frames, id, error) => frames.binary(encodeError(id ?? 0, error)),
};
