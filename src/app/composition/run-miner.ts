/** Runs a miner with its logs, relays, sidecars and limits, for `mine`, `coordinate`, `demo` and `worker`. */

import type { Logger } from 'pino';
import { onAbort, setLongTimeout } from '../../base/system/abort.ts';
import type { Engine } from '../../miner/engine/engine.ts';
import type { Controls, Events, Listener } from '../../miner/events/events.ts';
import { Miner } from '../../miner/loop/miner.ts';
import type { LimitsOf } from '../../miner/loop/thermal-guard.ts';
import { type Relay, type RelayLog, RelayRefusal } from '../../miner/relay/relay.ts';
import { SharedSource } from '../../miner/source/following.ts';
import type { WorkSource } from '../../miner/source/source.ts';
import { LANES } from '../../protocol/chain/nonce.ts';
import { JsonLines } from '../../rig/log/json-lines.ts';
import { LogLines } from '../../rig/log/log-lines.ts';
import type { LogTail } from '../../rig/log/log-tail.ts';
import { OUTAGE_LOOK_MS, Outages } from '../../rig/log/outages.ts';
import { describeDevices, type RunningMiner, type Setup } from '../../rig/running-miner.ts';
import type { AskBalance, EarningsTerms } from '../../rig/status/earnings.ts';
import { Tally } from '../../rig/status/tally.ts';
import type { Config } from '../config/settings.ts';
import { EXIT, UsageError } from '../process/exit.ts';
import type { Restart } from '../process/restarts.ts';
import type { RigContext } from './context.ts';

/** Time until the first log line about speed. It is short, so that a new user soon sees that the miner hashes. */
const FIRST_REPORT_MS = 2_000;
const REPORT_MS = 10_000;
/**
 * While the terminal shows a status line, only one of this many reports is logged. This makes one log line a minute, to
 * which a user can scroll back.
 */
const REPORTS_BESIDE_STATUS = 6;

export interface RigParts {
  readonly rigName: string;
  /** The configuration files and the payee, for reports; by default, there are none. */
  readonly setup?: Setup;
  readonly events: Events;
  readonly context: RigContext;
  readonly source: WorkSource;
  readonly engines: readonly Engine[];
  /** Relays give the source's work to other hashers. A rig with relays needs no engines. */
  readonly relays?: readonly MakeRelay[];
  readonly log: Logger;
  readonly logTail: LogTail;
  /** Writes a line of `--json`, which has no line break. If absent, no such lines are made. */
  readonly writeJson?: ((line: string) => void) | undefined;
  /** Returns whether a status line shows the speed now, so that fewer log lines have to. If absent, none ever does. */
  readonly showsStatus?: () => boolean;
  /**
   * Returns the limits of a device. Called at each reading of the device's temperature. If absent, no temperature
   * pauses a device.
   */
  readonly temperatureLimits?: LimitsOf;
  readonly sidecars?: readonly Sidecar[];
  /** Rewards and the price of power, for estimates of earnings. If absent, both are unknown. */
  readonly earnings?: EarningsTerms;
  /** Asks a node for the balance of the miner's account; absent when the rig mines on no node. */
  readonly askBalance?: AskBalance;
  /**
   * Through this object, the run can be asked to end so that mining begins again. If absent, the run cannot be
   * restarted.
   */
  readonly restart?: Restart;
}

export type MakeRelay = (context: RelayContext) => Relay;

interface RelayContext extends Pick<RigContext, 'clock' | 'random'> {
  readonly source: WorkSource;
  readonly emit: Listener;
  /** The lane in which the miner searches, unless the source assigns one. */
  readonly lane: number;
}

/** @param tag of the lines */
export function relayLog(log: Logger, tag: string): RelayLog {
  return {
    debug: (line) => log.debug({ tag }, line),
    info: (line) => log.info({ tag }, line),
    warn: (line) => log.warn({ tag }, line),
  };
}

/**
 * Starts a part that runs beside the miner, such as the status line or the HTTP API, before the first device opens.
 * @returns a function that ends the sidecar, called when the miner has ended
 * @throws UsageError when the sidecar's settings cannot be used
 */
export type Sidecar = (miner: RunningMiner) => Promise<() => void | Promise<void>>;

/**
 * Runs the miner until it is stopped, or until a limit of the run is reached. Without relays, the run also ends when no
 * device can be used any more.
 * @returns the exit code
 * @throws UsageError when a sidecar or a relay cannot start, or when a running relay throws a RelayRefusal
 */
