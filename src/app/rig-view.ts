/** The rig as a parent sees it: its devices and figures, made from events. */

import type { DeviceKind } from '../engine/device.ts';
import type { MinerEvent } from '../events/events.ts';
import type { Tally } from '../report/tally.ts';
import type { RigView } from '../source/parent/session.ts';
import { version } from '../system/version.ts';
import { type Answer, type AnswerOf, CAPABILITIES, LIMITS, PROTOCOL_VERSION } from '../wire/worker.ts';

interface WorkerRigOptions {
  readonly rigName: string;
  readonly devices: readonly { readonly name: string; readonly kind: DeviceKind }[];
  readonly tally: Tally;
  /** Sends an answer to all parents. */
  readonly answer: (answer: Answer) => void;
}

export class WorkerRig implements RigView {
  readonly #options: WorkerRigOptions;
  /** The last state of each device, by its name. */
  readonly #devices = new Map<string, AnswerOf<'device'>>();
  /** What parents were sent last about the whole rig; undefined while devices open. */
  #state: AnswerOf<'ready'> | AnswerOf<'paused'> | undefined;

  constructor(options: WorkerRigOptions) {
    this.#options = options;
    // A rig without devices is ready, because others hash for it.
    if (options.devices.length === 0) this.#state = { type: 'ready', devices: [] };
  }

  /** The tally must have had the event before. */
  readonly listen = (event: MinerEvent): void => {
    if (event.type !== 'device') return;
    const { device, kind, state, description, reason } = event;
    const answer = {
      type: 'device',
      device,
      kind,
      state,
      description,
      ...(reason !== undefined && { reason }),
    } as const;
    this.#devices.set(device, answer);
    this.#options.answer(answer);
    const now = this.#stateNow();
    if (now === undefined || JSON.stringify(now) === JSON.stringify(this.#state)) return;
    this.#state = now;
    this.#options.answer(now);
  };

  greeting(): readonly Answer[] {
    const { rigName, devices } = this.#options;
    const hello: AnswerOf<'hello'> = {
      type: 'hello',
      protocol: PROTOCOL_VERSION,
      version,
      rig: rigName,
      capabilities: [...CAPABILITIES],
      limits: LIMITS,
      devices: devices.map(({ name: device, kind }) => ({ device, kind })),
    };
    return [hello, ...this.#devices.values(), ...(this.#state ? [this.#state] : [])];
  }

  stats(): ReturnType<RigView['stats']> {
    const { uptimeSeconds, hashes, hashesPerSecond, hardwareErrors, devices: all } = this.#options.tally.status();
    const devices = Object.entries(all).map(([name, { kind, state, hashesPerSecond, hashes }]) => {
      return [name, { kind, state, hashesPerSecond, hashes }] as const;
    });
    return {
      type: 'stats',
      uptimeSeconds,
      hashes,
      hashesPerSecond,
      hardwareErrors,
      devices: Object.fromEntries(devices),
    };
  }

  /** @returns undefined while no device is in service or on the way to it */
  #stateNow(): AnswerOf<'ready'> | AnswerOf<'paused'> | undefined {
    const known = [...this.#devices.values()];
    const ready = known.filter(({ state }) => state === 'ready').map(({ device }) => device);
    if (ready.length > 0) return { type: 'ready', devices: ready };
    // A device that is still being opened will be ready soon.
    if (known.length < this.#options.devices.length) return undefined;
    const reasons = new Set(known.map(({ device, state, reason = state }) => `${device}: ${reason}`));
    return { type: 'paused', reason: [...reasons].join('; ') };
  }
}
