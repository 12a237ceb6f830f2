/** Collects the reports of rigs and the states of coordinators, and computes the fleet's status from them. */

import { BoundedMap, LogBucket } from '../../base/system/bounded.ts';
import { type Clock, wallMs } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { CoordinatorState, MOST_MESSAGE_BYTES, readMessage, workOfGiven } from '../messages.ts';
import type { Link, LinkMessage } from '../nats/link.ts';
import { RigReport } from '../rig-report.ts';
import { type FleetSubjects, senderOf } from '../subjects.ts';
import { isFaulty } from './fleet-figures.ts';
import type { ExpectedRepeats, FleetCoordinator, FleetRig, FleetStatus, Ignored } from './fleet-status.ts';
import { type Member, Members } from './members.ts';

const MOST_COORDINATORS = 16;
/**
 * Limits for rigs. A rig reports once in 10 s, and may report twice as often. The largest reports have 60 kB, and take
 * about 1 ms to parse. The report of a rig with eight devices has about 3 kB. All reports together must fit into one
 * string of Node.js, which has at most 512 MB.
 */
const RIGS = {
  most: 20_000,
  unresponsiveMs: 35_000,
  rate: { most: 3, perSecond: 0.2 },
  rateOfAll: { most: 4_000, perSecond: 4_000 },
  bytesOfAll: { most: 2 ** 24, perSecond: 2 ** 23 },
  mostBytes: 2 ** 27,
};
/** Limits for coordinators. A coordinator sends its state every second, and with each new or ended work. */
const COORDINATORS = {
  most: MOST_COORDINATORS,
  unresponsiveMs: 5_000,
  rate: { most: 60, perSecond: 20 },
  rateOfAll: { most: 320, perSecond: 320 },
  bytesOfAll: { most: 2 ** 21, perSecond: 2 ** 20 },
  mostBytes: MOST_COORDINATORS * MOST_MESSAGE_BYTES,
};
/** Capacity of the token bucket for log lines about messages that cannot be read, or whose subject has no name. */
const MOST_LINES = 5;
/** Time after which a rig changes the creation time of its job, so that the job has a new header. */
const ROLL_SECONDS = 3;

interface RosterOptions {
  readonly link: Link;
  readonly subjects: FleetSubjects;
  readonly clock: Clock;
  /** Called at a limited rate with lines about messages that cannot be read, or whose subject has no name. */
  readonly warn?: (line: string) => void;
}

/** What a coordinator's messages have shown about its current work. */
interface SeenWork {
  readonly name: string;
  /** Time of the first message about the work (monotonic). */
  readonly sinceMs: number;
  /** Duration of the coordinator's previous work, in ms; 0 if there was none right before this work. */
  readonly lastedMs: number;
  /** Absent until a message with the work's record has come. */
  readonly terms?: {
    readonly chain: number;
    readonly height: number;
    readonly rolls: boolean;
    readonly nonces: number;
  };
}

export class Roster {
  readonly #options: RosterOptions;
  readonly #rigs: Members<RigReport>;
  readonly #coordinators: Members<CoordinatorState>;
  /** The current work of each coordinator, by the coordinator's name. */
  readonly #works = new BoundedMap<string, SeenWork>(MOST_COORDINATORS);
  readonly #lines: LogBucket;
  readonly #ignored: Record<Ignored, number> = { malformed: 0, tooFast: 0, tooManyMembers: 0 };
  readonly #ends: readonly (() => void)[];
  #connectedMs: number | undefined;

