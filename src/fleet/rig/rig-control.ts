/** Carries out the requests of the fleet's operators to this rig, if the rig's owner permits that. */

import { LogBucket, TokenBucket } from '../../base/system/bounded.ts';
import type { Clock, Timer } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { DEVICE_KINDS, type DeviceKind } from '../../miner/engine/device.ts';
import type { Controls } from '../../miner/events/events.ts';
import type { RigStatus } from '../../rig/status/status.ts';
import { formatCelsius } from '../../rig/status/units.ts';
import { type ControlAnswer, ControlRequest, readMessage } from '../messages.ts';
import type { Link, LinkMessage } from '../nats/link.ts';
import { type Answer, answerRequests } from '../nats/requests.ts';
import { type FleetSubjects, senderOf } from '../subjects.ts';

/** Capacity and rate of the token bucket for requests. A request that finds the bucket empty gets no answer. */
const MOST_REQUESTS = 20;
const REQUESTS_PER_SECOND = 1;
/** Capacity of the token bucket for log lines about requests. */
const MOST_LINES = 20;
/** Minimum uptime, in seconds, of a rig that restarts on request. So repeated requests cannot keep it from mining. */
const RESTART_SECONDS = 60;
/** Maximum random delay before a restart, in ms, so that the rigs of a group do not all stop at the same time. */
const SPREAD_MS = 10_000;
const MOST_MESSAGE = 500;

export interface RigControlOptions {
  readonly link: Link;
  readonly subjects: FleetSubjects;
  readonly rigName: string;
  /** Whether the rig's owner lets operators control it. */
  readonly isAllowed: boolean;
  readonly controls: Controls;
  readonly status: () => RigStatus;
  readonly limits: OperatorLimits;
  readonly ownLimits: LimitsOf;
  /**
   * Checks whether mining could begin again after a restart. Called while the rig still mines.
   * @returns a function that restarts mining
   * @throws Error whose message says why the rig must not restart
   */
  readonly prepareRestart: () => Promise<() => void>;
  readonly clock: Clock;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random: () => number;
  readonly info: (line: string) => void;
  readonly warn: (line: string) => void;
}

const REFUSED: ControlAnswer = {
  done: false,
  message: 'the owner of this rig does not allow control: --fleet-control',
};
const UNREADABLE: ControlAnswer = { done: false, message: 'this rig’s version of pickaxe does not know the request' };

export class RigControl {
  readonly #options: RigControlOptions;
  readonly #requests: TokenBucket;
  readonly #lines: LogBucket;
  readonly #unsubscribe: () => void;
  #restarting: Timer | 'checking' | undefined;
  #isClosed = false;

  /** Answers requests until `close`. */
  constructor(options: RigControlOptions) {
    const { link, subjects, rigName, clock } = options;
    const nowMs = clock.monotonicMs();
    this.#options = options;
    this.#requests = new TokenBucket(MOST_REQUESTS, REQUESTS_PER_SECOND, nowMs);
    this.#lines = new LogBucket(MOST_LINES, nowMs);
    this.#unsubscribe = answerRequests(link, subjects.controlsTo(rigName), (request) => this.#take(request));
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    if (this.#restarting !== 'checking') this.#restarting?.cancel();
  }

  /**
   * Answers a request. The NATS server has checked that the operator may use the name in the subject. The reply subject
   * is not checked by the server, so it is checked here.
   */
  async #take({ subject, data, reply }: LinkMessage): Promise<Answer | undefined> {
    const { subjects, clock } = this.#options;
    if (!this.#requests.take(1, clock.monotonicMs())) {
      this.#log('warn', 'requests of operators come too fast, and some are not answered');
      return undefined;
    }
    const operator = senderOf(subject);
    if (operator === undefined) {
      this.#log('warn', 'a request of an operator is ignored: its subject names nobody');
      return undefined;
    }
    if (reply === undefined || !subjects.isInboxOfOperator(operator, reply)) {
      const why = 'it wants its answer outside of the operator’s inbox';
      this.#log('warn', `a request of the fleet’s operator ${oneLine(operator)} is ignored: ${why}`);
      return undefined;
    }
    const answer = await this.#answer(readMessage(ControlRequest, data), oneLine(operator));
    if (this.#isClosed) return undefined;
    return { reply, message: { ...answer, message: oneLine(answer.message, MOST_MESSAGE) } };
  }

  async #answer(request: ControlRequest | undefined, operator: string): Promise<ControlAnswer> {
    const by = `an operator of the fleet, ${operator},`;
    if (!this.#options.isAllowed) {
      this.#log('info', `${by} may not control this rig: --fleet-control allows it`);
      return REFUSED;
    }
    if (!request) return UNREADABLE;
    const { done, message } = await this.#follow(request, operator);
    this.#log('info', `${by} asked for ${request.command}: ${message}`);
    return { done, message };
  }

