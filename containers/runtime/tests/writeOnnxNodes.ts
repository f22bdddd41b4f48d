import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isBatchedFloats, judgeNode, NODE_TESTS, type NodeList } from './onnxNodeSuite.js';

/** Judges every node test and rewrites the list of them under the current directory, the repository's root. A test that is wrong ends it. */
const names = readdirSync(NODE_TESTS).sort();
const right: string[] = [];
const refused: Record<string, string> = {};
const rightWithConstants: string[] = [];
for (const name of names) {
  const verdict = judgeNode(join(NODE_TESTS, name));
  if (verdict.kind === 'wrong') throw new Error(`${name}: ${verdict.why}`);
  if (verdict.kind === 'right') right.push(name);
  else {
    refused[name] = verdict.why;
    const again = judgeNode(join(NODE_TESTS, name), true);
    // Some ask with NaN, which no query may have.
    if (again.kind === 'wrong' && !again.why.includes('invalidInput'))
      throw new Error(`${name} with constants: ${again.why}`);
    if (again.kind === 'right') rightWithConstants.push(name);
  }
}
const list: NodeList = {
  source:
    "names of the node tests of ONNX 1.12.0's backend tests (Apache-2.0), as Debian's libonnx-testdata has them",
  batched: names.filter((name) => isBatchedFloats(join(NODE_TESTS, name))),
  right,
  refused,
  rightWithConstants,
};
writeFileSync('containers/runtime/tests/onnxNodes.json', `${JSON.stringify(list, undefined, 2)}\n`);
