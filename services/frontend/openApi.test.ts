import { describe, expect, it } from 'vitest';
import { FrontendHarness } from './tests/harness.js';

interface Predict {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody: {
    readonly content: Record<string, { readonly schema: { readonly properties: Record<string, unknown> } }>;
  };
  readonly responses: Record<string, { readonly description: string }>;
}

describe('/openapi.json', () => {
  it('has every way to say what a query wants', async () => {
    const harness = await FrontendHarness.start();
    const { json } = await harness.send('/openapi.json', { method: 'GET' });
    await harness.close();
    const { post } = (json as { paths: Record<string, { post: Predict }> }).paths['/{application}/predict'];
    expect(Object.keys(post.requestBody.content)).toEqual(['application/json', 'application/octet-stream']);
    expect(post.parameters.filter((one) => one.in === 'header').map((one) => one.name)).toEqual([
      'x-windjammer-strict',
      'x-windjammer-priority',
      'x-windjammer-launch-class',
      'x-request-timeout-ms',
      'grpc-timeout',
    ]);
    const fields = Object.keys(post.requestBody.content['application/json'].schema.properties);
    for (const { name } of post.parameters.filter((one) => one.in === 'query'))
      expect(fields).toContain(name);
    expect(fields).toContain('priority');
    expect(post.responses['503'].description).toContain('default_unavailable');
    // A value that is missing.
    const { input } = post.requestBody.content['application/json'].schema.properties;
    expect(JSON.stringify(input)).toMatch(
      /"items":\{[^}]*"type":("null"|\["number","null"\]|"number"\},\{"type":"null")/,
    );
  });

  it('says how large a batch may be on this server', async () => {
    const harness = await FrontendHarness.start({ maxBatchInputs: 7 });
    const { json } = await harness.send('/openapi.json', { method: 'GET' });
    await harness.close();
    const { post } = (json as { paths: Record<string, { post: Predict }> }).paths['/{application}/predict'];
    const { input_batch: batch } = post.requestBody.content['application/json'].schema.properties;
    expect(batch).toMatchObject({ maxItems: 7 });
  });

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
        const others = path.endsWith('/ready') ? 503 : /\/(un)?load$/.test(path) ? 501 : 400;
        expect([200, others], `${method} ${path}`).toContain(status);
      }
    }
    expect(Object.keys(paths)).toContain('/{application}/update');
    await harness.close();
  });
});
