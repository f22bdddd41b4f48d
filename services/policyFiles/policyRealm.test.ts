import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openRealm } from './policyRealm.js';
import { fileText } from './tests/fileText.js';

interface Reply {
  readonly fault?: { readonly kind: string; readonly message: string; readonly field?: string };
  readonly [member: string]: unknown;
}

function opened(text: string): { loaded: Reply; ask: (request: object) => Reply; printed: string[] } {
  const printed: string[] = [];
  const realm = openRealm('own.mjs', text, (line) => printed.push(line));
  const ask = (request: object): Reply =>
    JSON.parse(realm.call(JSON.stringify({ id: 1, ...request })) ?? '{}') as Reply;
  return { loaded: JSON.parse(realm.loaded) as Reply, ask, printed };
}

/** What the first query of a state with two models is answered. */
function selected(text: string, query: object = { context: '' }): Reply {
  const { ask } = opened(text);
  ask({ op: 'state', s: 1, arms: ['a', 'b'], parameters: null, learned: null });
  return ask({ op: 'select', s: 1, key: 'q', seed: 1, query });
}

function observed(text: string): Reply {
  const { ask } = opened(text);
  ask({ op: 'state', s: 1, arms: ['a', 'b'], parameters: null, learned: null });
  const observation = {
    selection: { arms: ['a'], propensity: 1 },
    predictions: [{ arm: 'a', output: '1' }],
    feedback: { label: '1' },
    query: { context: '' },
  };
  return ask({ op: 'learn', s: 1, to: 2, observations: [observation] });
}

const OBSERVATION = {
  selection: { arms: ['a'], propensity: 1 },
  predictions: [],
  feedback: { label: '1' },
  query: {},
};

it('selects, learns and tells what it has learned', () => {
  expect(selected(fileText({}))).toEqual({ id: 1, selection: { arms: ['b'], propensity: 1 } });
  expect(observed(fileText({}))).toMatchObject({
    learned: { schema: 1, policy: 'own', arms: ['a', 'b'], learned: 1 },
    rest: { dropped: [] },
  });
});

it.each<[string, string, RegExp]>([
  ['throws', `throw new Error('no')`, /^select threw Error: no \(own\.mjs:\d+:\d+\)$/],
  ['throws what is no error', `throw { toJSON() { throw 1 } }`, /^select threw object$/],
  ['gives nothing', 'return', /^select gave undefined: give \{arms: \[\.\.\.\], propensity: 1\}$/],
  [
    'has NaN for a propensity',
    `return { arms: ['a'], propensity: NaN }`,
    /^select gave the propensity NaN: a number above 0/,
  ],
  ['has a propensity of 0', `return { arms: ['a'], propensity: 0 }`, /propensity 0/],
  [
    'gives a text for arms',
    `return { arms: 'a', propensity: 1 }`,
    /^select gave the arms "a": a list of names$/,
  ],
  ['is asynchronous', `return Promise.resolve({ arms: ['a'], propensity: 1 })`, /^select gave a promise/],
  ['changes what it was given', `state.arms.push('c')`, /^select threw TypeError: Cannot add property 2/],
  [
    'changes a prototype',
    `Object.prototype.arms = ['a']`,
    /^select threw TypeError: Cannot add property arms/,
  ],
  [
    'changes a list for all',
    `Array.prototype.map = null`,
    /^select threw TypeError: Cannot assign to read only/,
  ],
  ['leaves a global', `leaked = 1`, /^select threw ReferenceError: leaked is not defined/],
  ['ends the process', `process.exit(1)`, /^select threw ReferenceError: process is not defined/],
  ['loads modules', `require('fs')`, /^select threw ReferenceError: require is not defined/],
  ['makes code of text', `new Function('return 1')()`, /^select threw EvalError/],
  ['reaches out by a constructor', `draw.constructor('return process')()`, /^select threw EvalError/],
  ['recurses for ever', `const f = () => f() + 1; f()`, /^select threw RangeError/],
  [
    'draws otherwise',
    `Math.random()`,
    /^select threw TypeError: Math\.random is not there: a policy draws with draw\(\)/,
  ],
  ['asks for the time', `Date.now()`, /^select threw TypeError: Date\.now is not there/],
])('tells of a select that %s', (_, body, message) => {
  const { fault } = selected(fileText({ select: body }));
  expect(fault?.message).toMatch(message);
  expect(Object.hasOwn(Object.prototype, 'arms')).toBe(false);
});

