import type { ExecutorLaunch } from '../executor/index.js';
import type { DeviceProfile } from '../gpu/index.js';
import type { IrFunction } from '../ptx/index.js';
import { LineTable } from './lineTable.js';
import type { CountedLaunch } from './profileLaunch.js';
import type { KernelListing, KernelProfile, LaunchProfile, ProfileReport } from './profileReport.js';
import { describeOccupancy } from './resources.js';
import { SourceFiles } from './sourceFiles.js';

/** Where a launch comes from. */
export interface LaunchOrigin {
  readonly spec: string;
  /** Text and name of its module, and the folder where its sources may lie. */
  readonly ptx: string;
  readonly ptxFile: string;
  readonly folder: string;
  readonly profile: DeviceProfile;
  readonly gpuTimeUs?: number;
  readonly dramBytes?: number;
}

interface KernelEntry {
  readonly kernel: IrFunction;
  readonly ptxFile: string;
  readonly lines: LineTable;
  readonly sources: SourceFiles;
  readonly launches: LaunchProfile[];
  readonly notes: Set<string>;
}

/** Gathers launches by kernel. */
export class KernelTable {
  private readonly entries = new Map<string, KernelEntry>();

  add(launch: ExecutorLaunch, counted: CountedLaunch, origin: LaunchOrigin): void {
    const { kernel, shape } = launch;
    const key = `${kernel.name}\n${origin.ptx}`;
    let entry = this.entries.get(key);
    if (entry === undefined) {
      entry = {
        kernel,
        ptxFile: origin.ptxFile,
        lines: new LineTable(kernel, origin.ptx),
        sources: new SourceFiles(origin.folder),
        launches: [],
        notes: new Set(),
      };
      this.entries.set(key, entry);
    }
    const { coverage, sink, fault, printed } = counted;
    if (sink.isDistinctPartial)
      entry.notes.add('distinct sectors and hottest addresses: only the first 4000000 were told apart');
    entry.launches.push({
      spec: origin.spec,
      kernel: kernel.name,
      grid: shape.grid,
      block: shape.block,
      dynamicSharedBytes: shape.dynamicSharedBytes,
      device: origin.profile.name,
      coverage,
      ...(origin.gpuTimeUs === undefined ? {} : { gpuTimeUs: origin.gpuTimeUs }),
      ...(origin.dramBytes === undefined ? {} : { dramBytes: origin.dramBytes }),
      occupancy: describeOccupancy(launch, origin.profile),
      totals: entry.lines.add(counted),
      barriersOpened: sink.barriers,
      ...(fault === undefined ? {} : { fault }),
      ...(printed === undefined ? {} : { printed }),
    });
  }

  report(): ProfileReport {
    const entries = [...this.entries.values()];
    return { kernels: entries.map(profileOf), listings: entries.map(listingOf) };
  }
}

function profileOf({ kernel, ptxFile, lines, sources, launches, notes }: KernelEntry): KernelProfile {
  return {
    kernel: kernel.name,
    ptxFile,
    launches,
    totals: lines.totals,
    mix: lines.mix,
    lines: lines.lines(),
    sourceLines: lines.bySource((file, line) => sources.line(file, line)),
    notes: [...notes],
  };
}

function listingOf({ lines, sources }: KernelEntry): KernelListing {
  return {
    ptx: lines.texts,
    sources: lines.sourceFiles().flatMap((file) => {
      const found = sources.lines(file);
      return found === undefined ? [] : [{ file, lines: found }];
    }),
  };
}
