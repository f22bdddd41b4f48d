import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import type { IPodSpec } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { packageRoot } from '../../simulator/files/index.js';
import { CONFIGURATION, TERMINATION_SECONDS } from './configuration.js';
import { FILES, manifestTexts, QUEUEING_METRIC } from './manifests.js';

const FOLDER = join(packageRoot(), 'deploy/kubernetes');

const workloads = Object.values(FILES)
  .flatMap(({ objects }) => objects)
  .filter((one) => one instanceof Deployment || one instanceof StatefulSet);
const pods = workloads.map(
  ({ spec }) => (spec as { readonly template: { readonly spec: IPodSpec } }).template.spec,
);

describe('deploy/kubernetes', () => {
  it('has what the code makes', () => {
    const texts = manifestTexts();
    for (const [name, text] of Object.entries(texts))
      expect(readFileSync(join(FOLDER, name), 'utf8'), 'run writeManifests.ts').toBe(text);
    expect(
      readdirSync(FOLDER)
        .filter((name) => name.endsWith('.yaml'))
        .sort(),
    ).toEqual(Object.keys(texts).sort());
  });

  it("is what Kubernetes' schemas say", () => {
    for (const { objects } of Object.values(FILES))
      for (const object of objects) expect(() => object.validate()).not.toThrow();
    const wrong = { metadata: { name: 'x' }, spec: { replicas: 'two' } } as never;
    expect(() => new Deployment(wrong).validate()).toThrow(/replicas/);
  });

  it('is YAML, an object a document, each with a name and the labels by which it is found', () => {
    for (const name of Object.keys(FILES)) {
      const documents = parseAllDocuments(readFileSync(join(FOLDER, name), 'utf8'));
      expect(documents).toHaveLength(FILES[name].objects.length);
      for (const document of documents)
        expect(document.toJS()).toMatchObject({
          metadata: { labels: { 'app.kubernetes.io/name': 'windjammer' } },
        });
    }
  });

  it('gives drains their time, and endpoints theirs', () => {
    const { serve, node } = CONFIGURATION;
    for (const { terminationGracePeriodSeconds: seconds } of pods) expect(seconds).toBe(TERMINATION_SECONDS);
    expect(TERMINATION_SECONDS * 1000).toBeGreaterThan(serve['drain-notice-ms'] + serve['drain-grace-ms']);
    expect(TERMINATION_SECONDS * 1000).toBeGreaterThan(node['drain-notice-ms'] + node['drain-grace-ms']);
  });

  it('runs without rights, on roots that are read-only', () => {
    for (const { securityContext, containers } of pods) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true });
      for (const container of containers)
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
    }
  });

  it('scales by a metric that the server has', () => {
    // A test holds that page to the server.
    const metrics = readFileSync(join(packageRoot(), 'docs/reference/metrics.md'), 'utf8');
    expect(metrics).toContain(`| \`${QUEUEING_METRIC}\` | histogram | seconds |`);
  });
});
