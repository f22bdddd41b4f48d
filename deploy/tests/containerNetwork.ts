import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { installDebianPackage } from '../../simulator/files/tests/debianPackage.js';

const ip = (...words: readonly string[]): string => execFileSync('ip', words, { encoding: 'utf8' });

/** A network of this machine alone: a bridge, on which each container has a network namespace and an address. */
export class ContainerNetwork {
  private readonly addresses = new Map<string, string>();
  private readonly bridge: string;
  private readonly subnet: string;

  constructor() {
    installDebianPackage('iproute2', () => existsSync('/usr/sbin/ip') || existsSync('/bin/ip'));
    this.bridge = `wj${process.pid}`;
    this.subnet = freeSubnet();
    ip('link', 'add', 'name', this.bridge, 'type', 'bridge');
    ip('address', 'add', `${this.gateway}/24`, 'dev', this.bridge);
    ip('link', 'set', this.bridge, 'up');
  }

  /** Where this process is, as containers see it. */
  get gateway(): string {
    return `${this.subnet}.1`;
  }

  /** The address of a container, which it keeps when it is started again. */
  address(name: string): string {
    const before = this.addresses.get(name);
    if (before !== undefined) return before;
    const number = this.addresses.size + 2;
    const address = `${this.subnet}.${number}`;
    this.addresses.set(name, address);
    const space = this.namespace(name);
    const line = `${this.bridge}.${number}`;
    ip('netns', 'add', space);
    ip('link', 'add', 'name', line, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space);
    ip('link', 'set', line, 'master', this.bridge, 'up');
    ip('-n', space, 'address', 'add', `${address}/24`, 'dev', 'eth0');
    ip('-n', space, 'link', 'set', 'eth0', 'up');
    ip('-n', space, 'link', 'set', 'lo', 'up');
    return address;
  }

  /** The file of a container's namespace. */
  namespaceFile(name: string): string {
    this.address(name);
    return `/run/netns/${this.namespace(name)}`;
  }

  close(): void {
    for (const name of this.addresses.keys()) ip('netns', 'delete', this.namespace(name));
    ip('link', 'delete', this.bridge);
  }

  private namespace(name: string): string {
    return `${this.bridge}-${name}`;
  }
}

/** One that no interface of this machine has. */
function freeSubnet(): string {
  const taken = ip('-o', 'address');
  for (let number = process.pid % 256; ; number = (number + 1) % 256) {
    const subnet = `10.201.${number}`;
    if (!taken.includes(` ${subnet}.`)) return subnet;
  }
}
