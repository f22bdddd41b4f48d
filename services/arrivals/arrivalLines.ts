import { createHmac, randomBytes } from 'node:crypto';
import { inputValue, type InputType } from '../../containers/protocol/index.js';
import type { LoggedFeedback } from '../../selection/index.js';
import type { Query } from '../prediction/index.js';

/** Of a hash that tells inputs apart. */
const HASH_BYTES = 8;

/** Arrivals as lines of a trace, with the names that `replay` and `loadtest` read. */
export class ArrivalLines {
  /** Of this recording: whoever reads it cannot try which inputs the hashes are of. */
  private readonly secret = randomBytes(32);

  constructor(
    private readonly startNs: number,
    private readonly withInputs: boolean,
    private readonly inputType: (application: string) => InputType | undefined,
  ) {}

  of(atNs: number, { application, context, features, input }: Query): string {
    const time_us = Math.round((atNs - this.startNs) / 1000);
    const said = context === '' ? {} : { context };
    // They say as much of people as inputs do.
    const known = this.withInputs && features !== undefined ? { features } : {};
    return `${JSON.stringify({ time_us, application, ...said, ...known, ...this.inputOf(application, input) })}\n`;
  }

  /** With the names that `evaluate` reads. */
  ofFeedback(atNs: number, { context, ...judged }: LoggedFeedback): string {
    const time_us = Math.round((atNs - this.startNs) / 1000);
    const said = context === '' ? {} : { context };
    return `${JSON.stringify({ time_us, ...said, ...judged })}\n`;
  }

  private inputOf(application: string, input: Uint8Array): { input?: unknown; input_hash?: string } {
    const type = this.withInputs ? this.inputType(application) : undefined;
    if (type === undefined) {
      const hash = createHmac('sha256', this.secret).update(input).digest('hex');
      return { input_hash: hash.slice(0, HASH_BYTES * 2) };
    }
    const value = inputValue(type, input);
    if (typeof value === 'string') return { input: value };
    return { input: value instanceof Uint8Array ? Buffer.from(value).toString('base64') : Array.from(value) };
  }
}
