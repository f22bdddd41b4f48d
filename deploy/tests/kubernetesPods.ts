import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { IContainer, IPodSpec, IProbe } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import { packageRoot } from '../../simulator/files/index.js';
import { Container, type ContainerSpec, type Mount } from './container.js';
import type { ContainerNetwork } from './containerNetwork.js';
import type { Image } from './dockerImage.js';

interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: { readonly serviceName?: string; readonly template?: { readonly spec: IPodSpec } };
}

/** Pods of deploy/kubernetes/windjammer.yaml as a kubelet would start them. */
export class KubernetesPods {
  private readonly objects: readonly KubernetesObject[];
  readonly running = new Map<string, Container>();

  /** @param secret what the Secret has. @param hosts further names that pods resolve */
  constructor(
    private readonly folder: string,
    private readonly image: Image,
    private readonly network: ContainerNetwork,
    private readonly secret: Readonly<Record<string, string>>,
    private readonly hosts: Record<string, string>,
  ) {
    const text = readFileSync(join(packageRoot(), 'deploy/kubernetes/windjammer.yaml'), 'utf8');
    this.objects = parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
  }

  /** Names a pod of a Deployment or StatefulSet; those of a StatefulSet resolve by its Service, too. */
  expectPod(workload: string, name: string): void {
    const address = this.network.address(name);
    const service = this.workload(workload).spec?.serviceName;
    if (service !== undefined) this.hosts[`${name}.${service}`] = address;
  }

  address(pod: string, port: number): string {
    return `${this.network.address(pod)}:${port}`;
  }

  start(workload: string, pod: string): Container {
    const container = new Container(this.spec(workload, pod));
    this.running.set(pod, container);
    return container;
  }

  /** As a pod is deleted. @returns how it ended */
  async stop(pod: string): Promise<number | NodeJS.Signals | null> {
    const container = this.running.get(pod);
    if (container === undefined) throw new Error(`${pod} does not run`);
    this.running.delete(pod);
    return container.end('SIGTERM');
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.running.keys()].map((pod) => this.stop(pod)));
  }

  /** What a probe of the pod's container says, once. */
  async probe(workload: string, pod: string, kind: 'startupProbe' | 'readinessProbe'): Promise<boolean> {
    const container = this.running.get(pod);
    if (container === undefined || container.hasExited)
      throw new Error(`${pod} has ended: ${container?.errors}`);
    const [{ ports = [], [kind]: probe }] = this.podOf(workload).containers;
    const at = (name: string | number | undefined): number =>
      ports.find((port) => port.name === name)?.containerPort ?? Number(name);
    const url = probeUrl(probe, at);
    const check = ['node', '/app/deploy/healthCheck.cjs', url];
    return (await container.exec(check)).code === 0;
  }

  private workload(name: string): KubernetesObject {
    const found = this.objects.find(({ metadata, spec }) => metadata.name === name && spec?.template);
    if (found === undefined) throw new Error(`windjammer.yaml has no ${name}`);
    return found;
  }

  private podOf(workload: string): IPodSpec {
    const { spec } = this.workload(workload);
    if (spec?.template === undefined) throw new Error(`${workload} has no pods`);
    return spec.template.spec;
  }

  private spec(workload: string, pod: string): ContainerSpec {
    const podSpec = this.podOf(workload);
    const [container] = podSpec.containers;
    const { runAsUser: uid, runAsGroup: gid } = podSpec.securityContext ?? {};
    if (uid === undefined || gid === undefined) throw new Error(`${workload} has no user`);
    const environment = this.environment(container, pod);
    const expand = (text: string) =>
      text.replace(/\$\((\w+)\)/g, (whole, name: string) => environment[name] ?? whole);
    return {
      name: pod,
      root: this.image.root,
      isRootWritable: container.securityContext?.readOnlyRootFilesystem !== true,
      mounts: this.mounts(podSpec, container, pod, uid),
      environment: { ...this.image.environment, ...environment },
      workingDirectory: this.image.workingDirectory,
      user: { uid, gid },
      network: this.network,
      hosts: this.hosts,
      command: [...this.image.entrypoint, ...(container.args ?? []).map(expand)],
    };
  }

  private environment({ env = [] }: IContainer, pod: string): Record<string, string> {
    return Object.fromEntries(
      env.map(({ name, value, valueFrom }) => {
        if (value !== undefined) return [name, value];
        if (valueFrom?.secretKeyRef) return [name, this.secret[valueFrom.secretKeyRef.key]];
        if (valueFrom?.fieldRef?.fieldPath === 'metadata.name') return [name, pod];
        throw new Error(`${name} is from nowhere that is known here`);
      }),
    );
  }

  /** Volumes of the pod, and claims by the name of the mount. */
  private mounts(
    { volumes = [] }: IPodSpec,
    { volumeMounts = [] }: IContainer,
    pod: string,
    owner: number,
  ): readonly Mount[] {
    return volumeMounts.map(({ name, mountPath, readOnly }) => {
      const volume = volumes.find((one) => one.name === name);
      const from = join(this.folder, 'pods', pod, name);
      mkdirSync(from, { recursive: true });
      const files =
        volume?.configMap !== undefined
          ? (this.objects.find(
              ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === volume.configMap?.name,
            )?.data ?? {})
          : Object.fromEntries(
              (volume?.secret?.items ?? []).map(({ key, path }) => [path, this.secret[key]]),
            );
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(dirname(join(from, file)), { recursive: true });
        writeFileSync(join(from, file), text);
      }
      chownSync(from, owner, owner);
      return { path: mountPath, from, isWritable: readOnly !== true };
    });
  }
}

function probeUrl(probe: IProbe | undefined, at: (port: string | number | undefined) => number): string {
  if (probe?.httpGet !== undefined) return `http://127.0.0.1:${at(probe.httpGet.port)}${probe.httpGet.path}`;
  if (probe?.tcpSocket !== undefined) return `tcp://127.0.0.1:${at(probe.tcpSocket.port)}`;
  throw new Error('there is no such probe');
}