  /** Collects messages until `close`. */
  constructor(options: RosterOptions) {
    const { link, subjects, clock } = options;
    const nowMs = clock.monotonicMs();
    this.#options = options;
    this.#rigs = new Members(RIGS, nowMs);
    this.#coordinators = new Members(COORDINATORS, nowMs);
    this.#lines = new LogBucket(MOST_LINES, nowMs);
    if (link.state.isConnected) this.#connectedMs = nowMs;
    this.#ends = [
      link.onState(({ isConnected }) => {
        this.#connectedMs = isConnected ? clock.monotonicMs() : undefined;
      }),
      link.subscribe(subjects.reports, (message) => this.#onReport(message)),
      link.subscribe(subjects.allWork, (message) => this.#onState(message)),
      link.subscribe(subjects.allBeats, (message) => this.#onState(message)),
    ];
  }

  close(): void {
    for (const end of this.#ends) end();
  }

  /**
   * Time since the present connection began, or since this roster was made if that is later, in seconds; 0 without a
   * connection.
   */
  get listeningSeconds(): number {
    return this.#connectedMs === undefined ? 0 : (this.#options.clock.monotonicMs() - this.#connectedMs) / 1000;
  }

  status(): FleetStatus {
    const { clock, link } = this.#options;
    const nowMs = clock.monotonicMs();
    const rigs = this.#rigs.all(nowMs).map(([name, rig]): FleetRig => {
      const { instance: _, ...report } = rig.message;
      return { name, ...this.#contact(this.#rigs, rig, nowMs), ...report };
    });
    const responsive = rigs.filter(({ silent }) => !silent);
    const mining = responsive.filter(({ state }) => state === 'mining');
    const counts = countsOf(rigs);
    return {
      timeMillis: wallMs(clock),
      listeningSeconds: this.listeningSeconds,
      disconnected: link.state.isConnected ? null : oneLine(link.state.reason),
      rigsMining: mining.length,
      rigsPaused: responsive.filter(({ state }) => state === 'paused').length,
      rigsSilent: rigs.length - responsive.length,
      rigsFaulty: responsive.filter(isFaulty).length,
      hashesPerSecond: sumOf(responsive, (rig) => rig.hashesPerSecond),
      provenHashesPerSecond: sumOf(responsive, (rig) => rig.provenHashesPerSecond ?? 0),
      ...counts,
      repeats: this.#repeats(mining, nowMs),
      coordinators: this.#coordinators.all(nowMs).map((each) => this.#coordinator(each, responsive, nowMs)),
      rigs,
      ignored: { ...this.#ignored },
    };
  }

  #coordinator(
    [name, coordinator]: [string, Member<CoordinatorState>],
    responsive: readonly FleetRig[],
    nowMs: number,
  ): FleetCoordinator {
    const { version, lost } = coordinator.message;
    const rigs = responsive.filter((rig) => rig.coordinator === name);
    const work = this.#works.get(name);
    return {
      name,
      version: oneLine(version),
      ...this.#contact(this.#coordinators, coordinator, nowMs),
      lost: lost === null ? null : oneLine(lost),
      chain: work?.terms?.chain ?? null,
      height: work?.terms?.height ?? null,
      workAgeSeconds: work ? (nowMs - work.sinceMs) / 1000 : null,
      rigs: rigs.length,
      hashesPerSecond: sumOf(rigs, (rig) => rig.hashesPerSecond),
    };
  }

  #contact<Message extends { readonly instance: string }>(
    members: Members<Message>,
    member: Member<Message>,
    nowMs: number,
  ): Pick<FleetRig, 'ageSeconds' | 'silent' | 'duplicate'> {
    return {
      ageSeconds: (nowMs - member.lastMessageMs) / 1000,
      silent: members.isUnresponsive(member, nowMs),
      duplicate: member.isDuplicate(nowMs),
    };
  }

  /**
   * Rigs begin at random nonces, so they repeat each other's work only by chance. The expected share of repeated work
   * is the share of a header's nonces that all rigs together search. In fact, rigs do not all search the same header,
   * because each rig changes the creation time at another moment. As an upper limit, all rigs are assumed to search the
   * header with the most repeats.
   * @returns this upper limit; null if the work of the mining rigs is not known
   */
  #repeats(mining: readonly FleetRig[], nowMs: number): ExpectedRepeats | null {
    const used = new Set(mining.map(({ coordinator }) => coordinator));
    const jobs = [...this.#works].flatMap(([name, { sinceMs, lastedMs, terms }]) => {
      if (!terms || !used.has(name)) return [];
      const jobSeconds = terms.rolls ? ROLL_SECONDS : Math.max(lastedMs, nowMs - sinceMs) / 1000;
      return [{ jobSeconds, nonces: terms.nonces }];
    });
    const [worst] = jobs.sort((a, b) => b.jobSeconds / b.nonces - a.jobSeconds / a.nonces);
    if (!worst) return null;
    const rigs = mining.length;
    const meanHashesPerSecond = sumOf(mining, (rig) => rig.hashesPerSecond) / rigs;
    const ratio = Math.min(1, (rigs * meanHashesPerSecond * worst.jobSeconds) / worst.nonces);
    return { ratio, rigs, meanHashesPerSecond, ...worst };
  }

  #onReport(message: LinkMessage): void {
    const nowMs = this.#options.clock.monotonicMs();
    const name = this.#admitted(this.#rigs, message, nowMs);
    if (name === undefined) return;
    const report = readMessage(RigReport, message.data);
    if (report) this.#note(this.#rigs.take(name, inLines(report), message.data.length, nowMs));
    else this.#warn(`the rig ${oneLine(name)} sends reports that cannot be read`, nowMs);
  }

  #onState(message: LinkMessage): void {
    const nowMs = this.#options.clock.monotonicMs();
    const name = this.#admitted(this.#coordinators, message, nowMs);
    if (name === undefined) return;
    const state = readMessage(CoordinatorState, message.data);
    if (!state) {
      this.#warn(`the coordinator ${oneLine(name)} sends states that cannot be read`, nowMs);
      return;
    }
    const known = this.#coordinators.get(name);
    const isOld = known?.message.instance === state.instance && state.number < known.message.number;
    // If the coordinator is unresponsive, a state with a lower number is taken, too. Otherwise, one forged state with a
    // huge number would hide the coordinator for good.
    if (known && isOld && !this.#coordinators.isUnresponsive(known, nowMs)) return;
    const ignored = this.#coordinators.take(name, state, message.data.length, nowMs);
    this.#note(ignored);
    if (ignored === undefined) this.#noteWork(name, state, nowMs);
  }

  #noteWork(coordinator: string, { work, given }: CoordinatorState, nowMs: number): void {
    const before = this.#works.get(coordinator);
    if (work === null) {
      this.#works.delete(coordinator);
      return;
    }
    const seen: SeenWork =
      before?.name === work
        ? before
        : { name: work, sinceMs: nowMs, lastedMs: before === undefined ? 0 : nowMs - before.sinceMs };
    const terms = given?.name === work && seen.terms === undefined ? termsOf(given) : seen.terms;
    this.#works.set(coordinator, { ...seen, ...(terms && { terms }) });
  }

  /** Checks a message before it is parsed. @returns the sender's name; undefined if the message must be ignored */
  #admitted<Message extends { readonly instance: string }>(
    members: Members<Message>,
    { subject, data }: LinkMessage,
    nowMs: number,
  ): string | undefined {
    const name = senderOf(subject);
    if (name === undefined) {
      this.#warn('a message has no name of a member in its subject', nowMs);
      return undefined;
    }
    if (members.admits(name, data.length, nowMs)) return name;
    this.#note('tooFast');
    return undefined;
  }

  #note(ignored: Ignored | undefined): void {
    if (ignored !== undefined) this.#ignored[ignored]++;
  }

  #warn(line: string, nowMs: number): void {
    this.#note('malformed');
    const { warn } = this.#options;
    const leftOut = warn && this.#lines.take(nowMs);
    if (leftOut !== undefined) warn?.(leftOut > 0 ? `${line} (${leftOut} such lines were left out)` : line);
  }
}