it('keeps errors of the outside away from the file', () => {
  const body = `try { library.lossOf('a', 7, null) } catch (error) { return { arms: [String(error instanceof TypeError), error.constructor.constructor === Function ? 'own' : 'outside'], propensity: 1 } }`;
  const text = `import { lossOf } from 'windjammer/policy';\n${fileText({ select: body.replace('library.lossOf', 'lossOf') })}`;
  expect(selected(text)).toMatchObject({ selection: { arms: ['true', 'own'] } });
});

describe('nothing of the outside reaches the file', () => {
  /** Its objects lead to all of it. */
  const HEAD = `import { lossOf, sameOutput } from 'windjammer/policy';
const isForeign = (value) => value !== null && /object|function/.test(typeof value) && !(value instanceof Object);
/** What is thrown by the call with every room that is left on the stack. */
const thrown = (call) => {
  let found;
  const note = (error) => { if (isForeign(error)) found = error; };
  const deeper = () => {
    try { deeper(); } catch (error) { note(error); }
    try { call(); } catch (error) { note(error); }
  };
  deeper();
  return found;
};
`;
  it.each([
    ['drawing without room on the stack', 'thrown(draw)'],
    ['printing without room on the stack', `thrown(() => console.log('x'))`],
    ['comparing without room on the stack', `thrown(() => sameOutput('[1', '[2'))`],
    ['judging without room on the stack', `thrown(() => lossOf('a', [], { label: '1' }))`],
    [
      'judging predictions that say how they are gone through',
      `(() => { let found; const listen = (target, self, args) => { found = args; return [].values(); };
      const predictions = { map: null, [Symbol.iterator]: new Proxy(() => {}, { apply: listen }) };
      try { lossOf('a', predictions, { label: '1' }); } catch {} return found; })()`,
    ],
  ])('by %s', (_, found) => {
    const body = `return { arms: [isForeign(${found}) ? 'outside' : 'own'], propensity: 1 };`;
    expect(selected(HEAD + fileText({ select: body }))).toMatchObject({ selection: { arms: ['own'] } });
  });
});

it.each<[string, string, RegExp]>([
  [
    'a Map',
    'return { ...state, learned: new Map() }',
    /^the state of observe\.learned is a Map: plain objects/,
  ],
  [
    'NaN',
    'return { ...state, learned: NaN }',
    /^the state of observe\.learned is NaN, for which JSON has no word$/,
  ],
  ['undefined', 'return { ...state, learned: undefined }', /^the state of observe\.learned is undefined/],
  ['a function', 'return { ...state, learned: () => 1 }', /^the state of observe\.learned is a function/],
  [
    'a promise',
    'return Promise.resolve(state)',
    /^the state of observe is a promise: a policy answers at once/,
  ],
  [
    'itself',
    'const own = { ...state }; own.learned = own; return own',
    /deeper than 64 objects in one another, or holds itself$/,
  ],
  [
    'too much',
    `return { ...state, learned: 'x'.repeat(2e6) }`,
    /characters as JSON, and 1048576 are the most$/,
  ],
])('drops feedback after which the state is %s, and keeps what it had', (_, body, message) => {
  const { learned, rest } = observed(fileText({ observe: body })) as Reply & {
    readonly rest: { readonly dropped: readonly { readonly fault: { readonly message: string } }[] };
  };
  expect(learned).toBeNull();
  expect(rest.dropped[0].fault.message).toMatch(message);
});

it('takes a later file that does not know the state from the beginning, and says so', () => {
  const { ask } = opened(fileText({ restore: `throw new PolicyError('state', 'of another time')` }, true));
  ask({
    op: 'state',
    s: 1,
    arms: ['a'],
    parameters: null,
    learned: { schema: 1, policy: 'own', learned: 5 },
  });
  expect(ask({ op: 'learn', s: 1, to: 2, observations: [OBSERVATION] })).toMatchObject({
    learned: { learned: 1 },
    rest: { anew: 'of another time' },
  });
});