  async #follow(request: ControlRequest, operator: string): Promise<ControlAnswer> {
    switch (request.command) {
      case 'pause':
        return this.#pause(request.device, operator);
      case 'resume':
        return this.#resume(request.device);
      case 'limits':
        return this.#limit(request);
      case 'restart':
        return await this.#restart();
    }
  }

  #pause(device: string | undefined, operator: string): ControlAnswer {
    const why = `by the fleet’s operator ${operator}`;
    if (!this.#options.controls.pause('fleet', why, device)) return noDevice(device);
    return { done: true, message: `${device ?? 'every device'} is paused until it is resumed, or the rig restarts` };
  }

  /** Ends the pause that operators have requested. A device with another reason to pause stays paused. */
  #resume(device: string | undefined): ControlAnswer {
    const { controls, status } = this.#options;
    if (!controls.resume('fleet', device)) return noDevice(device);
    const paused = Object.entries(status().devices).flatMap(([name, { state, reason }]) =>
      state === 'paused' && (device === undefined || name === device) ? [`${name} (${reason})`] : [],
    );
    if (paused.length === 0) return { done: true, message: `${device ?? 'every device'} is resumed` };
    return { done: true, message: `the fleet’s pause has ended; still paused: ${paused.join(', ')}` };
  }

  #limit({ gpuCelsius, cpuCelsius }: ControlRequest & { command: 'limits' }): ControlAnswer {
    const given = { gpu: gpuCelsius, cpu: cpuCelsius };
    const messages = DEVICE_KINDS.flatMap((kind) => {
      const celsius = given[kind];
      return celsius === undefined ? [] : [this.#limitKind(kind, celsius)];
    });
    if (messages.length === 0) return { done: false, message: 'the request has no limit: give one for GPUs or CPUs' };
    return { done: true, message: messages.join('; ') };
  }

  #limitKind(kind: DeviceKind, celsius: number | null): string {
    const { limits, ownLimits, status } = this.#options;
    limits.set(kind, celsius);
    if (celsius === null) return `the rig’s own limits of its ${kind} hold again`;
    const lower = Object.entries(status().devices).flatMap(([name, device]) => {
      const own = device.kind === kind ? ownLimits(kind, name) : undefined;
      return own && own.stopCelsius < celsius ? [`${name} keeps its own of ${formatCelsius(own.stopCelsius)}`] : [];
    });
    return [`the limit of its ${kind} is ${formatCelsius(celsius)} until the rig restarts`, ...lower].join(', ');
  }

  async #restart(): Promise<ControlAnswer> {
    const { status, prepareRestart, random } = this.#options;
    if (this.#restarting) return { done: true, message: 'it is about to restart anyway' };
    const { uptimeSeconds } = status();
    if (uptimeSeconds < RESTART_SECONDS) {
      return {
        done: false,
        message: `it started ${uptimeSeconds.toFixed(0)} s ago, and restarts at most once a minute`,
      };
    }
    this.#restarting = 'checking';
    try {
      const restart = await prepareRestart();
      const waitMs = random() * SPREAD_MS;
      this.#restarting = this.#isClosed ? undefined : this.#options.clock.setTimeout(restart, waitMs);
      return { done: true, message: `it restarts in ${(waitMs / 1000).toFixed(1)} s` };
    } catch (fault) {
      this.#restarting = undefined;
      return { done: false, message: `it does not restart: ${(fault as Error).message}` };
    }
  }

  #log(level: 'info' | 'warn', line: string): void {
    const leftOut = this.#lines.take(this.#options.clock.monotonicMs());
    if (leftOut === undefined) return;
    this.#options[level](leftOut > 0 ? `${line} (${leftOut} lines were left out)` : line);
  }
}

function noDevice(device: string | undefined): ControlAnswer {
  return { done: false, message: device === undefined ? 'this rig has no devices' : `there is no device ${device}` };
}

interface Limits {
  readonly stopCelsius: number;
  readonly resumeCelsius: number;
}

type LimitsOf = (kind: DeviceKind, name: string) => Limits | undefined;

/** A device without limits of its own resumes when it is this number of °C below the operators' limit. */
const COOL_BY_C = 10;

/** Temperature limits that operators set. A limit above the rig's own limit has no effect. */
export class OperatorLimits {
  /** The operators' limit for each kind of device, in °C; null without a limit. */
  readonly #celsius: { cpu: number | null; gpu: number | null } = { cpu: null, gpu: null };

  /** @param celsius the new limit in °C; null removes the limit */
  set(kind: DeviceKind, celsius: number | null): void {
    this.#celsius[kind] = celsius;
  }

  /**
   * @param own returns the rig's own limits for a device; undefined without limits
   * @returns a function that returns the limits that hold for a device at the time of the call. The operators' limit
   *   holds if it is lower than the rig's own, or if the rig has none. Otherwise, the rig's own limits hold
   */
  within(own: LimitsOf): LimitsOf {
    return (kind, name) => {
      const ownLimits = own(kind, name);
      const celsius = this.#celsius[kind];
      if (celsius === null || (ownLimits && ownLimits.stopCelsius <= celsius)) return ownLimits;
      const coolBy = ownLimits ? ownLimits.stopCelsius - ownLimits.resumeCelsius : COOL_BY_C;
      return { stopCelsius: celsius, resumeCelsius: celsius - coolBy };
    };
  }
}
