import { describe, expect, it } from 'vitest';
import { roundsOf } from '../testSample/index.js';
import { describeCase, differences, generateKernel } from './index.js';

/** A sample: `fuzzRun` runs as many as it is told. */
const seedsPerTest = 5;
const starts = Array.from({ length: roundsOf(40, 2) }, (_, index) => 1 + index * seedsPerTest);

describe.each([1, 2] as const)(
  'every variant against the reference interpreter, generation %i',
  (generation) => {
    it.each(starts)(
      'seeds from %i: same memory, same counts, killed, rolled back, rerun, suspended',
      (start) => {
        for (let seed = start; seed < start + seedsPerTest; seed++) {
          const fuzz = generateKernel(seed, { generation });
          const found = differences(fuzz);
          if (found.length > 0) expect.fail(`${found.join('\n')}\n${describeCase(fuzz)}`);
        }
      },
    );
  },
);

describe('every variant against the reference interpreter, lanes together', () => {
  /** With fewer statements walks are more of a kernel, and each takes less time. */
  const statements = 8;

  it.each(starts.slice(1))('seeds from %i', (start) => {
    for (let seed = start; seed < start + seedsPerTest; seed++) {
      const fuzz = generateKernel(seed, { generation: seed % 2 === 1 ? 1 : 2, together: true, statements });
      const found = differences(fuzz);
      if (found.length > 0) expect.fail(`${found.join('\n')}\n${describeCase(fuzz)}`);
    }
  });
});

describe('every variant against the reference interpreter, all forms of the table', () => {
  it.each(starts)('seeds from %i', (start) => {
    for (let seed = start; seed < start + seedsPerTest; seed++) {
      const fuzz = generateKernel(seed, { generation: 2, everyForm: true });
      const found = differences(fuzz);
      if (found.length > 0) expect.fail(`${found.join('\n')}\n${describeCase(fuzz)}`);
    }
  });
});

describe('every variant against the reference interpreter, blocks in clusters', () => {
  it.each(starts.slice(1))('seeds from %i', (start) => {
    for (let seed = start; seed < start + seedsPerTest; seed++) {
      const fuzz = generateKernel(seed, {
        generation: seed % 2 === 1 ? 1 : 2,
        clusters: true,
        statements: 10,
      });
      const found = differences(fuzz);
      if (found.length > 0) expect.fail(`${found.join('\n')}\n${describeCase(fuzz)}`);
    }
  });
});

describe('every variant against the reference interpreter, lanes in step', () => {
  it.each(starts.slice(1))('seeds from %i', (start) => {
    for (let seed = start; seed < start + seedsPerTest; seed++) {
      const fuzz = generateKernel(seed, { generation: seed % 2 === 1 ? 1 : 2, inStep: true, statements: 25 });
      const found = differences(fuzz);
      if (found.length > 0) expect.fail(`${found.join('\n')}\n${describeCase(fuzz)}`);
    }
  });
});