it.each<[string, string, number]>([
  ['what the policy makes of the application’s own state', '{ ...own, learned: own.learned / 2 }', 5],
  ['nothing where it makes nothing of it', 'undefined', 1],
])('begins a context with %s', (_, made, learned) => {
  const { ask } = opened(fileText({ more: `prior(own) { return ${made}; },` }));
  const own = { schema: 1, policy: 'own', arms: ['a', 'b'], learned: 8 };
  ask({ op: 'state', s: 1, arms: ['a', 'b'], parameters: null, learned: own, isPrior: true });
  expect(ask({ op: 'learn', s: 1, to: 2, observations: [OBSERVATION] })).toMatchObject({
    learned: { learned },
  });
});

it('passes on what it prints, and measures by its losses', () => {
  const { ask, printed } = opened(
    `${fileText({})}\nconsole.log('here', { a: 1 });\nexport const losses = { half: () => 0.5, none: () => NaN };`,
  );
  expect(printed).toEqual(['here {"a":1}']);
  expect(ask({ op: 'measure', loss: 'half', label: '1', outputs: ['1', '2'] })).toMatchObject({
    losses: [0.5, 0.5],
  });
  expect(ask({ op: 'measure', loss: 'none', label: '1', outputs: ['2'] }).fault?.message).toBe(
    `the loss 'none' of "2" for the label "1" is null: a number from 0 to 1`,
  );
});

describe('a file that is none', () => {
  it.each<[string, string, RegExp]>([
    [
      'another language',
      'def select():\n  pass',
      /^own\.mjs:1: Unexpected token: a policy file is an ES module/,
    ],
    [
      'a file that loads another',
      `import fs from 'node:fs';\nexport default {};`,
      /^own\.mjs:1: imports 'node:fs': a policy is one file, bundle/,
    ],
    [
      'one that imports what is not there',
      `import { all } from 'windjammer/policy';`,
      /^own\.mjs:1: 'windjammer\/policy' has PolicyError, lossOf, sameOutput/,
    ],
    [
      'one that loads later',
      `export default {};\n\nimport('fs');`,
      /^own\.mjs:3: import\(\) and import\.meta are not there/,
    ],
    [
      'one that exports from another',
      `export * from './other.mjs';`,
      /^own\.mjs:1: exports what another file has/,
    ],
  ])('%s is refused with its line', (_, text, message) => {
    expect(() => openRealm('own.mjs', text, () => undefined)).toThrow(message);
  });

  it.each<[string, string, RegExp]>([
    ['nothing', 'const a = 1;', /^it has no default export/],
    ['no name', 'export default { parameters: [] };', /^`name` must be a text/],
    [
      'no functions',
      `export default { name: 'own', parameters: [], init() {} };`,
      /lacks the functions restore, reconcile, select, observe, shares$/,
    ],
    ['losses alone that are none', `export const losses = { a: 1 };`, /^losses\.a must be a function/],
    ['an error', `null.x`, /^the file threw TypeError: .* \(own\.mjs:1:\d+\)$/],
  ])('with %s says so', (_, text, message) => {
    expect(opened(text).loaded.fault?.message).toMatch(message);
  });

  it('may export in every way', () => {
    const methods = fileText({}).replace('export default ', 'const policy = ');
    for (const text of [
      `${methods}\nexport { policy as default };`,
      `${methods}\nexport default policy`,
      `export function half() { return 0.5 }\n${methods}\nexport default policy;\nexport const [losses] = [{}];`.replace(
        '[losses] = [{}]',
        'losses = {}',
      ),
      `${methods}\nexport default Object.assign(function own() {}, { ...policy });`.replace(
        '{ ...policy }',
        '(({ name, ...rest }) => rest)(policy)',
      ),
    ])
      expect(opened(text).loaded).toMatchObject({ loaded: { name: 'own' } });
  });
});

it('loads the example of the documentation', () => {
  const text = readFileSync(new URL('../../docs/examples/policies/softmax.mjs', import.meta.url), 'utf8');
  const { loaded, ask } = opened(text);
  expect(loaded).toMatchObject({
    loaded: { name: 'softmax', parameters: ['temperature'], losses: ['clock'] },
  });
  expect(ask({ op: 'check', parameters: { temperature: 0.5 } })).toEqual({ id: 1, checked: {} });
  expect(ask({ op: 'check', parameters: { temperature: 0 } }).fault).toEqual({
    kind: 'refused',
    field: 'parameters.temperature',
    message: 'temperature must be a number from 0.001 to 10',
  });
});
