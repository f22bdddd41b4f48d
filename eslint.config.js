import tseslint from 'typescript-eslint';

/**
 * The query path and the simulator are callbacks and records: a promise there costs a macrotask an event and hides
 * the order in which things happen, so that a run could not be repeated, snapshotted or forked.
 */
const noAsync = [
  {
    selector: ':function[async=true]',
    message: 'No async functions in the core: use callbacks and records.',
  },
  { selector: 'AwaitExpression', message: 'No await in the core.' },
  { selector: "NewExpression[callee.name='Promise']", message: 'No promises in the core.' },
  {
    selector: "MemberExpression[object.name='Promise']",
    message: 'No promises in the core.',
  },
];

/** One injected clock and one injected seed: nothing in the core may read the wall or the global generator. */
const noWallClock = [
  {
    selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
    message: 'Take a Clock.',
  },
  { selector: "NewExpression[callee.name='Date']", message: 'Take a Clock.' },
  {
    selector: "CallExpression[callee.object.name='performance'][callee.property.name='now']",
    message: 'Take a Clock.',
  },
  { selector: "MemberExpression[object.name='process'][property.name='hrtime']", message: 'Take a Clock.' },
  {
    selector: 'CallExpression[callee.name=/^(setTimeout|setInterval|setImmediate)$/]',
    message: 'Schedule on the Clock.',
  },
  {
    selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
    message: 'Draw from a seeded generator keyed by the query.',
  },
];

/** A payload may begin with U+FEFF, which decoders cut off unless they are told. */
const byteOrderMark = {
  selector: "NewExpression[callee.name='TextDecoder']:not(:has(Property[key.name='ignoreBOM']))",
  message:
    'Say with ignoreBOM whether a leading byte order mark is a part of the text (true) or not (false).',
};

export default tseslint.config(
  // Of clientModule.d.ts the compiler has made each declaration as it is.
  { ignores: ['dist/**', 'node_modules/**', 'docs/**', 'services/client/clientModule.d.ts'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: ['eslint.config.js', '.dependency-cruiser.cjs', 'deploy/*.cjs'],
        },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      eqeqeq: 'error',
      'no-restricted-syntax': ['error', noWallClock.at(-1), byteOrderMark],
    },
  },
  {
    files: ['simulator/**/*.ts', 'selection/**/*.ts', 'services/{cache,batching,prediction}/**/*.ts'],
    ignores: ['**/*.test.ts', 'simulator/time/pacedClock.ts'],
    rules: { 'no-restricted-syntax': ['error', ...noAsync, ...noWallClock, byteOrderMark] },
  },
  {
    files: ['eslint.config.js', '.dependency-cruiser.cjs', 'deploy/*.cjs'],
    extends: [tseslint.configs.disableTypeChecked],
    rules: { '@typescript-eslint/no-require-imports': 'off' },
  },
);
