import { z } from 'zod';
import type { GpuNode, GpuNodeOptions } from '../cluster/index.js';
import { FAULT_KINDS, RECOVERY_SCHEMES, SAVE_PLACES } from '../faults/index.js';
import { LATEST_PART } from '../gpu/index.js';

const count = z.int().min(0);

/** Fields of a spec that say which launches are struck by transient faults, and what is done about it. */
export const faultFields = {
  faults: z
    .strictObject({
      seed: z.int().optional(),
      rate: z.number().min(0).max(1).optional(),
      kind: z.enum(FAULT_KINDS).optional(),
      at: z
        .array(
          z.strictObject({
            launch: count,
            block: count.optional(),
            part: z.number().min(0).max(LATEST_PART).optional(),
          }),
        )
        .optional(),
    })
    .optional(),
  recovery: z.enum(RECOVERY_SCHEMES).optional(),
  saveTo: z.enum(SAVE_PLACES).optional(),
};

type FaultFields = z.infer<z.ZodObject<typeof faultFields>>;
type FaultOptions = Pick<GpuNodeOptions, 'faults' | 'recovery' | 'saveTo'>;

/** What the spec says, but for what the options say in its place. */
export function faultOptions(spec: FaultFields, options: FaultOptions = {}): FaultOptions {
  const faults = options.faults ?? spec.faults;
  const recovery = options.recovery ?? spec.recovery;
  const saveTo = options.saveTo ?? spec.saveTo;
  return {
    ...(faults === undefined ? {} : { faults }),
    ...(recovery === undefined ? {} : { recovery }),
    ...(saveTo === undefined ? {} : { saveTo }),
  };
}

/** What came of faults. Simulated times in microseconds. */
export interface FaultReport {
  readonly injected: number;
  readonly reexecuted: number;
  readonly restored: number;
  readonly savedLaunches: number;
  readonly savedBytes: number;
  readonly savingUs: number;
  readonly recoveryUs: number;
  /** Launches that a fault would have ended, under a scheme that recovers. */
  readonly unprotected: number;
}

/** Undefined where no faults strike and none are recovered from. */
export function faultReport(node: GpuNode): FaultReport | undefined {
  const { faults } = node.reading(0);
  if (faults === undefined) return undefined;
  const { injected, reexecuted, restored, savedLaunches, savedBytes, saveNs, recoveryNs, unprotected } =
    faults;
  return {
    injected,
    reexecuted,
    restored,
    savedLaunches,
    savedBytes,
    savingUs: Math.round(saveNs) / 1000,
    recoveryUs: Math.round(recoveryNs) / 1000,
    unprotected,
  };
}
