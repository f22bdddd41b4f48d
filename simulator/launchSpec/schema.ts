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

/** Of a launch: blocks of a cluster, and whether it may have more than every card can run. */
export const clusterFields = { cluster: dim3.optional(), nonPortableCluster: z.boolean().default(false) };

/** A card: its name, or a file of one. */
export const device = z
  .string({
    error: ({ input }) =>
      input === undefined ? 'is missing; expected a card, such as "h200", here or by --device' : undefined,
  })
  .min(1);

/** As results tell it. */
export const reported = z.union([z.number(), z.string().regex(/^(-?\d+|NaN|-?Infinity)$/)]);

const spec = z.strictObject({
  ptx: z.string().min(1),
  kernel: z.string().min(1),
  device,
  grid: dim3,
  block: dim3,
  dynamicSharedBytes: z.int().min(0).default(0),
  cooperative: z.boolean().default(false),
  ...clusterFields,
  symbols: z.record(z.string(), valueSchema).default({}),
  args: z.array(argumentSchema),
  ...faultFields,
  expect: z
    .strictObject({
      durationUs: z.number().optional(),
      backToBackUs: z.number().optional(),
      sum: reported.optional(),
      samples: z.record(z.string().regex(/^\d+$/), reported).optional(),
    })
    .optional(),
});

export type LaunchSpec = z.infer<typeof spec>;

/**
 * Checks a parsed JSON value.
 * @param card in place of the spec's, which may then name none
 * @throws LaunchSpecError `invalidSpec`, naming the field and what it should be.
 */
export function checkLaunchSpec(value: unknown, card?: string): LaunchSpec {
  if (typeof value === 'object' && value !== null && 'launches' in value) {
    throw new LaunchSpecError(
      'invalidSpec',
      'launches: only a spec of one launch is taken here; give that launch a spec of its own',
      'launches',
    );
  }
  return checked(spec, onCard(value, card));
}

/** What an option says of the card stands before what the spec says. */
export function onCard(value: unknown, card: string | undefined): unknown {
  if (card === undefined || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return { ...value, device: card };
}
