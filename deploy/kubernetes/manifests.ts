import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Secret, Service, ServiceAccount } from 'kubernetes-models/v1';
import { stringify } from 'yaml';
import { CONFIGURATION, NODE_PORT, QUERY_PORT } from './configuration.js';
import { frontendPod, labelsOf, nodePod } from './pods.js';

/** What every object of ours can do: be held to Kubernetes' schemas, and be written. */
export interface Manifest {
  validate(): void;
  toJSON(): unknown;
}

/** The mean time that a batch's oldest input has waited: what more nodes make shorter. */
export const QUEUEING_METRIC = 'windjammer_batch_queue_seconds';
/** In seconds, as Kubernetes writes them: 5 ms. */
const QUEUEING_TARGET = '5m';

/** One may be restarted, or lost. With autoscalers, leave it to them: they begin at that, too. */
const FEWEST = 2;

const NAME = 'windjammer';
const NODES = 'windjammer-nodes';
const metadata = (name: string, component?: string) => ({ name, labels: labelsOf(component) });

const account = new ServiceAccount({ metadata: metadata(NAME), automountServiceAccountToken: false });

const configuration = new ConfigMap({
  metadata: metadata(NAME),
  data: { 'windjammer.yaml': stringify(CONFIGURATION, { singleQuote: true }) },
});

const frontendService = new Service({
  metadata: metadata(NAME, 'frontend'),
  spec: {
    selector: labelsOf('frontend'),
    ports: [{ name: 'http', port: QUERY_PORT, targetPort: 'http' }],
  },
});

/** Names for the single nodes, by which frontends dial them, also while they are not ready: that is for frontends to find out. */
const nodeService = new Service({
  metadata: metadata(NODES, 'node'),
  spec: {
    clusterIP: 'None',
    publishNotReadyAddresses: true,
    selector: labelsOf('node'),
    ports: [{ name: 'node', port: NODE_PORT, targetPort: 'node' }],
  },
});

const frontends = new Deployment({
  metadata: metadata('windjammer-frontend', 'frontend'),
  spec: {
    replicas: FEWEST,
    selector: { matchLabels: labelsOf('frontend') },
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    template: { metadata: { labels: labelsOf('frontend') }, spec: frontendPod(account) },
  },
});

const nodes = new StatefulSet({
  metadata: metadata('windjammer-node', 'node'),
  spec: {
    serviceName: NODES,
    replicas: FEWEST,
    selector: { matchLabels: labelsOf('node') },
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'RollingUpdate' },
    // A node that has come back gets replicas after 5 s, one at a time: until then the others have all of them.
    minReadySeconds: 20,
    template: { metadata: { labels: labelsOf('node') }, spec: nodePod(account, NODES) },
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '2Gi' } } },
      },
    ],
  },
});

const frontendBudget = new PodDisruptionBudget({
  metadata: metadata('windjammer-frontend', 'frontend'),
  spec: { minAvailable: 1, selector: { matchLabels: labelsOf('frontend') } },
});

const nodeBudget = new PodDisruptionBudget({
  metadata: metadata('windjammer-node', 'node'),
  spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf('node') } },
});

const frontendScaling = new HorizontalPodAutoscaler({
  metadata: metadata('windjammer-frontend', 'frontend'),
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'windjammer-frontend' },
    minReplicas: FEWEST,
    maxReplicas: 10,
    metrics: [
      {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } },
      },
    ],
  },
});

const nodeScaling = new HorizontalPodAutoscaler({
  metadata: metadata('windjammer-node', 'node'),
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'windjammer-node' },
    minReplicas: FEWEST,
    maxReplicas: 10,
    metrics: [
      {
        type: 'External',
        external: { metric: { name: QUEUEING_METRIC }, target: { type: 'Value', value: QUEUEING_TARGET } },
      },
    ],
    // Replicas move one after the other, each once another one answers.
    behavior: {
      scaleDown: {
        stabilizationWindowSeconds: 600,
        policies: [{ type: 'Pods', value: 1, periodSeconds: 120 }],
      },
    },
  },
});

