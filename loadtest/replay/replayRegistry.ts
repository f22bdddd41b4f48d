import type { InputForm } from '../../containers/protocol/index.js';
import {
  inputFormOf,
  type ApplicationRecord,
  type ModelRecord,
  type RegistryView,
} from '../../services/registry/index.js';
import type { ReplayedApplication, ReplayedModel } from './replaySettings.js';

/** The applications and models of one replay; nothing changes while it runs. */
export class ReplayRegistry implements RegistryView {
  private readonly applicationsByName: ReadonlyMap<string, ReplayedApplication>;
  private readonly modelsByName: ReadonlyMap<string, ModelRecord>;

  constructor(applications: readonly ReplayedApplication[], models: readonly ReplayedModel[]) {
    this.applicationsByName = new Map(applications.map((one) => [one.record.name, one]));
    this.modelsByName = new Map(models.map(({ record }) => [record.name, record]));
  }

  application(name: string): ApplicationRecord | undefined {
    return this.applicationsByName.get(name)?.record;
  }

  applications(): readonly ApplicationRecord[] {
    return [...this.applicationsByName.values()].map(({ record }) => record);
  }

  linkedModels(application: string): readonly ModelRecord[] {
    const names = this.applicationsByName.get(application)?.models ?? [];
    return names.flatMap((name) => this.modelsByName.get(name) ?? []);
  }

  model(name: string, version: string): ModelRecord | undefined {
    const model = this.modelsByName.get(name);
    return model?.version === version ? model : undefined;
  }

  models(): readonly ModelRecord[] {
    return [...this.modelsByName.values()];
  }

  currentVersion(name: string): string | undefined {
    return this.modelsByName.get(name)?.version;
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
