import { LAUNCH_CLASSES, type LaunchClass } from '../scheduling/index.js';
import type { DriverCommand } from './commands.js';
import type { ContextState } from './driverState.js';
import { Refusal } from './refusal.js';

export type LaunchCommand = Extract<DriverCommand, { op: 'launch' }>;

/** Of a launch: its own, else its stream's, else its context's. Undefined: `standard`. */
export function launchClassOf(
  { args, stream }: LaunchCommand,
  context: ContextState,
): LaunchClass | undefined {
  return args.controls?.launchClass ?? context.streams.get(stream)?.launchClass ?? context.launchClass;
}

/** @throws Refusal, naming the field and the classes there are */
export function checkLaunchClass(value: unknown, field: string): LaunchClass | undefined {
  if (value === undefined) return undefined;
  const found = LAUNCH_CLASSES.find((name) => name === value);
  if (found !== undefined) return found;
  throw new Refusal(
    'invalidValue',
    `${field}: ${JSON.stringify(value)} is no class of launches; there are: ${LAUNCH_CLASSES.join(', ')}`,
  );
}
