import { Option } from 'commander';
import { wholeNumber } from './optionValues.js';

// Spelled out, so that the command line starts without loading the server's schemas; the type checker holds it to them.
const STRATEGIES = ['aimd', 'quantile', 'fixed', 'none'] as const;

export type BatchingStrategy = (typeof STRATEGIES)[number];

export function batchingOption(): Option {
  return new Option(
    '--batching <strategy>',
    'how large batches get; aimd unless there is a --batch-size, otherwise fixed',
  ).choices([...STRATEGIES]);
}

export function batchDelayOption(): Option {
  return new Option(
    '--batch-delay-micros <us>',
    'a batch that is not full waits so long for company, not at all unless given',
  ).argParser(wholeNumber(0, 10_000_000));
}
