import { createHash } from 'node:crypto';
import { drawInstance, type CorpusInstance } from '../corpus/instanceGenerator.js';
import { pick } from '../corpus/manifest.js';
import type { Plan } from '../corpus/placement.js';
import type { IrModule } from '../../../ptx/index.js';
import type { GivenSizes, HeldOutKernel } from './heldOutKernel.js';

/** A launch to be made of each body of a kernel. */
export interface HeldOutLaunch {
  readonly sizes: GivenSizes;
  readonly plan: Plan;
  /** Which of the kernel's launches, from 0. */
  readonly index: number;
}

/** How buffers lie in launches of the first sizes; plans that draw a pair of buffers come twice. */
const ALL_PLANS: readonly Plan[] = [
  ...(['distinct', 'pooled', 'pooled', 'adjacent', 'adjacent', 'halves', 'halves'] as const),
  ...(['equal', 'equal', 'overlapping', 'overlapping', 'interior'] as const),
];
const FEW_PLANS: readonly Plan[] = ['distinct', 'adjacent'];

export function launchesOf({ sizes }: HeldOutKernel): readonly HeldOutLaunch[] {
  return sizes
    .flatMap((given, at) => (at === 0 ? ALL_PLANS : FEW_PLANS).map((plan) => ({ sizes: given, plan })))
    .map((launch, index) => ({ ...launch, index }));
}

/** The launch with its buffers and what they hold, the same at every call. */
export function heldOutInstance(kernel: HeldOutKernel, ir: IrModule, launch: HeldOutLaunch): CorpusInstance {
  const sizes = Object.fromEntries(Object.entries(launch.sizes).map(([name, size]) => [name, pick(size)]));
  const seed = createHash('sha256').update(`${kernel.entry} ${launch.index}`).digest().readInt32LE(0);
  return drawInstance({ ...kernel, family: 'adversarial', sizes }, ir, seed, launch.plan);
}

/** The truth about a launch of a kernel that does not run here (tensor cores) and writes one buffer: whether it meets another. */
export function labelByPlan({ plan }: HeldOutLaunch): 'i' | 'n' {
  return plan === 'equal' || plan === 'overlapping' || plan === 'interior' ? 'n' : 'i';
}