export async function runMiner(
  rig: RigParts,
  { blocks, duration }: Pick<Config['run'], 'blocks' | 'duration'>,
): Promise<number> {
  const {
    rigName,
    setup = { configFiles: [] },
    events,
    context,
    engines,
    log,
    logTail,
    writeJson,
    showsStatus = () => false,
    temperatureLimits,
    sidecars = [],
    askBalance,
    restart,
  } = rig;
  const { clock, random } = context;
  const { emit } = events;
  const source = new SharedSource(rig.source);
  const randomBelow = (below: number) => Math.floor(random() * below);
  const lane = randomBelow(LANES);
  const relays = (rig.relays ?? []).map((make) => make({ source, emit, clock, random, lane }));
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const tally = new Tally(clock, engines, relays, rig.source.kind, rig.earnings);
  const outages = new Outages(log, tally);
  const logLines = new LogLines(log, tally);
  const jsonLines = writeJson && new JsonLines(writeJson, clock);
  const outcome = { wrongHashes: false, interrupted: false, refusal: undefined as RelayRefusal | undefined };
  const refuse = (fault: RelayRefusal) => {
    outcome.refusal ??= fault;
    stop();
  };

  events.on(tally.listen);
  if (jsonLines) events.on(jsonLines.listen);
  events.on(logLines.listen);
  events.on((event) => {
    if (event.type === 'device' && event.fault === 'wrong-hashes') outcome.wrongHashes = true;
  });

  let reports = 0;
  const report = () => {
    if (!showsStatus() || reports % REPORTS_BESIDE_STATUS === 0) logLines.speed();
    reports++;
    jsonLines?.hashrate(tally.status());
  };
  // With relays, the miner searches only its own lane, because the relays may use all other lanes.
  const besideRelays = relays.length > 0 && { lane, staysWithoutEngines: true };
  const miner = new Miner({ source, engines, emit, clock, random: randomBelow, temperatureLimits, ...besideRelays });
  const controls: Controls = {
    pause: (...asked) => miner.pause(...asked),
    resume: (...asked) => miner.resume(...asked),
    stop: () => {
      outcome.interrupted = true;
      restart?.cancel();
      stop();
    },
  };
  events.on((event) => {
    if (event.type === 'verdict' && blocks !== undefined && tally.accepted >= blocks) stop();
  });
  const timers = [
    clock.setTimeout(report, FIRST_REPORT_MS),
    clock.setInterval(report, REPORT_MS),
    clock.setInterval(() => outages.look(), OUTAGE_LOOK_MS),
  ];
  const cancelEnd = duration === undefined ? undefined : setLongTimeout(clock, stop, duration * 1000);
  const ignoreRestart = restart && onAbort(restart.asked, stop);

  const ends: Awaited<ReturnType<Sidecar>>[] = [];
  const relaying: Promise<void>[] = [];
  try {
    log.info({ tag: 'miner' }, describeDevices(engines));
    jsonLines?.start(rigName, setup, engines);
    const beginsAgain = () => restart?.isDue ?? false;
    const running = { rigName, setup, controls, events, tally, clock, log, logTail, askBalance, beginsAgain };
    for (const start of sidecars) ends.push(await start(running));
    for (const relay of relays) {
      await openRelay(relay);
      relaying.push(runRelay(relay, stopping.signal, log, refuse));
    }
    await miner.run(stopping.signal);
  } finally {
    stop();
    await Promise.all(relaying);
    tally.end();
    for (const end of [() => source.close(), ...ends.reverse()]) {
      try {
        await end();
      } catch (fault) {
        log.error({ tag: 'miner' }, `an error while stopping: ${(fault as Error).message}`);
      }
    }
    for (const timer of timers) timer.cancel();
    cancelEnd?.();
    ignoreRestart?.();
    if (restart) restart.accepted = tally.accepted;
  }

  const summary = tally.summary();
  if (Object.keys(summary.devices).length > 0) jsonLines?.hashrate(tally.status());
  logLines.summary();
  jsonLines?.summary(summary);

  if (outcome.refusal) throw new UsageError(outcome.refusal.message);
  if (outcome.interrupted) return EXIT.done;
  if (outcome.wrongHashes) return EXIT.wrongHashes;
  const { devices, work } = tally.status();
  const isIdle = Object.values(devices).every(({ state }) => state === 'parked');
  if (isIdle && relays.length === 0) return EXIT.noDevice;
  return work ? EXIT.done : EXIT.noWork;
}

/** @throws UsageError in place of any error, because errors of opening are about the relay's settings */
async function openRelay(relay: Relay): Promise<void> {
  try {
    await relay.open();
  } catch (fault) {
    throw new UsageError((fault as Error).message);
  }
}

/**
 * Runs a relay until `stop`. A RelayRefusal is passed to `refuse`. Any other error is logged, and the devices and the
 * other relays go on.
 */
async function runRelay(
  relay: Relay,
  stop: AbortSignal,
  log: Logger,
  refuse: (fault: RelayRefusal) => void,
): Promise<void> {
  try {
    await relay.run(stop);
  } catch (fault) {
    if (fault instanceof RelayRefusal) refuse(fault);
    else
      log.error({ tag: relay.name }, `has failed, please report it: ${fault instanceof Error ? fault.stack : fault}`);
  }
}
