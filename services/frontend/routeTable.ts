import type { ApplicationRecord, RegistryView } from '../registry/index.js';

/** What the hot routes need of an application, looked up once a change instead of once a query. */
export interface ApplicationRoute {
  readonly application: ApplicationRecord;
  /** Elements that the linked models take; undefined when they take any number, or none is linked. */
  readonly inputLength: number | undefined;
}

/** Applications by name. A Map, so that no name reaches an object's prototype. */
export class RouteTable {
  private readonly routes = new Map<string, ApplicationRoute>();
  private readonly unwatch: () => void;

  constructor(private readonly registry: RegistryView) {
    this.rebuild();
    this.unwatch = registry.watch(() => this.rebuild());
  }

  find(name: string): ApplicationRoute | undefined {
    return this.routes.get(name);
  }

  close(): void {
    this.unwatch();
  }

  private rebuild(): void {
    this.routes.clear();
    for (const application of this.registry.applications()) {
      const linked = this.registry.linkedModels(application.name);
      const inputLength = linked.find((model) => model.inputLength !== undefined)?.inputLength;
      this.routes.set(application.name, { application, inputLength });
    }
  }
}
