import { z } from 'zod';
import { reasonOf } from '../../text/index.js';
import { DEVICE_RESOURCES, SM_RESOURCES, type BlockWork, type KernelProfile } from '../timing/index.js';
import { CostError } from './costError.js';

export const COSTS_FORMAT = 'windjammer-costs';
export const COSTS_VERSION = 1;

/** More takes years at any rate, and the clock has no room for it. */
const MOST_AMOUNT = 1e18;

const amount = z.number().min(0).max(MOST_AMOUNT);
const count = z.int().min(1);
const dim3 = z.tuple([count, count, count]);

/** What documents of this version may lack: it was told apart later. */
const LATER: ReadonlySet<string> = new Set(['dramRows', 'pages']);

function amountsOf(names: readonly string[]) {
  return z.strictObject(
    Object.fromEntries(names.map((name) => [name, LATER.has(name) ? amount.default(0) : amount])),
  );
}

// A field that either of the two types gains has to be named here.
const work = z.strictObject({
  sm: amountsOf(SM_RESOURCES),
  device: amountsOf(DEVICE_RESOURCES),
  chainCycles: amount,
  chainFixedNs: amount,
  warps: count,
  startsTogether: z.boolean().optional(),
  isLoose: z.boolean().optional(),
  rounds: z.number().optional(),
} satisfies Record<keyof BlockWork, z.ZodType>);

const extent = z.strictObject({ perBlockBytes: amount, commonBytes: amount, spanBytes: amount });

const traced = { work, chainDramCycles: amount, warpInstructions: amount };

const profile = z.strictObject({
  ...traced,
  isTold: z.boolean().optional(),
  others: z.array(z.strictObject({ ...traced, length: amount })).optional(),
  tracedBlocks: count,
  l2TrafficBytes: amount,
  segments: z.array(
    z.strictObject({
      parameter: z.int().min(-1),
      segment: z.int().min(-1),
      read: extent,
      written: extent,
      touched: extent,
      rows: z.strictObject({ perReadByte: amount, perWrittenByte: amount, storedBytes: amount }).optional(),
      scattered: z
        .strictObject({
          sectorBytes: amount,
          dramBytes: amount,
          partialBytes: amount.optional(),
          farShare: z.number().min(0).max(1).optional(),
        })
        .optional(),
    }),
  ),
} satisfies Record<keyof KernelProfile, z.ZodType>);

/** Causes of a refusal as PICKER (EuroSys'26) codes them; `untold`: nobody said anything. */
export const VERDICT_CAUSES = ['IF', 'PE', 'NA', 'NC', 'RO', 'MO', 'SO', 'untold'] as const;

/** Whether its launches may be killed and run again. */
const verdict = z
  .strictObject({
    idempotent: z.boolean(),
    /** `kernel`: every launch of it is, whatever its arguments; `launch`: these are. */
    of: z.enum(['kernel', 'launch']),
    cause: z.enum(VERDICT_CAUSES).optional(),
  })
  .refine(({ idempotent, cause }) => !idempotent || cause === undefined, {
    path: ['cause'],
    message: 'tells why a launch is not idempotent, and this one is',
  });

const variant = z
  .strictObject({
    grid: dim3,
    /** Argument bytes in hexadecimal, with pointers into buffers as zeros. */
    scalars: z.string().regex(/^([0-9a-f]{2})*$/, 'is not a string of hexadecimal bytes'),
    /** Runs of neighbouring blocks: how many, and warp and thread instructions of each. */
    blocks: z.array(z.tuple([count, amount, amount])).min(1),
    profile: profile.optional(),
    work: work.optional(),
    /** Beside `work` only: launches of kernels that have code are looked at. */
    verdict: verdict.optional(),
    /** Beside `work` only: of a block, what is copied out of its SM when it is preempted; without it all that it takes there. */
    contextBytes: amount.optional(),
  })
  .refine((each) => (each.profile === undefined) !== (each.work === undefined), {
    message: "has either 'profile' or 'work'",
  })
  .refine((each) => each.work !== undefined || (each.verdict ?? each.contextBytes) === undefined, {
    message: "has 'verdict' and 'contextBytes' beside 'work' only; code tells both",
  })
  .refine(
    (each) => sum(each.blocks.map(([blocks]) => blocks)) === each.grid[0] * each.grid[1] * each.grid[2],
    {
      path: ['blocks'],
      message: 'tells of another number of blocks than the grid has',
    },
  );

const kernel = z.strictObject({
  /** SHA-256 of the module's file name and text. */
  module: z.string().regex(/^[0-9a-f]{64}$/, 'is not a SHA-256 in hexadecimal'),
  file: z.string(),
  kernel: z.string().min(1),
  block: dim3,
  dynamicSharedBytes: z.int().min(0),
  /** As the launch check estimated them; they tell, and bind nothing. */
  registers: z.int().min(0),
  sharedBytes: z.int().min(0),
  variants: z.array(variant).min(1),
});

const document = z.strictObject({
  format: z.literal(COSTS_FORMAT),
  version: z.literal(COSTS_VERSION),
  /** The card that it was recorded on. */
  device: z.string().min(1),
  kernels: z.array(kernel),
});

/** What launches of kernels cost, as JSON. */
export type CostDocument = z.infer<typeof document>;
export type KernelCosts = CostDocument['kernels'][number];
export type CostVariant = KernelCosts['variants'][number];

/** @throws CostError `invalidCosts`, naming the field and what it should be. */
export function checkCosts(value: unknown): CostDocument {
  const result = document.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue.path.reduce<string>(
    (path, step) =>
      typeof step === 'number' ? `${path}[${step}]` : path === '' ? String(step) : `${path}.${String(step)}`,
    '',
  );
  throw new CostError('invalidCosts', `${field === '' ? 'cost profile' : field}: ${issue.message}`, field);
}

/** @param text of a file @param name its name, for errors. @throws CostError `invalidCosts` */
export function parseCosts(text: string, name: string): CostDocument {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CostError('invalidCosts', `${name}: not JSON: ${reasonOf(error)}`);
  }
  try {
    return checkCosts(value);
  } catch (error) {
    if (!(error instanceof CostError)) throw error;
    throw new CostError(error.code, `${name}: ${error.message}`, error.field);
  }
}

export function writtenWork({ sm, device, ...others }: BlockWork): z.infer<typeof work> {
  return {
    sm: Object.fromEntries(SM_RESOURCES.map((name, index) => [name, sm[index]])),
    device: Object.fromEntries(DEVICE_RESOURCES.map((name, index) => [name, device[index]])),
    ...others,
  };
}

export function readWork({ sm, device, ...others }: z.infer<typeof work>): BlockWork {
  return {
    sm: SM_RESOURCES.map((name) => sm[name]),
    device: DEVICE_RESOURCES.map((name) => device[name]),
    ...others,
  };
}

export function writtenProfile(of: KernelProfile): z.infer<typeof profile> {
  return {
    ...of,
    work: writtenWork(of.work),
    others: of.others?.map((other) => ({ ...other, work: writtenWork(other.work) })),
    segments: of.segments.map((segment) => ({ ...segment })),
  };
}

export function readProfile(written: z.infer<typeof profile>): KernelProfile {
  return {
    ...written,
    work: readWork(written.work),
    others: written.others?.map((other) => ({ ...other, work: readWork(other.work) })),
  };
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, each) => total + each, 0);
}
