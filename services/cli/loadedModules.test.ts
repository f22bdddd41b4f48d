import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const STATIC = /^(?:import|export)\s(?!type\b)[^;]*?from '(\.[^']+)'|^import '(\.[^']+)'/gm;

/** Files that a module loads before it runs: static imports, and theirs. */
function loadedBy(entry: string): string[] {
  const found = new Set([entry]);
  for (const file of found) {
    for (const [, named, bare] of readFileSync(file, 'utf8').matchAll(STATIC)) {
      const path = join(dirname(file), named ?? bare ?? '').replace(/\.js$/, '.ts');
      if (existsSync(path)) found.add(path);
    }
  }
  return [...found];
}

/** A script asks a server many times over, a process each time: none of them may wait for half the product to load. */
it.each(['main', 'predict', 'feedback', 'batch', 'deploy', 'app', 'model', 'link', 'key'])(
  '%s loads no simulator',
  (name) => {
    const loaded = loadedBy(join(import.meta.dirname, `${name}.ts`));
    expect(loaded.length).toBeGreaterThan(3);
    expect(loaded.filter((file) => /simulator\/(?:executor|gpu|ptx)\//.test(file))).toEqual([]);
  },
);

it('a server that is alone loads no client of Redis', () => {
  const loaded = loadedBy(join(import.meta.dirname, '../main.ts'));
  expect(loaded.length).toBeGreaterThan(100);
  expect(
    loaded.filter((file) =>
      /services\/(?:redis\/openRedis|store\/redis|placement|feedbackQueue|jobQueue)/.test(file),
    ),
  ).toEqual([]);
});
