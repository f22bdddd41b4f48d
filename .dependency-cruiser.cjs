const COMMANDS = 'services/cli/commandList\\.ts$';
/** Measured data, corpora, oracles and twins: what the product is held to. */
const LABORATORY = '^simulator/laboratory/';
/** Second doors of rooms: what tests, experiments and the laboratory alone take of them. */
const TESTING = '^(?:simulator|containers)/[^/]+/testing/';
/** A Redis in a process of its own. */
const REDIS_SERVER = '^services/redis/tests/';
const TESTS = '(\\.test\\.ts$|/tests/)';

/**
 * Imports point one way: services → selection, containers; containers → simulator; loadtest → services. One line may look up: the
 * list of commands loads `replay` when it is asked for.
 */
const only = (name, from, allowed) => ({
  name,
  severity: 'error',
  comment: `${from} may import nothing of ours outside ${[from, ...allowed].join(', ')}`,
  from: { path: `^${from}/`, pathNot: `^${COMMANDS}` },
  to: {
    path: '^(services|containers|selection|simulator|loadtest|deploy)/',
    pathNot: `^(${[from, ...allowed].join('|')})/`,
  },
});

/**
 * A folder is a room with a front door: from outside it, only its index may be imported. What tests share is no part of
 * any room's inside; product code never imports it (`tests-in-tests-only`). The laboratory's rooms have front doors each.
 */
const frontDoor = (folder) => ({
  name: `front-door-${folder}`,
  severity: 'error',
  comment: `import a room of ${folder} through its index.ts`,
  from: { path: '^([^/]+)/([^/]+)' },
  to: {
    path: `^${folder}/[^/]+/.+`,
    pathNot: [`^${folder}/[^/]+/index\\.ts$`, '^$1/$2/', '/tests/', LABORATORY, `${TESTING}index\\.ts$`],
  },
});

const COMPILER = 'simulator/executor/compiler';

/** Rooms of the compiler, each of which may import those before it; what puts them together lies beside them. */
const COMPILER_ROOMS = [
  'area',
  'instructions',
  'inStep',
  'analysis',
  'counters',
  'library',
  'tiles',
  'scalar',
  'hostCalls',
  'accesses',
  'vector',
  'plan',
  'regions',
  'predication',
  'chunks',
];

/** Tests look into rooms; the executor's second door hands single emitters to the laboratory, which puts a kernel together by itself. */
const NOT_COMPILED = `(\\.test\\.ts$|${TESTING}index\\.ts$)`;

const compilerOrder = COMPILER_ROOMS.map((room, index) => ({
  name: `compiler-${room}-down`,
  severity: 'error',
  comment: `${room} may import ${COMPILER_ROOMS.slice(0, index).join(', ') || 'no other room'} of the compiler`,
  from: { path: `^${COMPILER}/${room}/`, pathNot: NOT_COMPILED },
  to: {
    path: `^${COMPILER}/`,
    pathNot: `^${COMPILER}/(${COMPILER_ROOMS.slice(0, index + 1).join('|')})/`,
  },
}));

module.exports = {
  forbidden: [
    only('simulator-alone', 'simulator', []),
    only('selection-alone', 'selection', []),
    only('containers-down', 'containers', ['simulator']),
    only('services-down', 'services', ['selection', 'containers', 'simulator']),
    {
      name: 'loadtest-when-asked-for',
      severity: 'error',
      comment: 'what is served loads nothing of loadtest',
      from: { path: `^${COMMANDS}` },
      to: { path: '^loadtest/', dependencyTypesNot: ['dynamic-import'] },
    },
    only('loadtest-down', 'loadtest', ['services', 'selection', 'containers', 'simulator']),
    only('deploy-down', 'deploy', ['loadtest', 'services', 'selection', 'containers', 'simulator']),
    ...compilerOrder,
    {
      name: 'front-door-compiler',
      severity: 'error',
      comment:
        'import a room of the compiler through its index.ts; of all of it, the compiler says what it is',
      from: { path: `^(${COMPILER}/[^/]+)|^`, pathNot: NOT_COMPILED },
      to: {
        path: `^${COMPILER}/[^/]+/.+`,
        pathNot: [`^${COMPILER}/[^/]+/index\\.ts$`, '^$1/'],
      },
    },
    frontDoor('simulator'),
    frontDoor('containers'),
    frontDoor('services'),
    {
      name: 'front-door-selection',
      severity: 'error',
      from: { pathNot: '^selection/' },
      to: { path: '^selection/', pathNot: '^selection/(conformance/)?index\\.ts$' },
    },
    {
      name: 'tests-in-tests-only',
      severity: 'error',
      comment: 'what tests share is for tests, and for the soak, which is one that runs for long',
      from: { pathNot: [TESTS, '^loadtest/soak/'] },
      to: { path: '/tests/', pathNot: ['node_modules', REDIS_SERVER] },
    },
    {
      name: 'redis-server-not-served',
      severity: 'error',
      comment: 'a real Redis is for tests and for what loadtest measures through one',
      from: { pathNot: [TESTS, '^loadtest/'] },
      to: { path: REDIS_SERVER },
    },
    {
      name: 'laboratory',
      severity: 'error',
      comment: 'for tests, loadtest, and commands that load it when they run',
      from: { pathNot: [TESTS, LABORATORY, '^(loadtest|services/cli)/'] },
      to: { path: LABORATORY },
    },
    {
      name: 'laboratory-in-commands',
      severity: 'error',
      comment: 'a command loads the laboratory when it runs',
      from: { path: '^services/cli/', pathNot: TESTS },
      to: { path: LABORATORY, dependencyTypesNot: ['dynamic-import', 'type-only'] },
    },
    {
      name: 'laboratory-not-served',
      severity: 'error',
      comment: 'not even when it is asked for',
      from: { path: '^services/(main|cli/serve[^/]*)\\.ts$' },
      to: { path: LABORATORY, reachable: true },
    },
    {
      name: 'front-door-laboratory',
      severity: 'error',
      comment: 'import a room of the laboratory through its index.ts',
      from: { path: '^([^/]+/[^/]+/?[^/]*)' },
      to: { path: LABORATORY, pathNot: ['^simulator/laboratory/[^/]+/index\\.ts$', '^$1/', '/tests/'] },
    },
    {
      name: 'second-doors',
      severity: 'error',
      comment: 'for tests, loadtest and the laboratory',
      from: { pathNot: [TESTS, LABORATORY, TESTING, '^loadtest/'] },
      to: { path: TESTING },
    },
    {
      name: 'no-cycles-between-rooms',
      severity: 'error',
      comment: 'not even of types',
      from: { path: '^([^/]+)/([^/]+)/' },
      to: { circular: true, via: { pathNot: '^$1/$2/' } },
    },
    {
      name: 'no-cycles-of-code',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-dev-dependency-in-product',
      severity: 'error',
      from: {
        path: '^(services|containers|selection|simulator)/',
        pathNot: '(\\.test\\.ts$|/tests/|/training/)',
      },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|node_modules)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      conditionNames: ['import', 'node', 'types'],
    },
  },
};
