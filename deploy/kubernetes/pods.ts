import type { IContainer, IPodSpec, IProbe, ServiceAccount } from 'kubernetes-models/v1';
import {
  CONFIGURATION_FOLDER,
  DATA_FOLDER,
  NODE_PORT,
  QUERY_PORT,
  SECRETS_FOLDER,
  TERMINATION_SECONDS,
} from './configuration.js';

/** Of deploy/Dockerfile; put your registry before it. */
const IMAGE = 'windjammer:0.1.0';
/** The image's own user. */
const USER = 65_532;
const SECRET = 'windjammer';

export function labelsOf(component?: string): Record<string, string> {
  return {
    'app.kubernetes.io/name': 'windjammer',
    ...(component === undefined ? {} : { 'app.kubernetes.io/component': component }),
  };
}

const fromSecret = (name: string, key: string) => ({
  name,
  valueFrom: { secretKeyRef: { name: SECRET, key } },
});
const fromPod = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });

const CONFIGURATION_VARIABLE = {
  name: 'WINDJAMMER_CONFIG',
  value: `${CONFIGURATION_FOLDER}/windjammer.yaml`,
};

export function frontendPod(account: ServiceAccount): IPodSpec {
  const asked = (path: string): IProbe => ({ httpGet: { path, port: 'http' } });
  return pod(
    account,
    'frontend',
    {
      name: 'frontend',
      args: ['serve'],
      env: [CONFIGURATION_VARIABLE, fromSecret('WINDJAMMER_STORE', 'redis-url')],
      ports: [{ name: 'http', containerPort: QUERY_PORT }],
      startupProbe: { ...asked('/healthz'), periodSeconds: 2, failureThreshold: 60 },
      readinessProbe: { ...asked('/readyz'), periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 1 },
      livenessProbe: { ...asked('/healthz'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
      resources: { requests: { cpu: '1', memory: '512Mi' }, limits: { memory: '1Gi' } },
    },
    // Feedback of a frontend that Redis cannot take waits there: it goes with the pod.
    [{ name: 'data', emptyDir: { sizeLimit: '1Gi' } }],
  );
}

/** @param service by which its name resolves */
export function nodePod(account: ServiceAccount, service: string): IPodSpec {
  const dialled: IProbe = { tcpSocket: { port: 'node' } };
  return pod(
    account,
    'node',
    {
      name: 'node',
      args: ['node', '--name', '$(POD_NAME)', '--advertise', `$(POD_NAME).${service}:${NODE_PORT}`],
      env: [
        CONFIGURATION_VARIABLE,
        fromPod('POD_NAME', 'metadata.name'),
        fromSecret('WINDJAMMER_JOIN', 'redis-url'),
      ],
      ports: [{ name: 'node', containerPort: NODE_PORT }],
      startupProbe: { ...dialled, periodSeconds: 2, failureThreshold: 60 },
      readinessProbe: { ...dialled, periodSeconds: 5 },
      livenessProbe: { ...dialled, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
      resources: { requests: { cpu: '2', memory: '1Gi' }, limits: { memory: '4Gi' } },
    },
    [],
  );
}

function pod(
  account: ServiceAccount,
  component: string,
  container: IContainer,
  volumes: NonNullable<IPodSpec['volumes']>,
): IPodSpec {
  return {
    serviceAccountName: account.metadata?.name ?? '',
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: TERMINATION_SECONDS,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      fsGroup: USER,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels: labelsOf(component) },
      },
    ],
    containers: [
      {
        ...container,
        image: IMAGE,
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [
          { name: 'configuration', mountPath: CONFIGURATION_FOLDER, readOnly: true },
          { name: 'secrets', mountPath: SECRETS_FOLDER, readOnly: true },
          { name: 'data', mountPath: DATA_FOLDER },
          { name: 'tmp', mountPath: '/tmp' },
        ],
      },
    ],
    volumes: [
      { name: 'configuration', configMap: { name: 'windjammer' } },
      {
        name: 'secrets',
        secret: {
          secretName: SECRET,
          defaultMode: 0o440,
          items: [{ key: 'cluster-key', path: 'cluster-key' }],
        },
      },
      { name: 'tmp', emptyDir: { sizeLimit: '1Gi' } },
      ...volumes,
    ],
  };
}