/** Whoever can dial a node and has the key runs programs on it. */
const nodePolicy = new NetworkPolicy({
  metadata: metadata('windjammer-node', 'node'),
  spec: {
    podSelector: { matchLabels: labelsOf('node') },
    policyTypes: ['Ingress'],
    ingress: [
      {
        from: [{ podSelector: { matchLabels: labelsOf('frontend') } }],
        ports: [{ protocol: 'TCP', port: NODE_PORT }],
      },
    ],
  },
});

/** Queries and metrics; management is on loopback, for `kubectl exec`. */
const frontendPolicy = new NetworkPolicy({
  metadata: metadata('windjammer-frontend', 'frontend'),
  spec: {
    podSelector: { matchLabels: labelsOf('frontend') },
    policyTypes: ['Ingress'],
    ingress: [{ ports: [{ protocol: 'TCP', port: QUERY_PORT }] }],
  },
});

const monitor = new ServiceMonitor({
  metadata: metadata(NAME),
  spec: {
    selector: { matchLabels: labelsOf('frontend') },
    endpoints: [{ port: 'http', path: '/metrics', interval: '15s' }],
  },
});

const exampleSecret = new Secret({
  metadata: metadata(NAME),
  type: 'Opaque',
  stringData: {
    'cluster-key': 'the output of: openssl rand -hex 32',
    'redis-url': 'redis://:PASSWORD@redis:6379',
  },
});

const rate = (series: string) => `rate(${QUEUEING_METRIC}_${series}{<<.LabelMatchers>>}[2m])`;

/** How prometheus-adapter makes the external metric out of Prometheus': values of its Helm chart. */
const ADAPTER = {
  rules: {
    external: [
      {
        seriesQuery: `${QUEUEING_METRIC}_count`,
        resources: { namespaced: false },
        name: { matches: '_count$', as: '' },
        // Without queries there is no delay.
        metricsQuery: `sum(${rate('sum')}) / (sum(${rate('count')}) > 0) or vector(0)`,
      },
    ],
  },
};

/** Each file, and what is in it. */
export const FILES: Readonly<
  Record<string, { readonly head: string; readonly objects: readonly Manifest[] }>
> = {
  'windjammer.yaml': {
    head: 'Frontends and nodes, which need a Redis and the Secret of secret.example.yaml.',
    objects: [
      ...[account, configuration, frontendService, nodeService, frontends, nodes],
      ...[frontendBudget, nodeBudget, frontendPolicy, nodePolicy],
    ],
  },
  'scaling.yaml': {
    head: `Needs the metrics server for the frontends, and for the nodes ${QUEUEING_METRIC} as an external metric, as prometheus-adapter makes it with prometheus-adapter.values.yaml.`,
    objects: [frontendScaling, nodeScaling],
  },
  'monitoring.yaml': {
    head: "Needs the Prometheus operator's ServiceMonitor.",
    objects: [monitor],
  },
  'secret.example.yaml': {
    head: 'What the Secret has. Make your own: kubectl create secret generic windjammer --from-file=cluster-key --from-file=redis-url',
    objects: [exampleSecret],
  },
};

/** The text of each file. */
export function manifestTexts(): Readonly<Record<string, string>> {
  const made = '# Made by deploy/kubernetes/writeManifests.ts: change that.\n';
  const texts = Object.entries(FILES).map(([name, { head, objects }]) => {
    const documents = objects.map((object) =>
      stringify(object.toJSON(), { lineWidth: 0, singleQuote: true }),
    );
    return [name, `${made}# ${head}\n${documents.join('---\n')}`] as const;
  });
  const adapter = `${made}# helm install adapter prometheus-community/prometheus-adapter --values prometheus-adapter.values.yaml\n${stringify(ADAPTER, { lineWidth: 0, singleQuote: true })}`;
  return { ...Object.fromEntries(texts), 'prometheus-adapter.values.yaml': adapter };
}
