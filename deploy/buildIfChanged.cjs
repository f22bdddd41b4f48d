/**
 * Builds `dist` unless it is what the sources say already. npm runs `prepare` at moments when nobody asked for a build, the
 * first `npx` in a clone among them, and a server may be running from `dist` then.
 * `--built`: says that it has just been built.
 */
const { createHash } = require('node:crypto');
const { spawnSync } = require('node:child_process');
const { existsSync, readFileSync, readdirSync, statSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
const STAMP = join(root, 'dist/.sources');
const ROOMS = ['services', 'containers', 'selection', 'simulator', 'loadtest'];
const FILES = ['tsconfig.json', 'package.json', 'package-lock.json', 'vitest.config.ts'];

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
  if (!existsSync(join(root, 'dist/loadtest/cli/main.js')) || !existsSync(STAMP)) return false;
  return readFileSync(STAMP, 'utf8') === sources();
}

if (process.argv.includes('--built')) {
  writeFileSync(STAMP, sources());
} else if (!isUpToDate()) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
}
