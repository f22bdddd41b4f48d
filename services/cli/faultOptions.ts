import { Option, type Command } from 'commander';
import type { FaultSettings } from '../../simulator/cluster/index.js';
import { CommandError } from './commandError.js';

export interface FaultChoice {
  readonly faults?: string;
  readonly recovery?: string;
  readonly saveTo?: string;
}

/** Options of commands that run launches on a node of their own, or serve with one. */
export function addFaultOptions(command: Command): Command {
  return command
    .option(
      '--faults <seed,rate>',
      'strike launches with transient faults: a seed, and the probability of each',
    )
    .option(
      '--recovery <scheme>',
      'what is done so that launches can run again that were struck: none, restore, klevel or verdicts',
    )
    .addOption(new Option('--save-to <place>', 'where recovery saves memory').choices(['device', 'host']));
}

/** @throws CommandError that names the option */
export async function checkedFaults({ faults: text, recovery, saveTo }: FaultChoice): Promise<FaultSettings> {
  if (text === undefined && recovery === undefined && saveTo === undefined) return {};
  const { FaultError, checkFaults, recoveryScheme } = await import('../../simulator/faults/index.js');
  try {
    return {
      ...(text === undefined ? {} : { faults: checkFaults(parsed(text)) }),
      ...(recovery === undefined ? {} : { recovery: recoveryScheme(recovery) }),
      ...(saveTo === undefined ? {} : { saveTo }),
    };
  } catch (error) {
    if (!(error instanceof FaultError)) throw error;
    throw new CommandError(
      error.message.replace(/^faults\./, '--faults: ').replace(/^recovery/, '--recovery'),
      {
        cause: error,
      },
    );
  }
}

function parsed(text: string): { readonly seed: number; readonly rate: number } {
  const [seed, rate, ...more] = text.split(',').map((part) => (part.trim() === '' ? NaN : Number(part)));
  if (more.length > 0 || Number.isNaN(seed) || rate === undefined || Number.isNaN(rate)) {
    throw new CommandError(`--faults: '${text}'; give a seed and a probability, such as 1,0.01`);
  }
  return { seed, rate };
}
