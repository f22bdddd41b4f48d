import { z } from 'zod';
import type { ArrivalRecorder } from '../arrivals/index.js';
import { StreamedText, verb, type AdminVerb } from './verb.js';

export interface ArrivalSources {
  readonly arrivals: Pick<ArrivalRecorder, 'record'>;
}

/** A day. */
const LONGEST_RECORDING_S = 86_400;

export const recordingSchema = z.strictObject({
  seconds: z
    .number()
    .min(0.01)
    .max(LONGEST_RECORDING_S)
    .default(60)
    .describe('For so long, or until the client leaves'),
  inputs: z.boolean().default(false).describe('Inputs as they are, in place of a hash of each'),
  feedback: z
    .boolean()
    .default(false)
    .describe('Judged queries in place of arrivals: features, propensity and losses, for evaluate'),
  application: z.string().min(1).max(256).optional().describe('Only its queries; all of them when left out'),
});

export type RecordingFields = z.input<typeof recordingSchema>;

/** What comes in, written down. */
export function arrivalVerbs({ arrivals }: ArrivalSources): AdminVerb[] {
  return [
    verb('record_arrivals', {
      summary:
        'Write down when queries come, as lines of JSON that replay and loadtest read; the last one says how many there were, and how many a slow reader has missed',
      request: recordingSchema,
      answer: z.string(),
      errors: ['recording'],
      changes: 'nothing',
      run: ({ seconds, inputs, feedback, application }, gone) =>
        new StreamedText(
          'application/jsonl',
          begun(arrivals.record({ seconds, withInputs: inputs, ofFeedback: feedback, application, gone })),
        ),
    }),
  ];
}

/** Whoever reads along hears at once that it has begun, though nobody asks anything yet. */
async function* begun(lines: AsyncGenerator<string, void>): AsyncGenerator<string, void> {
  yield '\n';
  yield* lines;
}
