import type { LoadedModule } from '../executor/index.js';
import { CostError, scalarsOf, uniformWork, type CostLibrary, type LaunchRequest } from '../gpu/index.js';
import { entryNamed } from './launchCheck.js';
import { Refusal } from './refusal.js';

/** The launch with what it costs. @throws Refusal when nothing tells, naming the kernel and what was recorded of it */
export function withCost(
  request: LaunchRequest,
  module: LoadedModule,
  /** SHA-256 of the module's text. */
  identity: string,
  costs: CostLibrary,
): LaunchRequest {
  const { shape, params } = request;
  const kernel = entryNamed(module, request.kernel);
  if (kernel === undefined) throw new Refusal('notFound', `kernel: no entry '${request.kernel}'`);
  const scalars = (): string => scalarsOf({ module, kernel, shape, params });
  try {
    const cost = costs.find({ module: identity, kernel: kernel.name, shape, scalars });
    return cost.kind === 'fixed' ? { ...request, known: uniformWork(cost.work) } : { ...request, cost };
  } catch (error) {
    if (!(error instanceof CostError)) throw error;
    throw new Refusal('invalidLaunch', error.message);
  }
}
