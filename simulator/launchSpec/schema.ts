import { z } from 'zod';
import { argumentSchema, valueSchema } from './argumentSchema.js';
import { faultFields } from './faultFields.js';
import { LaunchSpecError } from './launchSpecError.js';
import { checked } from './schemaMessages.js';

export type {
  ArraySpec,
  BufferSpec,
  ContentsSpec,
  GenerateSpec,
  LaunchArgument,
  PlacedValue,
  PointerSpec,
  StructField,
  StructSpec,
} from './argumentSchema.js';

const extent = z.int().min(1);
export const dim3 = z.tuple([extent, extent, extent]);

const spec = z.strictObject({
  ptx: z.string().min(1),
  kernel: z.string().min(1),
  device: z.string().min(1),
  grid: dim3,
  block: dim3,
  dynamicSharedBytes: z.int().min(0).default(0),
  cooperative: z.boolean().default(false),
  symbols: z.record(z.string(), valueSchema).default({}),
  args: z.array(argumentSchema),
  ...faultFields,
  expect: z
    .strictObject({
      durationUs: z.number().optional(),
      backToBackUs: z.number().optional(),
      sum: z.number().optional(),
      samples: z.record(z.string().regex(/^\d+$/), z.number()).optional(),
    })
    .optional(),
});

export type LaunchSpec = z.infer<typeof spec>;

/**
 * Checks a parsed JSON value.
 * @throws LaunchSpecError `invalidSpec`, naming the field and what it should be.
 */
export function checkLaunchSpec(value: unknown): LaunchSpec {
  if (typeof value === 'object' && value !== null && 'launches' in value) {
    throw new LaunchSpecError(
      'invalidSpec',
      'launches: only a spec of one launch is taken here; give that launch a spec of its own',
      'launches',
    );
  }
  return checked(spec, value);
}
