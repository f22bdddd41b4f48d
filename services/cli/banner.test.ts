import { expect, it } from 'vitest';
import { startEmbedded } from '../tests/embeddedServer.js';
import { banner } from './banner.js';

it('shows addresses that can be asked, of a server that listens on all of them too', async () => {
  const server = await startEmbedded({
    host: '0.0.0.0',
  });
  try {
    const text = banner(server, undefined);
    const { port } = server.queryAddress;
    expect(text).toContain(`serves on http://0.0.0.0:${port}, management on http://127.0.0.1:`);
    expect(text).toContain('No application is registered yet: windjammer app add --help says how.');
    expect(text).toContain(`The dashboard: http://localhost:${port}/`);
  } finally {
    await server.stop({ noticeMs: 0, graceMs: 0 });
  }
});
