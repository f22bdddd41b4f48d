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
