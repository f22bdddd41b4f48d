import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runLaunchSpecFile } from './index.js';

const LAUNCHES = resolve(import.meta.dirname, '../gpu/reference/launches');

describe('back-to-back intervals', () => {
  it.each(['saxpy__n-256-a-1-5', 'saxpy__n-16384-a-1-5'])(
    'of %s is what an H200 takes, within 20 %',
    (name) => {
      const path = join(LAUNCHES, `${name}.json`);
      const { expect: measured } = JSON.parse(readFileSync(path, 'utf8')) as {
        expect: { backToBackUs: number };
      };
      const { backToBackUs = NaN, durationUs } = runLaunchSpecFile(path, { backToBack: true });
      expect(Math.abs(backToBackUs / measured.backToBackUs - 1)).toBeLessThan(0.2);
      expect(backToBackUs).toBeLessThan(durationUs);
    },
  );

  it('are told only when they are asked for', () => {
    expect(runLaunchSpecFile(join(LAUNCHES, 'saxpy__n-256-a-1-5.json')).backToBackUs).toBeUndefined();
  });
});
