/**
 * Builds `dist` unless it is what the sources say already. npm runs `prepare` at moments when nobody asked for a build, the
 * first `npx` in a clone among them. A server that runs from `dist` goes on reading it, each time that it starts a thread or a
 * process: while one does (it holds the lock, shared), `dist` stays as it is.
 * `--always`: builds also what is up to date. `--if-free`: content with a `dist` that cannot be changed now.
 */
const { createHash } = require('node:crypto');
const { spawnSync } = require('node:child_process');
const {
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  statSync,
  writeFileSync,
} = require('node:fs');
const { join } = require('node:path');
const { tryLock, waitForLock } = require('fs-native-extensions');

const root = join(__dirname, '..');
const STAMP = join(root, 'dist/.sources');
/** services/cli/buildLock.ts takes it too. */
const LOCK = join(root, 'dist/.lock');
const ROOMS = ['services', 'containers', 'selection', 'simulator', 'loadtest', 'deploy'];
const FILES = ['tsconfig.json', 'package.json', 'package-lock.json', 'vitest.config.ts'];
const PROJECTS = ['tsconfig.json', 'services/dashboard/page'];

/** Name, size and time of everything that is compiled: what is the same in all of them is not compiled again. */
function sources() {
  const hash = createHash('sha256');
  const add = (name) => {
    const { size, mtimeMs } = statSync(join(root, name));
    hash.update(`${name} ${size} ${mtimeMs}\n`);
  };
  for (const name of FILES) add(name);
  for (const room of ROOMS) {
    const found = readdirSync(join(root, room), { recursive: true, encoding: 'utf8' });
    for (const name of found.sort()) {
      if (/\.(ts|css|html|json)$/.test(name)) add(join(room, name));
    }
  }
  return hash.digest('hex');
}

function isUpToDate() {
  if (!existsSync(join(root, 'dist/services/cli/main.js')) || !existsSync(STAMP)) return false;
  return readFileSync(STAMP, 'utf8') === sources();
}

function compile() {
  const compiler = require.resolve('typescript/bin/tsc');
  const before = sources();
  for (const project of PROJECTS) {
    const { status } = spawnSync(process.execPath, [compiler, '-p', project], {
      cwd: root,
      stdio: 'inherit',
    });
    if (status !== 0) return status ?? 1;
  }
  // As they were before: what was changed meanwhile may not be in it.
  writeFileSync(STAMP, before);
  return 0;
}

async function main() {
  const isAlways = process.argv.includes('--always');
  if (!isAlways && isUpToDate()) return 0;
  mkdirSync(join(root, 'dist'), { recursive: true });
  const lock = openSync(LOCK, 'a+');
  if (tryLock(lock)) return compile();
  // At once, unless somebody else builds.
  await waitForLock(lock, { shared: true });
  if (isUpToDate()) return 0;
  if (tryLock(lock)) return compile();
  const isContent = process.argv.includes('--if-free');
  process.stderr.write(
    `The sources have changed, and a server runs from dist, which it still reads: ${
      isContent ? 'this goes on with dist as it is' : 'nothing was built'
    }. Stop the server, then: npm run build\n`,
  );
  return isContent ? 0 : 1;
}

main().then((status) => (process.exitCode = status));
