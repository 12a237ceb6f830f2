/** Logs events in the style of other miners: each line has a tag and the most important figures. */

import type { Logger } from 'pino';
import { LogBucket } from '../../base/system/bounded.ts';
import type { MinerEvent } from '../../miner/events/events.ts';
import { describeVerdicts, inService, livesOnRelays, sumOfRelays } from '../status/figures.ts';
import type { RigStatus } from '../status/status.ts';
import type { Tally } from '../status/tally.ts';
import {
  describePolled,
  describeWorkers,
  formatAmount,
  formatDuration,
  formatHashrate,
  formatSensors,
  withPrefix,
} from '../status/units.ts';
import { logBlockReward, logBlockState, VerdictLines } from './verdict-lines.ts';

const MOST_PAID_ELSEWHERE = 10;
/** Maximum number of lines about new share difficulties in a burst. Usually, a pool sends a few new ones an hour. */
const DIFFICULTIES_AT_ONCE = 5;
/** Maximum rate of further lines about new share difficulties, per second: one line a minute. */
const DIFFICULTIES_PER_SECOND = 1 / 60;
/** Maximum number of lines about sources in a burst: far more than a start or an outage causes. */
const NEWS_AT_ONCE = 100;
/** Maximum number of lines about update streams in a burst: far more than a start or an outage causes. */
const STREAM_NEWS_AT_ONCE = 20;
const HOW_TO_CHOOSE = 'pickaxe devices lists what there is; choose with --devices, such as --devices cpu.';

type BoundedKind = 'job' | 'source' | 'streams';

export class LogLines {
  readonly #log: Logger;
  readonly #tally: Tally;
  readonly #verdicts: VerdictLines;
  /** Last logged step of opening each device, by the device's name. */
  readonly #progress = new Map<string, string>();

  readonly #paidElsewhere: LogBucket;
  /** Limits for lines that a node or pool can cause at will. Lines beyond a limit are logged at the level debug. */
  readonly #bounds: Readonly<Record<BoundedKind, LogBucket>>;

  /**
   * The last share difficulty for which a line was logged; `none` if the work of that line had no share difficulty.
   * Undefined before the first line.
   */
  #loggedShares: number | 'none' | undefined;

