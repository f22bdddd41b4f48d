import type { InputForm } from '../../containers/protocol/index.js';
import {
  inputFormOf,
  type ApplicationRecord,
  type ModelRecord,
  type RegistryView,
} from '../../services/registry/index.js';

/** A registry that never changes: one application and its linked models. */
export class FixedRegistry implements RegistryView {
  constructor(
    private readonly only: ApplicationRecord,
    private readonly linked: readonly ModelRecord[],
  ) {}

  application(name: string): ApplicationRecord | undefined {
    return name === this.only.name ? this.only : undefined;
  }

  applications(): readonly ApplicationRecord[] {
    return [this.only];
  }

  linkedModels(application: string): readonly ModelRecord[] {
    return application === this.only.name ? this.linked : [];
  }

  model(name: string, version: string): ModelRecord | undefined {
    return this.linked.find((model) => model.name === name && model.version === version);
  }

  models(): readonly ModelRecord[] {
    return this.linked;
  }

  currentVersion(name: string): string | undefined {
    return this.linked.find((model) => model.name === name)?.version;
  }

  canary(): undefined {
    return undefined;
  }

  inputForm(model: ModelRecord): InputForm {
    return inputFormOf(model);
  }

  isFormKnown(): boolean {
    return true;
  }

  watch(): () => void {
    return () => undefined;
  }
}
