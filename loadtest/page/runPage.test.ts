import { Script } from 'node:vm';
import { beforeAll, expect, it } from 'vitest';
import { readResult, resultJson } from '../result/index.js';
import { planReplay } from '../replay/replayPlan.js';
import type { RunResult } from '../result/index.js';
import { replay } from '../replay/replayRun.js';
import { msText, numberText, percentText } from './markup.js';
import { comparisonText, runPage } from './index.js';

let result: RunResult;
beforeAll(async () => {
  const feedback = { share: 0.5, delayMs: 1 };
  const trace = { trace: 'poisson:300', durationSeconds: 0.2, seed: 9, scale: 1 };
  result = (await replay(await planReplay({ ...trace, feedback, cacheBytes: 1 << 20 }))).result;
});

it('shows everything in one document that fetches nothing', () => {
  const page = runPage(result, 1.5);
  for (const title of [
    'Latency distribution',
    'Latency over time',
    'Throughput over time',
    'Default answers over time',
    'Selection weights of digits over time',
    'Batch sizes',
    'Mean batch size over time',
  ]) {
    expect(page).toContain(`<figcaption>${title}</figcaption>`);
  }
  expect(page).toContain('digits-mlp v1');
  expect(page).toContain('prefers-color-scheme: dark');
  expect(page.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|src=|href=|@import|url\(/);
  expect(page).not.toMatch(/NaN|Infinity|undefined|\[object/);
});

it('closes every element, and its script is a program', () => {
  const page = runPage(result, 1.5);
  const open: string[] = [];
  const bare = page.replace(/<(script|style)[^>]*>[\s\S]*?<\/\1>/g, '');
  for (const [, end, name, empty] of bare.matchAll(/<(\/?)([a-z][a-z0-9]*)[^>]*?(\/?)>/gi)) {
    if (empty === '/' || name === 'meta') continue;
    if (end === '') open.push(name);
    else expect(open.pop()).toBe(name);
  }
  expect(open).toEqual([]);
  const scripts = [...page.matchAll(/<script( type="application\/json")?>([\s\S]*?)<\/script>/g)];
  expect(scripts.length).toBeGreaterThan(5);
  for (const [, isJson, text] of scripts) {
    if (isJson === undefined) expect(() => new Script(text)).not.toThrow();
    else expect(Array.isArray(JSON.parse(text))).toBe(true);
  }
});

it('does not take a name for markup, and shows runs in which nothing happened', () => {
  const [application] = result.applications;
  const named = { ...application, name: '</script><b onclick="x">' };
  const page = runPage({ ...result, trace: '<i>.csv', applications: [named] }, 1);
  expect(page).not.toContain('<b onclick');
  expect(page).not.toContain('<i>.csv');
  const nothing = { ...application, latency: null, latencyDistribution: [], arrivals: 0, answers: 0 };
  const models = result.models.map((model) => ({
    ...model,
    batches: 0,
    batchSizes: [],
    service: null,
    queueing: null,
  }));
  const empty = {
    ...result,
    applications: [nothing],
    models,
    windows: [],
    latency: null,
    answers: 0,
    arrivals: 0,
  };
  expect(runPage({ ...empty, durationSeconds: 0, drainSeconds: 0 }, 1)).not.toMatch(/NaN|Infinity|undefined/);
});

it('shows defaults by their reasons', () => {
  const windows = result.windows.map((window) => ({
    ...window,
    answers: 10,
    defaults: 4,
    defaultReasons: { deadline: 3, overload: 1 },
  }));
  const page = runPage(
    { ...result, defaults: 40, defaultReasons: { deadline: 30, overload: 10 }, windows },
    1,
  );
  expect(page).toMatch(/class="area c1"><\/i>deadline/);
  expect(page).toMatch(/class="area c5"><\/i>overload/);
  expect(page).toContain('<h2>Not predicted</h2>');
});

it('writes numbers as people read them', () => {
  expect([0, 5, 0.012345, 12.34567, 1234.5, 278_820, 4e12, NaN].map(numberText)).toEqual([
    '0',
    '5',
    '0.0123',
    '12.3',
    '1\u202f235',
    '278\u202f820',
    '4.00e+12',
    '–',
  ]);
  expect([msText(0.0173), msText(20), msText(0), msText(null)]).toEqual([
    '17.3\u202fµs',
    '20\u202fms',
    '0\u202fms',
    '–',
  ]);
  expect(percentText(0.2145)).toBe('21.4\u202f%');
});

it('of a file that was edited says what is wrong, or is drawn all the same', () => {
  const text = resultJson(result);
  const run = { name: 'run', result };
  expect(readResult(text)).toEqual(JSON.parse(text));
  for (const path of pathsOf(JSON.parse(text))) {
    for (const value of [null, {}, [], 'x', [null], undefined, '<script>alert(1)</script>']) {
      const edited = JSON.parse(text) as object;
      const parent = path.slice(0, -1).reduce<unknown>((at, name) => Reflect.get(at as object, name), edited);
      Reflect.set(parent as object, path[path.length - 1], value);
      let read: RunResult;
      try {
        read = readResult(JSON.stringify(edited));
      } catch (error) {
        expect((error as Error).message).toMatch(/: run it again$/);
        continue;
      }
      const drawn = runPage(read) + comparisonText([run, { name: 'edited', result: read }]);
      expect(drawn, path.join('.')).not.toMatch(/NaN|undefined|\[object|<script>alert/);
    }
  }
});

/** To every value, and of a list to its first. */
function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  const names = Array.isArray(value) ? Object.keys(value).slice(0, 1) : Object.keys(value);
  const below = names.flatMap((name) => pathsOf(Reflect.get(value, name), [...path, name]));
  return path.length === 0 ? below : [path, ...below];
}
