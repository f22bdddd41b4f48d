/**
 * Puts the repository's own command where `npx` looks first. Without it the first `npx windjammer` would install the
 * repository into npx's cache, which builds everything again.
 */
const { chmodSync, rmSync, symlinkSync } = require('node:fs');

if (process.platform !== 'win32') {
  const link = 'node_modules/.bin/windjammer';
  rmSync(link, { force: true });
  symlinkSync('../../dist/services/cli/main.js', link);
  chmodSync('dist/services/cli/main.js', 0o755);
}
