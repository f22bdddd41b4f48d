import { join } from 'node:path';
import { RefusedError } from '../../../services/client/index.js';
import { packageRoot } from '../../../simulator/files/index.js';
import { echoTag } from '../echoAnswers.js';
import { ECHO, SCALE } from '../expectations.js';
import { compiled } from '../probed.js';
import type { Change } from './registry.js';

/** Longer than it takes to find that a node is silent and to ask another one. */
export const OBJECTIVE_US = 5_000_000;
/** Arms of applications that learn: constants. */
export const ARMS = ['m1', 'm2'] as const;

type AddModelFields = Parameters<Parameters<Change['make']>[0]['management']['addModel']>[0];

export function addApplication(name: string, inputType: 'doubles' | 'floats', learns = false): Change {
  return {
    what: `add_app ${name}`,
    isMade: ['application_exists'],
    make: ({ management }) =>
      management.addApplication({
        name,
        input_type: inputType,
        default_output: '"none"',
        latency_slo_micros: OBJECTIVE_US,
        // Every feedback that UCB1 learns counts one judgement of one arm, for ever.
        ...(learns ? { policy: { name: 'ucb1', parameters: { memory: null } } } : {}),
      }),
    isSeen: async ({ management }) => (await management.applications()).some((one) => one.name === name),
  };
}

export function deleteApplication(name: string): Change {
  return {
    what: `delete_app ${name}`,
    isMade: ['unknown_application'],
    make: ({ management }) => management.deleteApplication(name),
    isSeen: async ({ management }) => (await management.applications()).every((one) => one.name !== name),
  };
}

export function addConstant(name: string): Change {
  return addModel({
    model_name: name,
    model_version: '1',
    input_type: 'doubles',
    container_name: 'windjammer/constant',
    output: JSON.stringify(name),
  });
}

/** Two inputs that follow from each other: a kernel. */
export function addScale(replicas: number): Change {
  return addModel({
    model_name: SCALE,
    model_version: '1',
    input_type: 'floats',
    container_name: 'windjammer/kernel-model',
    model_data_path: join(packageRoot(), 'containers/runtime/tests/scaleModel'),
    num_replicas: replicas,
  });
}

export function addEcho(version: number): Change {
  return addModel({
    model_name: ECHO,
    model_version: `${version}`,
    input_type: 'doubles',
    container_name: 'windjammer/process',
    model_data_path: compiled(`soak/${echoTag(version)}Echo.js`),
    num_replicas: 2,
  });
}

function addModel(fields: AddModelFields): Change {
  const { model_name: name, model_version: version } = fields;
  return {
    what: `add_model ${name} ${version}`,
    isMade: ['model_exists'],
    make: ({ management }) => management.addModel(fields),
    // That it is the current one comes with a change of its own.
    isSeen: async ({ management }) =>
      (await modelOrNone(management.model(name, version)))?.is_current_version === true,
  };
}

export function deleteModel(name: string, version: string): Change {
  return {
    what: `delete_versioned_model ${name} ${version}`,
    isMade: ['unknown_model'],
    // The one that answers until the current one is up.
    passes: ['version_in_use'],
    make: ({ management }) => management.deleteModel(name, version),
    isSeen: async ({ management }) => (await modelOrNone(management.model(name, version))) === undefined,
  };
}

export function setVersion(name: string, version: string): Change {
  return {
    what: `set_model_version ${name} ${version}`,
    isMade: [],
    make: ({ management }) => management.setModelVersion(name, version),
    isSeen: async ({ management }) => (await management.model(name, version)).is_current_version,
  };
}

export function setReplicas(name: string, version: string, replicas: number): Change {
  return {
    what: `set_num_replicas ${name} ${version} ${replicas}`,
    isMade: [],
    // Room of a node that has just come is not known before it has said what it has.
    passes: ['insufficient_gpu_memory'],
    make: ({ management }) =>
      management.setReplicas({ model_name: name, model_version: version, num_replicas: replicas }),
    isSeen: async ({ management }) => (await management.model(name, version)).num_replicas === replicas,
  };
}

export function link(application: string, models: readonly string[]): Change {
  return {
    what: `add_model_links ${application} ${models.join(' ')}`,
    isMade: ['link_exists'],
    make: ({ management }) => management.addLinks(application, models),
    isSeen: async ({ management }) => (await management.linkedModels(application)).length === models.length,
  };
}

export function unlink(application: string, models: readonly string[]): Change {
  return {
    what: `delete_model_links ${application} ${models.join(' ')}`,
    isMade: ['unknown_link'],
    make: ({ management }) => management.deleteLinks(application, models),
    isSeen: async ({ management }) => (await management.linkedModels(application)).length === 0,
  };
}

export function drain(node: string, isDrained: boolean): Change {
  return {
    what: `${isDrained ? 'drain' : 'undrain'}_node ${node}`,
    isMade: [],
    make: ({ management }) => management.drainNode(node, isDrained),
    isSeen: async ({ management }) =>
      (await management.clusterStatus()).nodes.find(({ name }) => name === node)?.cordoned === isDrained,
  };
}

/** @returns undefined of a model that there is not */
async function modelOrNone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof RefusedError && error.code === 'unknown_model') return undefined;
    throw error;
  }
}
