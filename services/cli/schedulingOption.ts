import type { PolicyMaker } from '../../simulator/scheduling/index.js';
import { CommandError } from './commandError.js';

/** The policy that an option names, or that is in the file that it names. @throws CommandError (as a rejection) */
export async function checkedScheduling(option: string, choice: string): Promise<string | PolicyMaker> {
  const { schedulingChoice } = await import('../../containers/runtime/index.js');
  const { SchedulingError } = await import('../../simulator/scheduling/index.js');
  try {
    return await schedulingChoice(choice);
  } catch (error) {
    if (!(error instanceof SchedulingError)) throw error;
    throw new CommandError(`${option}: ${error.message}`, { cause: error });
  }
}

/** What a policy of the user's own did wrong while it ran, as the option's error; other errors as they are. */
export async function policyError(option: string, error: unknown): Promise<unknown> {
  const { SchedulingError } = await import('../../simulator/scheduling/index.js');
  const { GpuError } = await import('../../simulator/gpu/index.js');
  const isDecision =
    error instanceof SchedulingError ||
    (error instanceof GpuError && (error.code === 'invalidDecision' || error.code === 'unsafeKill'));
  return isDecision ? new CommandError(`${option}: ${error.message}`, { cause: error }) : error;
}