function termsOf(given: NonNullable<CoordinatorState['given']>): SeenWork['terms'] {
  const { chain, height, rollTime, nonce1 } = workOfGiven(given);
  const shown = Math.min(Number(height), Number.MAX_SAFE_INTEGER);
  return { chain, height: shown, rolls: rollTime, nonces: 2 ** (64 - 8 * nonce1.bytes) };
}

/** @returns the report, with its texts as single lines, because they are shown on terminals and in tables */
function inLines(report: RigReport): RigReport {
  const line = (text: string | null) => (text === null ? null : oneLine(text));
  return {
    ...report,
    version: oneLine(report.version),
    stateReason: line(report.stateReason),
    devices: report.devices.map((device) => ({
      ...device,
      name: oneLine(device.name),
      model: line(device.model),
      reason: line(device.reason),
    })),
  };
}

function countsOf(
  rigs: readonly FleetRig[],
): Pick<FleetStatus, 'found' | 'accepted' | 'rejected' | 'stale' | 'unknown' | 'pending'> {
  const [found, accepted, rejected, stale, unknown] = (
    ['found', 'accepted', 'rejected', 'stale', 'unknown'] as const
  ).map((count) => sumOf(rigs, (rig) => rig[count]));
  const pending = sumOf(rigs, (rig) => Math.max(0, rig.found - rig.accepted - rig.rejected - rig.stale - rig.unknown));
  return { found, accepted, rejected, stale, unknown, pending };
}

function sumOf(rigs: readonly FleetRig[], figure: (rig: FleetRig) => number): number {
  return rigs.reduce((sum, rig) => sum + figure(rig), 0);
}