  /** @param tally must receive each event before `listen` does */
  constructor(log: Logger, tally: Tally) {
    this.#log = log;
    this.#tally = tally;
    this.#verdicts = new VerdictLines(log, tally);
    const { nowMs } = tally;
    this.#paidElsewhere = new LogBucket(MOST_PAID_ELSEWHERE, nowMs);
    this.#bounds = {
      job: new LogBucket(DIFFICULTIES_AT_ONCE, nowMs, DIFFICULTIES_PER_SECOND),
      source: new LogBucket(NEWS_AT_ONCE, nowMs),
      streams: new LogBucket(STREAM_NEWS_AT_ONCE, nowMs),
    };
  }

  readonly listen = (event: MinerEvent): void => {
    switch (event.type) {
      case 'work':
        this.#work(event);
        break;
      case 'job':
        this.#log.debug({ tag: 'work' }, `creation time rolled forward, chain ${event.chain} height ${event.height}`);
        break;
      case 'new-cut':
        this.#log.debug({ tag: this.#tally.sourceKind }, `New Cut on chain ${event.chain}`);
        break;
      case 'solution':
        this.#verdicts.solved(event);
        this.#log.debug(
          { tag: event.device },
          `solution for chain ${event.chain} height ${event.height}, nonce ${event.nonce}`,
        );
        break;
      case 'proof':
        this.#verdicts.proved(event);
        break;
      case 'verdict':
        this.#verdicts.add(event);
        break;
      case 'block-state':
        logBlockState(this.#log, event);
        break;
      case 'block-reward':
        this.#blockReward(event);
        break;
      case 'hardware-error':
        this.#log.error({ tag: event.device }, `hardware error: the candidate with nonce ${event.nonce} is wrong`);
        break;
      case 'device':
        this.#device(event);
        break;
      case 'source':
        this.#source(event);
        break;
      case 'missed-cut':
        this.#bounded(
          'streams',
          'warn',
          'node',
          `${event.source} has a block on chain ${event.chain} that its open update stream did not announce: stale work was mined`,
        );
        break;
      case 'polling':
        this.#polling(event);
        break;
      case 'alarm':
        this.#alarm(event);
        break;
      case 'progress':
        if (this.#progress.get(event.device) === event.what) break;
        this.#progress.set(event.device, event.what);
        this.#log.info({ tag: event.device }, event.what);
        break;
      case 'job-switch':
        this.#log.debug(
          { tag: event.device },
          `searches the new work ${(1000 * event.switchSeconds).toFixed(1)} ms after the New Cut`,
        );
        break;
    }
  };

  speed(): void {
    const status = this.#tally.status();
    const { relays } = status;
    if (!livesOnRelays(status)) this.#ownSpeed(status);
    if (Object.keys(relays).length > 0) this.#log.info({ tag: 'miner' }, describeWorkers(sumOfRelays(relays)));
  }

  /** Logs the devices' hashrate, unless it is 0 and the rig does not mine. `Outages` logs why the rig does not mine. */
  #ownSpeed({ ready: isMining, devices }: RigStatus): void {
    const known = inService(devices);
    const ready = known.filter(([, { state }]) => state === 'ready');
    const total = ready.reduce((sum, [, { hashesPerSecond }]) => sum + hashesPerSecond, 0);
    if (total === 0 && !isMining) return;
    const each = known.map(([name, { state, hashesPerSecond, sensors, hashesPerJoule }]) => {
      const rate = known.length > 1 && `${name} ${state === 'ready' ? formatHashrate(hashesPerSecond) : state}`;
      return [rate, formatSensors(sensors, hashesPerJoule)].filter(Boolean).join(' ');
    });
    const parts = each.filter((part) => part !== '').join(', ');
    this.#log.info({ tag: 'miner' }, `speed 30s ${formatHashrate(total)}${parts === '' ? '' : ` (${parts})`}`);
  }

  summary(): void {
    const summary = this.#tally.summary();
    const { hardwareErrors, hashes, uptimeSeconds, acceptedBlocks } = summary;
    const paidElsewhere = acceptedBlocks?.paidElsewhere ?? 0;
    this.#log.info(
      { tag: 'miner' },
      `${describeVerdicts(summary)}, ${hardwareErrors} hardware errors; ` +
        `${withPrefix(hashes)}hashes in ${formatDuration(uptimeSeconds)}, ${formatHashrate(summary.averageHashesPerSecond)} on average`,
    );
    if (paidElsewhere > 0) {
      const what = paidElsewhere === 1 ? '1 block pays' : `${paidElsewhere} blocks pay`;
      this.#log.error({ tag: 'block' }, `${what} another account than yours: pickaxe blocks lists them`);
    }
  }

  #blockReward(event: MinerEvent & { type: 'block-reward' }): void {
    if (event.paidTo === undefined || this.#paidElsewhere.take(this.#tally.nowMs) !== undefined) {
      logBlockReward(this.#log, event);
    }
  }

  /**
   * A new work comes every second or two, so most works are logged at the level debug. The level is info for the first
   * work, which shows that the rig receives work, and for a work with a new share difficulty. While the rig is paused,
   * and beyond the limit for such lines, the level is always debug.
   */
  #work({ chain, height, difficulty, shareDifficulty }: MinerEvent & { type: 'work' }): void {
    const line =
      shareDifficulty === undefined
        ? `new job chain ${chain} height ${height} difficulty ${formatAmount(difficulty)}`
        : `new job chain ${chain} difficulty ${formatAmount(difficulty)}, of a share ${formatAmount(shareDifficulty)}`;
    const isNews = this.#loggedShares !== (shareDifficulty ?? 'none');
    if (!isNews || this.#tally.status().paused) {
      this.#log.debug({ tag: 'work' }, line);
      return;
    }
    this.#loggedShares = shareDifficulty ?? 'none';
    this.#bounded('job', 'info', 'work', line);
  }

  /**
   * Logs a line at `level`, or at debug if the limit for lines of this kind is reached.
   * @returns whether the line was within the limit
   */
  #bounded(kind: BoundedKind, level: 'info' | 'warn', tag: string, line: string): boolean {
    const leftOut = this.#bounds[kind].take(this.#tally.nowMs);
    if (leftOut === undefined) this.#log.debug({ tag }, line);
    else this.#log[level]({ tag }, leftOut === 0 ? line : `${line} (${leftOut} lines like this one were left out)`);
    return leftOut !== undefined;
  }

  #device({ device, state, description, detail, reason = '', fault }: MinerEvent & { type: 'device' }): void {
    if (state === 'ready') {
      this.#log.info({ tag: device }, description);
      if (detail !== undefined) this.#log.debug({ tag: device }, detail);
    } else if (state === 'paused') this.#log.warn({ tag: device }, `paused: ${reason}`);
    else if (state === 'reopening') this.#log.warn({ tag: device }, `reopening: ${reason}`);
    else this.#log.error({ tag: device }, this.#parked(device, reason, fault === 'missing'));
  }

  #parked(device: string, reason: string, isMissing: boolean): string {
    if (this.#hasOthers(device)) {
      // The other devices may still be opening, and may turn out to be missing, too, so the line does not mention them.
      return isMissing ? `cannot be used: ${reason}` : `parked until pickaxe is restarted, the others go on: ${reason}`;
    }
    if (!isMissing) return `parked, and no other device is left: ${reason}`;
    return `no device can mine: ${reason.replace(/\.$/, '')}. ${HOW_TO_CHOOSE}`;
  }

  #hasOthers(device: string): boolean {
    return Object.entries(this.#tally.status().devices).some(
      ([name, { state }]) => name !== device && state !== 'parked',
    );
  }

  #alarm({ state, device, hashesPerSecond, limitHashesPerSecond }: MinerEvent & { type: 'alarm' }): void {
    const tag = device ?? 'miner';
    const [rate, least] = [formatHashrate(hashesPerSecond), formatHashrate(limitHashesPerSecond)];
    if (state === 'raised') this.#log.warn({ tag }, `low hashrate: ${rate} (limit ${least})`);
    else this.#log.info({ tag }, `hashrate is back: ${rate} (limit ${least})`);
  }

  #polling({ source, chains }: MinerEvent & { type: 'polling' }): void {
    if (chains.length === 0) {
      this.#bounded('streams', 'info', 'node', `${source} has reliable update streams for all chains again`);
    } else {
      this.#bounded('streams', 'warn', 'node', `${source} ${describePolled(chains)}`);
    }
  }

  #source({ source, kind, state, reason, nodeConfiguration = [] }: MinerEvent & { type: 'source' }): void {
    const level = state === 'lost' || state === 'unhealthy' || state === 'warning' ? 'warn' : 'info';
    const isLogged = this.#bounded('source', level, kind, `${source} ${reason}`);
    for (const line of nodeConfiguration) this.#log[isLogged ? level : 'debug']({ tag: kind, isSnippet: true }, line);
  }
}
