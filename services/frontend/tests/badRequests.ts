import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ERROR_CATALOGUE, type ErrorCode } from '../../errors/index.js';
import { FrontendHarness, type SendOptions } from './harness.js';

/** One kind of bad request: what is sent, and the error that answers it. */
export interface BadRequest extends SendOptions {
  readonly what: string;
  readonly path: string;
  readonly code: ErrorCode;
  readonly field?: string;
}

/** Sends bad requests and holds the frontend to their answers. @param more tests on the same frontend */
export function describeBadRequests(
  subject: string,
  requests: readonly BadRequest[],
  more?: (harness: () => FrontendHarness) => void,
): void {
  describe(subject, () => {
    let harness: FrontendHarness;
    let connection: number | undefined;

    beforeAll(async () => {
      harness = await FrontendHarness.start({ maxBodyBytes: 9000 });
      connection = (await harness.predict('doubles', { input: [1] })).localPort;
    });
    beforeEach(() => {
      harness.service.queries.length = 0;
      harness.service.feedback.length = 0;
    });
    afterAll(() => harness.close());

    it.each(requests)('$what → $code', async ({ path, method, body, headers, code, field }) => {
      const answer = await harness.send(path, { method, body, headers });
      expect(answer.status).toBe(ERROR_CATALOGUE[code].status);
      const { error } = answer.json as { error: { code: string; message: string; field?: string } };
      expect(error.code).toBe(code);
      expect(error.message.length).toBeGreaterThan(5);
      if (field !== undefined) expect(error.field).toBe(field);
      if (code === 'method_not_allowed') expect(answer.headers.allow).toMatch(/^(POST|GET, HEAD)$/);
      expect(harness.service.queries).toEqual([]);
      expect(harness.service.feedback).toEqual([]);

      // Nothing else is disturbed, and the connection goes on.
      const next = await harness.predict('doubles', { input: [1, 2] });
      expect(next.status).toBe(200);
      expect(next.localPort).toBe(connection);
    });

    more?.(() => harness);
  });
}
