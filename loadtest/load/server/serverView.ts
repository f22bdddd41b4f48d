import { z } from 'zod';
import {
  HttpCalls,
  RefusedError,
  UnexpectedAnswerError,
  type ConnectionOptions,
} from '../../../services/client/index.js';
import type { InputForm, InputType } from '../../../containers/protocol/index.js';
import { LoadError } from '../../trace/index.js';
import { readMetrics, type MetricSamples } from './metricsText.js';

const TYPES: Readonly<Record<string, InputType>> = {
  FP64: 'doubles',
  FP32: 'floats',
  INT32: 'integers',
  UINT8: 'bytes',
  BYTES: 'strings',
};

const modelAnswer = z.object({
  inputs: z.array(z.object({ datatype: z.string(), shape: z.array(z.number()) })),
});

/** What a running server tells of itself on its query interface. */
export class ServerView {
  private readonly calls: HttpCalls;

  /** @throws TypeError on an address that is none */
  constructor(url: string, connection: ConnectionOptions, timeoutMs: number) {
    this.calls = new HttpCalls(url, timeoutMs, connection);
  }

  /** Its metrics, or why they are not to be had. @throws ClientError when no server answers, or one that is none of ours */
  async metrics(): Promise<MetricSamples | RefusedError> {
    try {
      const samples = readMetrics(String(await this.calls.call({ method: 'GET', path: '/metrics' })));
      if ([...samples.keys()].some((name) => name.startsWith('windjammer_'))) return samples;
      throw foreign('/metrics');
    } catch (error) {
      if (error instanceof RefusedError) return error;
      throw error;
    }
  }

  /** What an application, or a model, takes; undefined: there is none of this name. @throws ClientError */
  async inputForm(v2Path: string): Promise<InputForm | undefined> {
    let answer: unknown;
    try {
      answer = await this.calls.call({ method: 'GET', path: v2Path });
    } catch (error) {
      if (isUnknown(error)) return undefined;
      throw error;
    }
    const described = modelAnswer.safeParse(answer);
    if (!described.success) throw foreign(v2Path);
    const { inputs } = described.data;
    const [input] = inputs;
    const type = Object.hasOwn(TYPES, input?.datatype ?? '') ? TYPES[input.datatype] : undefined;
    if (type === undefined) {
      throw new LoadError(
        '--app',
        `${v2Path} takes no input that a load can be made of: ${JSON.stringify(inputs)}`,
      );
    }
    const length = input.shape[1] ?? -1;
    return length > 0 ? { type, length } : { type };
  }
}

function foreign(path: string): UnexpectedAnswerError {
  return new UnexpectedAnswerError(
    `what answers ${path} is no query interface of Windjammer; is the address right?`,
  );
}

/** The v2 interface's errors have no code: a status is all there is. */
function isUnknown(error: unknown): boolean {
  return error instanceof Error && / answers 404 /.test(error.message);
}
