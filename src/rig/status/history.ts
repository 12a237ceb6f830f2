/** Hashrates, verdicts, temperatures and electric power of the last 24 hours, recorded in steps of ten seconds. */

import { type Clock, wallMs } from '../../base/system/clock.ts';
import type { HistoryAnswer } from '../http/api-answers.ts';
import { inService } from './figures.ts';
import type { DeviceStatus } from './status.ts';
import type { Tally } from './tally.ts';

const STEP_MS = 10_000;
const HOUR_MS = 3_600_000;
const STEPS = (24 * HOUR_MS) / STEP_MS;
/** Maximum number of points in an answer. A chart could not show more. */
const MOST_POINTS = 720;

type Range = HistoryAnswer['range'];
const RANGES_MS: Readonly<Record<Range, number>> = { '10m': HOUR_MS / 6, '1h': HOUR_MS, '24h': 24 * HOUR_MS };

const COUNTS = ['accepted', 'rejected', 'stale'] as const;
type Count = (typeof COUNTS)[number];
const KINDS = ['blocks', 'shares'] as const;
type Kind = (typeof KINDS)[number];
type Counts<Value> = Record<Kind, Record<Count, Value>>;

/** The recorded figures of one device. Each array is a ring, in which NaN stands for an unknown value. */
class DeviceColumns {
  readonly hashesPerSecond = new Float64Array(STEPS).fill(Number.NaN);
  readonly temperatureCelsius = new Float32Array(STEPS).fill(Number.NaN);
  readonly powerWatts = new Float32Array(STEPS).fill(Number.NaN);
  hashes = 0;
}

/** Each array with one value per step is a ring: the value of step number n is at the index n % STEPS. */
export class History {
  readonly #tally: Tally;
  readonly #clock: Clock;
  /** End of each step, in milliseconds since the UNIX epoch. NaN in places to which no step has been written yet. */
  readonly #timeMs = new Float64Array(STEPS).fill(Number.NaN);
  readonly #counts = counts(() => new Float64Array(STEPS));
  readonly #counted = counts(() => 0);
  readonly #devices = new Map<string, DeviceColumns>();
  readonly #relays = new Map<string, Float64Array>();
  #steps = 0;
  #lastMs: number;

  constructor(tally: Tally, clock: Clock) {
    this.#tally = tally;
    this.#clock = clock;
    this.#lastMs = clock.monotonicMs();
  }

  /** Records a step every ten seconds. @returns a function that ends the recording */
  start(): () => void {
    const timer = this.#clock.setInterval(() => this.step(), STEP_MS);
    return () => timer.cancel();
  }

  /** Records one step: what has happened since the previous step, and the present readings of sensors. */
  step(): void {
    const at = this.#steps++ % STEPS;
    const nowMs = this.#clock.monotonicMs();
    const seconds = (nowMs - this.#lastMs) / 1000;
    this.#lastMs = nowMs;
    this.#timeMs[at] = wallMs(this.#clock);
    const { relays, devices, ...status } = this.#tally.status();
    for (const kind of KINDS) {
      const outcomes = kind === 'blocks' ? status : status.shares;
      for (const count of COUNTS) {
        this.#counts[kind][count][at] = outcomes[count] - this.#counted[kind][count];
        this.#counted[kind][count] = outcomes[count];
      }
    }
    for (const columns of this.#devices.values()) forget(columns, at);
    for (const [name, device] of inService(devices)) this.#write(name, at, seconds, device);
    for (const column of this.#relays.values()) column[at] = Number.NaN;
    for (const [name, { hashesPerSecond }] of Object.entries(relays)) {
      const column = this.#relays.get(name) ?? new Float64Array(STEPS).fill(Number.NaN);
      this.#relays.set(name, column);
      column[at] = hashesPerSecond;
    }
  }

  #write(name: string, at: number, seconds: number, { sensors, hashes }: DeviceStatus): void {
    let columns = this.#devices.get(name);
    if (!columns) {
      columns = new DeviceColumns();
      this.#devices.set(name, columns);
    }
    columns.hashesPerSecond[at] = seconds > 0 ? (hashes - columns.hashes) / seconds : Number.NaN;
    columns.hashes = hashes;
    columns.temperatureCelsius[at] = sensors.temperatureCelsius ?? Number.NaN;
    columns.powerWatts[at] = sensors.powerWatts ?? Number.NaN;
  }

  /**
   * @returns at most `MOST_POINTS` points, oldest first. In a long range, a point combines several steps. Which steps
   *   belong together depends only on their numbers, so older points stay the same as time passes
   */
  points(range: Range): HistoryAnswer {
    const wanted = RANGES_MS[range] / STEP_MS;
    const together = Math.ceil(wanted / MOST_POINTS);
    const earliest = Math.max(0, this.#steps - Math.min(wanted, STEPS));
    const first = Math.ceil(earliest / together) * together;
    const groups: number[][] = [];
    for (let step = first; step < this.#steps; step++) {
      if (step % together === 0) groups.push([]);
      groups.at(-1)?.push(step % STEPS);
    }
    const sums = (column: Float64Array) => groups.map((group) => group.reduce((sum, at) => sum + column[at], 0));
    const sumsOf = ({ accepted, rejected, stale }: Record<Count, Float64Array>) => {
      return { accepted: sums(accepted), rejected: sums(rejected), stale: sums(stale) };
    };
    const means = (column: Float64Array | Float32Array) => groups.map((group) => mean(column, group));
    return {
      range,
      stepSeconds: (together * STEP_MS) / 1000,
      timeMillis: groups.map((group) => this.#timeMs[group[group.length - 1]]),
      ...sumsOf(this.#counts.blocks),
      shares: sumsOf(this.#counts.shares),
      devices: Object.fromEntries(
        [...this.#devices].map(([name, columns]) => [
          name,
          {
            hashesPerSecond: means(columns.hashesPerSecond),
            temperatureCelsius: means(columns.temperatureCelsius),
            powerWatts: means(columns.powerWatts),
          },
        ]),
      ),
      relays: Object.fromEntries([...this.#relays].map(([name, column]) => [name, { hashesPerSecond: means(column) }])),
    };
  }
}

function counts<Value>(value: () => Value): Counts<Value> {
  const each = () => ({ accepted: value(), rejected: value(), stale: value() });
  return { blocks: each(), shares: each() };
}

function forget({ hashesPerSecond, temperatureCelsius, powerWatts }: DeviceColumns, at: number): void {
  for (const column of [hashesPerSecond, temperatureCelsius, powerWatts]) column[at] = Number.NaN;
}

/** @returns the mean of the values that are not NaN; null if all are NaN */
function mean(column: Float64Array | Float32Array, group: readonly number[]): number | null {
  const known = group.map((at) => column[at]).filter((value) => !Number.isNaN(value));
  return known.length > 0 ? known.reduce((sum, value) => sum + value, 0) / known.length : null;
}
