import type { Dim3, LoadedModule } from '../executor/index.js';
import type { DeviceProfile, LaunchRequest } from '../gpu/index.js';
import type { LaunchCommand } from './launchClasses.js';

interface Kept {
  readonly module: LoadedModule;
  readonly profile: DeviceProfile;
  readonly request: LaunchRequest;
}

/**
 * Requests of launches that their kernel, shape and card decide alone, where nothing is executed: whoever launches the same
 * again mostly sends the same object of arguments, and gets the same request.
 */
export class KeptRequests {
  private readonly byArguments = new WeakMap<LaunchCommand['args'], Kept>();

  find(
    { args, context }: LaunchCommand,
    module: LoadedModule,
    profile: DeviceProfile,
    priority: number,
  ): LaunchRequest | undefined {
    const kept = this.byArguments.get(args);
    if (kept === undefined) return undefined;
    const { request } = kept;
    const { shape } = request;
    // Whoever sent the arguments may have changed them since.
    const isSame =
      kept.module === module &&
      kept.profile === profile &&
      request.context === context &&
      request.module === args.module &&
      request.kernel === args.kernel &&
      request.priority === priority &&
      request.params === args.params &&
      shape.dynamicSharedBytes === args.dynamicSharedBytes &&
      isEqual(shape.grid, args.grid) &&
      isEqual(shape.block, args.block) &&
      isPlain(args);
    return isSame ? request : undefined;
  }

  keep({ args }: LaunchCommand, module: LoadedModule, profile: DeviceProfile, request: LaunchRequest): void {
    if (isPlain(args)) this.byArguments.set(args, { module, profile, request });
  }
}

/** Neither the contents of its parameters nor controls have a say. */
function isPlain({ params, controls, cooperative, cluster }: LaunchCommand['args']): boolean {
  return params.length === 0 && controls === undefined && cooperative !== true && cluster === undefined;
}

function isEqual(a: Dim3, b: Dim3): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
}
