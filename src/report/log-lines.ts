/** Events as log lines, in the style of other miners: a tag, then the few figures that matter. */

import type { Logger } from 'pino';
import type { MinerEvent } from '../events/events.ts';
import { rigState } from './rig-state.ts';
import type { Tally } from './tally.ts';
import { describePolled, formatDuration, formatHashrate, formatTelemetry, withPrefix } from './units.ts';

/** What to do when none of the devices that were asked for exists. */
const HOW_TO_CHOOSE = 'pickaxe devices lists what there is; choose with --devices, such as --devices cpu.';

export class LogLines {
  readonly #log: Logger;
  readonly #tally: Tally;
  /** The last step of opening that was logged, by device. */
  readonly #progress = new Map<string, string>();

  /** Chain and height of the last work that was logged. */
  #block = '';

  /** @param tally must get each event before this does */
  constructor(log: Logger, tally: Tally) {
    this.#log = log;
    this.#tally = tally;
  }

  readonly listen = (event: MinerEvent): void => {
    switch (event.event) {
      case 'work':
        this.#work(event);
        break;
      case 'job':
        this.#log.debug({ tag: 'work' }, `creation time rolled forward, chain ${event.chain} height ${event.height}`);
        break;
      case 'new_cut':
        this.#log.info({ tag: 'node' }, `New Cut on chain ${event.chain}`);
        break;
      case 'solution':
        this.#log.debug(
          { tag: event.device },
          `solution for chain ${event.chain} height ${event.height}, nonce ${event.nonce}`,
        );
        break;
      case 'verdict':
        this.#verdict(event);
        break;
      case 'hardware_error':
        this.#log.error({ tag: event.device }, `hardware error: nonce ${event.nonce} does not solve`);
        break;
      case 'device':
        this.#device(event);
        break;
      case 'source':
        this.#source(event);
        break;
      case 'missed_cut':
        this.#log.warn(
          { tag: 'node' },
          `${event.source} has a block on chain ${event.chain} that its open update stream did not tell: stale work was mined`,
        );
        break;
      case 'polling':
        this.#polling(event);
        break;
      case 'alarm':
        this.#alarm(event);
        break;
      case 'progress':
        if (this.#progress.get(event.device) === event.what) break; // still the same step
        this.#progress.set(event.device, event.what);
        this.#log.info({ tag: event.device }, event.what);
        break;
      case 'restart':
        this.#log.debug({ tag: event.device }, `searches the new work ${event.ms.toFixed(1)} ms after the New Cut`);
        break;
      case 'hashes':
      case 'proof':
      case 'telemetry':
        break;
    }
  };

  /** The speed line. There is none while nothing is hashed because the rig does not mine: that is told as an outage. */
  speed(): void {
    const devices = [...this.#tally.devices()];
    const total = devices.reduce((sum, [, { state, hashrate }]) => sum + (state === 'ready' ? hashrate : 0), 0);
    if (total === 0 && rigState(this.#tally.now()).name !== 'mining') return;
    const each = devices.map(([name, { state, hashrate, telemetry, hashes_per_joule }]) => {
      const rate = devices.length > 1 && `${name} ${state === 'ready' ? formatHashrate(hashrate) : state}`;
      return [rate, formatTelemetry(telemetry, hashes_per_joule)].filter(Boolean).join(' ');
    });
    const parts = each.filter((part) => part !== '').join(', ');
    this.#log.info({ tag: 'miner' }, `speed 30s ${formatHashrate(total)}${parts === '' ? '' : ` (${parts})`}`);
  }

  summary(): void {
    const { accepted, rejected, stale, unknown, hardware_errors, hashes, seconds, hashrate } = this.#tally.summary();
    const lost = unknown > 0 ? `, ${unknown} unknown` : '';
    this.#log.info(
      { tag: 'miner' },
      `${accepted} accepted, ${rejected} rejected, ${stale} stale${lost}, ${hardware_errors} hardware errors; ` +
        `${withPrefix(hashes)}hashes in ${formatDuration(seconds)}, ${formatHashrate(hashrate)} on average`,
    );
  }

  /** New work for the block that is mined already has other transactions or a later time: it changes nothing for people. */
  #work({ chain, height, difficulty }: MinerEvent & { event: 'work' }): void {
    const block = `chain ${chain} height ${height}`;
    const level = block === this.#block ? 'debug' : 'info';
    this.#block = block;
    this.#log[level]({ tag: 'work' }, `new job ${block} difficulty ${withPrefix(difficulty).trimEnd()}`);
  }

  #verdict({ verdict, reason, device, chain, height, ms }: MinerEvent & { event: 'verdict' }): void {
    const { accepted, rejected, stale } = this.#tally.summary();
    const where = `${device} chain ${chain} height ${height} ${ms.toFixed(0)} ms`;
    const why = verdict === 'accepted' ? '' : `: ${reason}`;
    const line = `${verdict} (${accepted}/${rejected}/${stale}) ${where}${why}`;
    const level = verdict === 'accepted' ? 'info' : verdict === 'rejected' ? 'error' : 'warn';
    this.#log[level]({ tag: 'miner', verdict }, line);
  }

  #device({ device, state, description, detail, reason = '', fault }: MinerEvent & { event: 'device' }): void {
    if (state === 'ready') {
      this.#log.info({ tag: device }, description);
      if (detail !== undefined) this.#log.debug({ tag: device }, detail);
    } else if (state === 'paused') this.#log.warn({ tag: device }, `paused: ${reason}`);
    else if (state === 'restarting') this.#log.warn({ tag: device }, `reopening: ${reason}`);
    else this.#log.error({ tag: device }, this.#parked(device, reason, fault === 'missing'));
  }

  #parked(device: string, reason: string, isMissing: boolean): string {
    if (this.#hasOthers(device)) return `${isMissing ? 'cannot be used' : 'parked'}, the others go on: ${reason}`;
    if (!isMissing) return `parked, and no other device is left: ${reason}`;
    return `no device can mine: ${reason.replace(/\.$/, '')}. ${HOW_TO_CHOOSE}`;
  }

  /** Whether any other device is in service, or may still be. */
  #hasOthers(device: string): boolean {
    return [...this.#tally.now().devices].some(([name, { state }]) => name !== device && state !== 'parked');
  }

  #alarm({ state, device, value, limit }: MinerEvent & { event: 'alarm' }): void {
    const tag = device ?? 'miner';
    const [rate, least] = [formatHashrate(value), formatHashrate(limit)];
    if (state === 'raised') this.#log.warn({ tag }, `low hashrate: ${rate}, which should be ${least} at least`);
    else this.#log.info({ tag }, `hashrate is back: ${rate}, which should be ${least} at least`);
  }

  #polling({ source, chains }: MinerEvent & { event: 'polling' }): void {
    if (chains.length === 0) {
      this.#log.info({ tag: 'node' }, `${source} tells its blocks by update streams again`);
      return;
    }
    this.#log.warn({ tag: 'node' }, `${source} ${describePolled(chains)}`);
  }

  #source({ source, state, reason }: MinerEvent & { event: 'source' }): void {
    const level = state === 'lost' || state === 'warning' ? 'warn' : 'info';
    this.#log[level]({ tag: 'node' }, `${source} ${reason}`);
  }
}
