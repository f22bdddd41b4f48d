import type { InputForm } from '../../containers/protocol/index.js';
import { commonInputForm, type ApplicationRecord, type RegistryView } from '../registry/index.js';

/** What the hot routes need of an application, looked up once a change instead of once a query. */
export interface ApplicationRoute {
  readonly application: ApplicationRecord;
  /** What the linked models take, as far as they have declared it. */
  readonly input: InputForm;
  /** What is known of an input for a version that the query names: it may take another than the current one, and the engine checks that. */
  readonly inputOfAnyVersion: InputForm;
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
      const { name, inputType: type } = application;
      const input = commonInputForm(
        type,
        this.registry.linkedModels(name).map((model) => this.registry.inputForm(model)),
      );
      this.routes.set(name, { application, input, inputOfAnyVersion: { type } });
    }
  }
}
