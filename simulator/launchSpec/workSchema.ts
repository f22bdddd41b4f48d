import { z } from 'zod';
import { LAUNCH_CLASSES } from '../scheduling/index.js';
import { argumentSchema, buffer, contents, name, valueSchema } from './argumentSchema.js';
import { faultFields } from './faultFields.js';
import { LaunchSpecError } from './launchSpecError.js';
import { clusterFields, device, dim3, onCard, reported } from './schema.js';
import { checked } from './schemaMessages.js';

const bytes = z.int().min(0);
/** How much launches may be made to wait by others, under a scheduling policy that asks. */
const launchClass = z.enum(LAUNCH_CLASSES).optional();
const expectedBuffer = z.strictObject({
  sum: reported.optional(),
  samples: z.record(z.string().regex(/^\d+$/), reported).optional(),
});

const work = z.strictObject({
  ptx: z.string().min(1).optional(),
  device,
  contextSharing: z.enum(['shared', 'timeSliced']).default('shared'),
  contexts: z
    .record(
      name,
      z.strictObject({
        activeThreadPercentage: z.number().gt(0).max(100).optional(),
        timeSliceUs: z.number().min(100).max(1e6).optional(),
        launchClass,
      }),
    )
    .default({}),
  streams: z
    .record(
      name,
      z.strictObject({
        priority: z.int().default(0),
        launchClass,
        context: name.optional(),
      }),
    )
    .default({}),
  buffers: z.record(name, z.looseObject({ context: name.optional() })).default({}),
  symbols: z.record(z.string(), valueSchema).default({}),
  launches: z.array(z.record(z.string(), z.unknown())).min(1),
  ...faultFields,
  expect: z
    .strictObject({
      makespanUs: z.number().optional(),
      buffers: z.record(z.string(), expectedBuffer).default({}),
    })
    .default({ buffers: {} }),
});

const common = {
  name: name.optional(),
  /** Host time between this submission and the one before. */
  afterUs: z.number().min(0).max(1e9).default(0),
};
const inStream = { ...common, stream: name.optional() };

const launch = z.strictObject({
  ...inStream,
  kernel: z.string().min(1),
  ptx: z.string().min(1).optional(),
  grid: dim3,
  block: dim3,
  dynamicSharedBytes: z.int().min(0).default(0),
  cooperative: z.boolean().default(false),
  ...clusterFields,
  launchClass,
  args: z.array(argumentSchema),
});

const copyToDevice = z.strictObject({
  ...inStream,
  copyToDevice: z.strictObject({
    to: name,
    offsetBytes: bytes.default(0),
    contents: contents.optional(),
    pageable: z.boolean().default(false),
  }),
});

const copyToHost = z.strictObject({
  ...inStream,
  copyToHost: z.strictObject({
    from: name,
    offsetBytes: bytes.default(0),
    bytes: bytes.optional(),
    pageable: z.boolean().default(false),
  }),
});

const copy = z.strictObject({
  ...inStream,
  copy: z.strictObject({
    from: name,
    to: name,
    fromOffsetBytes: bytes.default(0),
    toOffsetBytes: bytes.default(0),
    bytes: bytes.optional(),
  }),
});

const memset = z.strictObject({
  ...inStream,
  memset: z.strictObject({
    to: name,
    value: z.int().min(0).max(255),
    offsetBytes: bytes.default(0),
    bytes: bytes.optional(),
  }),
});

const record = z.strictObject({ ...inStream, record: name });
const wait = z.strictObject({ ...inStream, wait: name });
const synchronize = z.strictObject({ ...common, synchronize: z.literal(true) });

/** By the field that says what an entry is. */
const ENTRY_SCHEMAS = {
  kernel: launch,
  copyToDevice,
  copyToHost,
  copy,
  memset,
  record,
  wait,
  synchronize,
} as const;

type EntryField = keyof typeof ENTRY_SCHEMAS;
const ENTRY_FIELDS = Object.keys(ENTRY_SCHEMAS) as EntryField[];

export type WorkEntry = { [F in EntryField]: z.infer<(typeof ENTRY_SCHEMAS)[F]> }[EntryField];
export type LaunchEntry = z.infer<typeof launch>;
export type CopyEntry = Extract<
  WorkEntry,
  { copyToDevice: unknown } | { copyToHost: unknown } | { copy: unknown } | { memset: unknown }
>;

export interface WorkBuffer {
  readonly spec: z.infer<typeof buffer>;
  readonly context?: string | undefined;
}

/** A spec of several launches, on streams, with copies and events between them. */
export type WorkSpec = Omit<z.infer<typeof work>, 'launches' | 'buffers'> & {
  readonly launches: readonly WorkEntry[];
  readonly buffers: Readonly<Record<string, WorkBuffer>>;
};

/** Whether a parsed JSON value means to be a spec of several launches. */
export function isWorkSpec(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'launches' in value;
}

/**
 * Checks a parsed JSON value.
 * @throws LaunchSpecError `invalidSpec`, naming the entry and the field and what it should be
 */
export function checkWorkSpec(value: unknown, card?: string): WorkSpec {
  const { launches, buffers, ...rest } = checked(work, onCard(value, card));
  return {
    ...rest,
    launches: launches.map((entry, index) => checkEntry(entry, `launches[${index}]`)),
    buffers: Object.fromEntries(
      Object.entries(buffers).map(([own, { context, ...fields }]) => {
        const path = `buffers.${own}`;
        if ('name' in fields) throw invalid(`${path}.name`, 'its key is its name; leave it out');
        return [own, { spec: { ...checked(buffer, fields, path), name: own }, context }];
      }),
    ),
  };
}

function checkEntry(entry: Readonly<Record<string, unknown>>, path: string): WorkEntry {
  const fields = ENTRY_FIELDS.filter((field) => field in entry);
  const [field] = fields;
  if (field === undefined) {
    throw invalid(path, `says not what it is; give one of ${ENTRY_FIELDS.join(', ')}`);
  }
  if (fields.length > 1) throw invalid(path, `give only one of ${fields.join(', ')}`);
  return checked<WorkEntry>(ENTRY_SCHEMAS[field], entry, path);
}

export function invalid(field: string, message: string): LaunchSpecError {
  return new LaunchSpecError('invalidSpec', `${field}: ${message}`, field);
}
