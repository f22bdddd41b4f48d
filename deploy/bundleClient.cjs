/**
 * Makes the client for browsers out of the compiled one: a module that imports nothing. Run where the package is packed (`prepack`), and
 * by the test that installs it.
 */
const { join } = require('node:path');

const client = join(__dirname, '../dist/services/client');
// Frames are written with Node's Buffer, which is the hot path's; browsers have npm's.
const buffer = require.resolve('buffer/');

async function main() {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    input: join(client, 'publicClient.js'),
    platform: 'browser',
    resolve: { alias: { 'node:buffer': buffer } },
    plugins: [
      {
        name: 'browser-transport',
        resolveId: (source) =>
          source.endsWith('/nodeTransport.js') ? join(client, 'browserTransport.js') : undefined,
      },
    ],
    transform: { inject: { Buffer: [buffer, 'Buffer'] } },
    treeshake: { moduleSideEffects: false },
    onLog: (level, log, report) => {
      // What cannot be resolved would be missing in the browser.
      if (level !== 'info' && level !== 'debug') throw new Error(log.message);
      report(level, log);
    },
  });
  await bundle.write({ file: join(client, 'browser.js'), format: 'esm', minify: true });
}

main();
