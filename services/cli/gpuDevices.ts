import type { Command } from 'commander';
import type { DeviceProfile, ResolvedCard, SourcedFigure } from '../../simulator/gpu/index.js';
import { CommandError } from './commandError.js';
import { print, table } from './printing.js';

const UNMEASURED =
  'Nothing was measured on a card marked "no": its times follow from public figures and from the measured cards.';

export function addGpuDevicesCommand(gpu: Command): void {
  gpu
    .command('devices')
    .description('list the cards that can be simulated, or print one with its figures and their sources')
    .argument('[card]', 'a name from the list, or a JSON file of your own')
    .option('--json', 'print it as JSON; of one card, in the form of a file that can be changed and used')
    .action(showDevices);
}

async function showDevices(device: string | undefined, { json }: { json?: boolean }): Promise<void> {
  // Loaded when it is needed: the other commands start without the simulator.
  const { GpuError, PROFILE_NAMES, cardJson, cardNamed, findCard } =
    await import('../../simulator/gpu/index.js');
  if (device === undefined) {
    const profiles = PROFILE_NAMES.map((name) => cardNamed(name).profile);
    print(json, profiles.map(summary), `${listText(profiles)}\n\n${UNMEASURED}`);
    return;
  }
  let card: ResolvedCard;
  try {
    card = findCard(device, '.');
  } catch (error) {
    if (error instanceof GpuError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
  if (json === true) process.stdout.write(`${JSON.stringify(cardJson(card), null, 2)}\n`);
  else process.stdout.write(`${cardText(card)}\n`);
}

interface Summary {
  readonly name: string;
  readonly productName: string;
  readonly description: string;
  readonly measured: boolean;
  readonly sms: number;
  readonly clockHz: number;
  readonly float32FlopsPerSecond: number;
  readonly float64FlopsPerSecond: number;
  readonly memoryBytes: number;
  readonly memoryBytesPerSecond: number;
  readonly powerLimitWatts: number;
}

function summary(profile: DeviceProfile): Summary {
  const { name, productName, description, measured, sms, clockHz, warpSize, timing, memory, power } = profile;
  const flops = 2 * warpSize * sms * clockHz;
  return {
    name,
    productName,
    description,
    measured,
    sms,
    clockHz,
    float32FlopsPerSecond: flops * timing.float32PerCycle,
    float64FlopsPerSecond: flops * timing.float64PerCycle,
    memoryBytes: memory.declaredBytes,
    memoryBytesPerSecond: memory.declaredBytesPerSecond,
    powerLimitWatts: power.limitWatts,
  };
}

function listText(profiles: readonly DeviceProfile[]): string {
  return table(
    ['NAME', 'MEASURED', 'SMS', 'MHZ', 'FP32 TFLOP/S', 'FP64', 'GB', 'GB/S', 'W', ''],
    profiles
      .map(summary)
      .map((card) => [
        card.name,
        card.measured ? 'yes' : 'no',
        String(card.sms),
        (card.clockHz / 1e6).toFixed(0),
        (card.float32FlopsPerSecond / 1e12).toFixed(1),
        (card.float64FlopsPerSecond / 1e12).toFixed(1),
        (card.memoryBytes / 1e9).toFixed(1),
        (card.memoryBytesPerSecond / 1e9).toFixed(0),
        String(card.powerLimitWatts),
        card.description,
      ]),
  );
}

function cardText({ profile, figures }: ResolvedCard): string {
  const { name, description, measured } = profile;
  const head = `${name}: ${description}\n${
    measured
      ? 'Its times were fitted on and held against a card of this type.'
      : 'Nothing was measured on this card: its times follow from public figures and from measured cards.'
  }`;
  const rows = figures.map((figure) => [figure.path, valueText(figure.value), sourceText(figure)]);
  return `${head}\n\n${table(['FIGURE', 'VALUE', 'SOURCE'], rows)}`;
}

function valueText(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  const items = value as readonly unknown[];
  return items.map((item) => (Array.isArray(item) ? item.join(':') : String(item))).join(' ');
}

function sourceText({ source, note }: SourcedFigure): string {
  return `${source.kind}: ${source.text}${note === undefined ? '' : ` - ${note}`}`;
}
