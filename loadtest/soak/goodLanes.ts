import { DIALLED, ECHO, SCALE, scaleInput, type Expectations, type SeenAnswer } from './expectations.js';
import type { HttpPeer } from './httpPeer.js';
import type { Lane } from './lanes.js';
import type { Randomness } from './randomness.js';

const BATCH = 8;
const TENSOR_ROWS = 4;
/** v2 has no default outputs: without a replica, with full queues, after a lost container and late. */
const V2_REFUSALS = [502, 503, 504];
/** Queries that ask for what was asked a moment ago. */
const REPEAT_SHARE = 0.2;

/** Inputs with a first element that no other query has, but for those that repeat one. */
export class Tokens {
  private next: number;

  constructor(
    private readonly random: Randomness,
    private readonly first = 1,
  ) {
    this.next = first;
  }

  take(): number {
    if (this.next > this.first + 100 && this.random.share() < REPEAT_SHARE)
      return this.next - this.random.whole(1, 50);
    // float32 holds the double of every one of them exactly.
    if (this.next >= 2 ** 21) this.next = this.first;
    return this.next++;
  }
}

export interface Exchange {
  readonly http: HttpPeer;
  readonly tokens: Tokens;
  readonly random: Randomness;
  readonly expect: Expectations;
}

export function restLane({ http, tokens, random, expect }: Exchange): Lane {
  return {
    name: 'rest',
    queries: 1,
    share: 0.3,
    most: 24,
    async run() {
      const application = random.share() < 0.7 ? ECHO : SCALE;
      const token = tokens.take();
      const input = application === ECHO ? [token, 1, 2] : scaleInput(token);
      const { status, text } = await http.call({
        path: `/${application}/predict`,
        body: JSON.stringify({ input }),
      });
      if (status === 200) {
        expect.prediction('rest', application, token, JSON.parse(text) as SeenAnswer);
      } else expect.refusal('rest', status, [], text);
    },
  };
}

/** Of the model whose containers dial in. */
export function dialledLane({ http, tokens, expect }: Exchange): Lane {
  return {
    name: 'dialled',
    queries: 1,
    share: 0.1,
    most: 8,
    async run() {
      const token = tokens.take();
      const body = JSON.stringify({ input: [token, 6] });
      const { status, text } = await http.call({ path: `/${DIALLED}/predict`, body });
      if (status === 200) expect.prediction('dialled', DIALLED, token, JSON.parse(text) as SeenAnswer);
      else expect.refusal('dialled', status, [], text);
    },
  };
}

export function batchLane({ http, tokens, expect }: Exchange): Lane {
  return {
    name: 'rest batch',
    queries: BATCH,
    share: 0.25,
    most: 6,
    async run() {
      const asked = Array.from({ length: BATCH }, () => tokens.take());
      const body = JSON.stringify({ input_batch: asked.map((token) => [token, 3]) });
      const { status, text } = await http.call({ path: `/${ECHO}/predict`, body });
      if (status !== 200) {
        expect.refusal('rest batch', status, [], text);
        return;
      }
      const { batch_predictions: answers } = JSON.parse(text) as { batch_predictions: SeenAnswer[] };
      asked.forEach((token, at) => expect.prediction('rest batch', ECHO, token, answers[at]));
    },
  };
}

/** @param timeoutUs of a model there is no objective: it takes its time otherwise */
export function tensorLane({ http, tokens, expect }: Exchange, timeoutUs = 0): Lane {
  return {
    name: 'v2',
    queries: TENSOR_ROWS,
    share: 0.1,
    most: 6,
    async run() {
      const asked = Array.from({ length: TENSOR_ROWS }, () => tokens.take());
      const tensor = {
        name: 'input',
        datatype: 'FP64',
        shape: [TENSOR_ROWS, 2],
        data: asked.flatMap((token) => [token, 4]),
      };
      const body = JSON.stringify({ inputs: [tensor], parameters: { timeout: timeoutUs } });
      const { status, text } = await http.call({ path: `/v2/models/${ECHO}/infer`, body });
      if (status !== 200) {
        expect.refusal('v2', status, V2_REFUSALS, text);
        return;
      }
      const { outputs } = JSON.parse(text) as { outputs: { data: string[] }[] };
      asked.forEach((token, at) => expect.output('v2', token, JSON.parse(outputs[0].data[at])));
    },
  };
}
