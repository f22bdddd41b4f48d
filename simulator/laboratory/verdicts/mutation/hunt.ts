import type { IrFunction, IrModule } from '../../../ptx/index.js';
import { lowerModule } from '../../../ptx/index.js';
import {
  bodyModule,
  evaluate,
  type BodyLabels,
  type Contradiction,
  type CorpusBody,
  type InstanceVerdict,
} from '../corpus/index.js';
import type { PlacedInstance } from '../oracles/index.js';
import type { KernelSummary } from '../../../idempotency/index.js';
import type { Mutation } from './mutations.js';

/** What makes verdicts of summaries: the validator that is put to the test. */
export interface MutableValidator {
  readonly analyze: (ir: IrModule, entry: string) => KernelSummary;
  readonly validator: (summary: KernelSummary) => (placed: PlacedInstance) => InstanceVerdict;
}

export interface Hunted {
  readonly mutation: string;
  /** What contradicted the mistaken validator first; undefined when nothing did. */
  readonly caught?: Contradiction;
  /** Bodies whose summary the mistake changed, among those that were looked at. */
  readonly bodies: number;
  readonly launches: number;
}

export interface HuntOptions {
  /** Launches of each body. */
  readonly launches?: number;
  readonly kills?: number;
}

/** Holds a validator with each mistake to the oracles until they contradict it. */
export function hunt(
  mutations: readonly Mutation[],
  { analyze, validator }: MutableValidator,
  bodies: readonly { readonly body: CorpusBody; readonly truth: BodyLabels }[],
  options: HuntOptions = {},
): Hunted[] {
  const { launches = 20, kills = 4 } = options;
  const summaries = new Map<string, { summary: KernelSummary; kernel: IrFunction }>();
  const summaryOf = (ir: IrModule, entry: string) => {
    const key = `${ir.file} ${entry}`;
    const known = summaries.get(key);
    if (known !== undefined) return known;
    const kernel = lowerModule(ir).functions.find(({ isEntry, name }) => isEntry && name === entry);
    if (kernel === undefined) throw new RangeError(`${ir.file} has no entry ${entry}`);
    const made = { summary: analyze(ir, entry), kernel };
    summaries.set(key, made);
    return made;
  };
  return mutations.map(({ name, apply }): Hunted => {
    const found = { bodies: 0, launches: 0 };
    for (const labelled of bodies) {
      let isChanged = false;
      const validation = (ir: IrModule, entry: string) => {
        const { summary, kernel } = summaryOf(ir, entry);
        const mistaken = apply(summary, kernel);
        isChanged = mistaken !== summary;
        // A validator that is as it was has nothing to show.
        return isChanged ? validator(mistaken) : () => ({ idempotent: false });
      };
      validation(bodyModule(labelled.body), labelled.body.manifest.entry);
      if (!isChanged) continue;
      found.bodies++;
      const { contradictions, instances } = evaluate(validation, [labelled], {
        kills,
        most: launches,
        stopEarly: true,
      });
      found.launches += instances;
      const [caught] = contradictions;
      if (caught !== undefined) return { mutation: name, caught, ...found };
    }
    return { mutation: name, ...found };
  });
}
