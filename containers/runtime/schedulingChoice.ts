import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  SCHEDULING_POLICY_NAMES,
  SchedulingError,
  schedulingPolicy,
  userPolicy,
  type PolicyMaker,
} from '../../simulator/scheduling/index.js';
import { reasonOf } from '../../simulator/text/index.js';

/** What a file of JavaScript is called. */
const MODULE = /\.[cm]?js$/;

/**
 * Who runs next on a GPU, as somebody names it: one of the policies that there are, or a file, a JavaScript module whose
 * default export is a function that returns a policy.
 * @throws SchedulingError (as a rejection), naming what there is or what is wrong with the file
 */
export async function schedulingChoice(choice: string): Promise<string | PolicyMaker> {
  if (SCHEDULING_POLICY_NAMES.includes(choice)) return choice;
  // Refuses a name that no policy has.
  if (!MODULE.test(choice)) return schedulingPolicy(choice).name;
  let exports: { readonly default?: unknown };
  try {
    exports = (await import(pathToFileURL(resolve(choice)).href)) as typeof exports;
  } catch (error) {
    const reason = reasonOf(error);
    throw new SchedulingError('invalidPolicy', `policy ${choice}: it cannot be loaded: ${reason}`);
  }
  return userPolicy(exports.default, choice);
}
