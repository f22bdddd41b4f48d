import { Option } from 'commander';

// Spelled out, so that the command line starts without loading the server's schemas; the type checker holds it to them.
const STRATEGIES = ['aimd', 'quantile', 'fixed', 'none'] as const;

export type BatchingStrategy = (typeof STRATEGIES)[number];

export function batchingOption(): Option {
  return new Option(
    '--batching <strategy>',
    'how large batches get; aimd unless there is a --batch-size, otherwise fixed',
  ).choices([...STRATEGIES]);
}
