import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { installDebianPackage } from '../../simulator/files/tests/debianPackage.js';
import { packageRoot } from '../../simulator/files/index.js';
import { sampleOf } from '../../simulator/laboratory/testSample/index.js';
import {
  isBatchedFloats,
  judgeNode,
  NODE_TESTS,
  NODE_TESTS_PACKAGE,
  type NodeList,
} from './tests/onnxNodeSuite.js';

const LIST = join(packageRoot(), 'containers/runtime/tests/onnxNodes.json');
const list = JSON.parse(readFileSync(LIST, 'utf8')) as NodeList;

describe("ONNX's own node tests", () => {
  beforeAll(() => installDebianPackage(NODE_TESTS_PACKAGE, () => existsSync(NODE_TESTS)), 600_000);

  it('are all in the list, and most of those of a batch of floats are right', () => {
    const names = readdirSync(NODE_TESTS).sort();
    expect([...list.right, ...Object.keys(list.refused)].sort()).toEqual(names);
    expect(list.batched).toEqual(names.filter((name) => isBatchedFloats(join(NODE_TESTS, name))));
    const right = new Set(list.right);
    expect(list.batched.filter((name) => right.has(name)).length).toBeGreaterThanOrEqual(150);
    expect(list.right.length).toBeGreaterThanOrEqual(560);
  });

  it('are refused with the reason in the list', { timeout: 300_000 }, () => {
    const refused = Object.keys(list.refused);
    const verdicts = refused.map((name) => [name, judgeNode(join(NODE_TESTS, name))]);
    expect(Object.fromEntries(verdicts)).toEqual(
      Object.fromEntries(refused.map((name) => [name, { kind: 'refused', why: list.refused[name] }])),
    );
  });

  it(
    'are right, some of the refused, where inputs behind the first are constants',
    { timeout: 600_000 },
    () => {
      expect(list.rightWithConstants.length).toBeGreaterThanOrEqual(95);
      for (const name of sampleOf(list.rightWithConstants, 4)) {
        expect(judgeNode(join(NODE_TESTS, name), true), name).toEqual({ kind: 'right' });
      }
    },
  );

  it(
    'are right: imported, asked, and as the test expects within its tolerance',
    { timeout: 1_200_000 },
    () => {
      for (const name of sampleOf(list.right, 12)) {
        expect(judgeNode(join(NODE_TESTS, name)), name).toEqual({ kind: 'right' });
      }
    },
  );
});
