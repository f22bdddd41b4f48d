import { describe, expect, it } from 'vitest';
import { FrontendHarness } from './harness.js';

describe('/openapi.json', () => {
  it('names every route that the server answers', async () => {
    const harness = await FrontendHarness.start();
    const { json } = await harness.send('/openapi.json', { method: 'GET' });
    const { openapi, paths } = json as { openapi: string; paths: Record<string, Record<string, unknown>> };
    expect(openapi).toBe('3.1.0');
    for (const [path, operations] of Object.entries(paths)) {
      // Below /v2 an application goes as a model.
      const url = path
        .replace('{application}', 'doubles')
        .replace('{model}', 'doubles')
        .replace('{version}', '1');
      for (const method of Object.keys(operations)) {
        const body = method === 'post' ? '{}' : undefined;
        const { status } = await harness.send(url, { method: method.toUpperCase(), body });
        // An empty body is refused; what does not exist would be 404 or 405. No model is up.
        expect(path.endsWith('/ready') ? [200, 503] : [200, 400], `${method} ${path}`).toContain(status);
      }
    }
    expect(Object.keys(paths)).toContain('/{application}/update');
    await harness.close();
  });
});
