/** Makes sidecars from the settings: pauses, the alarm, notices, the node watch and the block log. */

import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { pause } from '../../base/system/abort.ts';
import { userStateDirectory } from '../../base/system/files.ts';
import { isLoopback } from '../../base/text/addresses.ts';
import { isBlockEvent, type MinerEvent } from '../../miner/events/events.ts';
import type { Store } from '../../node/blocks/block-log.ts';
import { type HookCommands, Hooks } from '../../rig/notify/hooks.ts';
import { NOTICES, type Notice, type NoticeType, sendNotices, watchHashrate } from '../../rig/notify/notices.ts';
import { Webhook } from '../../rig/notify/webhook.ts';
import { findWatches } from '../../rig/pauses/idle.ts';
import { keepSchedule, pauseOnBattery, pauseWhileUsed } from '../../rig/pauses/pauses.ts';
import { powerReader } from '../../rig/pauses/power.ts';
import { isWebhookUrl, webhookUrl } from '../config/setting-types/addresses.ts';
import type { Config } from '../config/settings.ts';
import { kebab } from '../config/settings-table.ts';
import { secretIn } from '../nodes/node-clients.ts';
import type { NodeWatchOptions } from '../nodes/node-watch.ts';
import { UsageError } from '../process/exit.ts';
import type { BlockLog, BlockLogOptions } from './block-recorder.ts';
import { type LiveConfig, restartOnChange } from './reload.ts';
import type { Sidecar } from './run-miner.ts';

/** Pauses mining outside of the windows of `--schedule`. */
export async function schedule({ pause: { schedule: windows } }: Config): Promise<Sidecar | undefined> {
  if (windows === undefined) return undefined;
  return async (running) => keepSchedule(windows, running);
}

/** Pauses mining for `--pause-on-battery`. @throws UsageError on systems whose power supply cannot be read */
export async function battery({ pause }: Config): Promise<Sidecar | undefined> {
  if (!pause.onBattery) return undefined;
  const readPower = powerReader();
  if (!readPower) throw new UsageError('--pause-on-battery works on Linux and macOS only.');
  return (running) => pauseOnBattery(readPower, running);
}

/**
 * Pauses mining for `--pause-on-activity`.
 * @returns a sidecar that throws a UsageError when it starts on a system that does not show whether somebody uses it
 */
export async function activity({ pause }: Config): Promise<Sidecar | undefined> {
  const { onActivity = 'none' } = pause;
  if (onActivity === 'none') return undefined;
  return async (running) => {
    const watches = await findWatches((why) => running.log.warn({ tag: 'pause' }, why));
    if (watches.length > 0) return pauseWhileUsed(watches, onActivity * 1000, running);
    throw new UsageError(
      '--pause-on-activity: pickaxe cannot see whether somebody uses this machine. On Linux it needs /dev/pts, logind, ' +
        'GNOME or xprintidle, on macOS ioreg; other systems are not supported.',
    );
  };
}

/** Raises the alarm of `--min-hashrate`. */
export async function alarm({ alarm: { minHashrate, after } }: Config): Promise<Sidecar | undefined> {
  if (minHashrate === undefined) return undefined;
  return async (running) => watchHashrate(minHashrate, after * 1000, running);
}

/**
 * Sends notices to the commands of `--on-…` and to the webhook of `--webhook`. The notices of start and stop are sent
 * once, even if these settings change while mining.
 * @throws UsageError when the webhook's files cannot be used
 */
export async function notices(live: LiveConfig): Promise<Sidecar> {
  let send = (_: Notice) => {};
  /** The promises that calls of `NoticeTargets.end` returned. The sidecar's end waits for all of them. */
  const ending: Promise<unknown>[] = [];
  const targets = await restartOnChange(
    live,
    ({ hooks, webhook }) => [hooks, webhook],
    async (config) => {
      const open = noticeTargetsOf(config);
      return async ({ log }) => {
        const opened = open(log);
        send = opened.send;
        return () => void ending.push(opened.end());
      };
    },
  );
  return async (running) => {
    const endTargets = await targets(running);
    const stop = sendNotices(running, (notice) => send(notice));
    return async () => {
      stop();
      await endTargets();
      await Promise.all(ending);
    };
  };
}

interface NoticeTargets {
  readonly send: (notice: Notice) => void;
  /** Waits for pending commands and deliveries, within their time limits. */
  readonly end: () => Promise<unknown>;
}

/** @throws UsageError when the webhook's files cannot be used */
function noticeTargetsOf(config: Config): (log: Logger) => NoticeTargets {
  const named = Object.entries(config.hooks).map(([name, command]) => [kebab(name), command]);
  const commands: HookCommands = Object.fromEntries(named);
  const target = targetOf(config.webhook);
  return (log) => {
    if (target?.warning !== undefined) log.warn({ tag: 'hook' }, target.warning);
    const hooks = new Hooks(commands, log);
    const webhook = target && new Webhook({ ...target, log });
    return {
      send: (notice) => {
        hooks.send(notice);
        webhook?.send(notice);
      },
      end: () => Promise.all([hooks.end(), webhook?.end()]),
    };
  };
}

interface Target {
  readonly url: URL;
  readonly token?: string;
  readonly events: ReadonlySet<NoticeType>;
  readonly warning?: string;
}

/** @throws UsageError that repeats neither the URL nor the token */
function targetOf({ url: given, urlFile, tokenFile, events = NOTICES }: Config['webhook']): Target | undefined {
  const text = urlFile === undefined ? given : secretIn(urlFile, '--webhook-file');
  if (text === undefined) return undefined;
  if (!isWebhookUrl(text)) throw new UsageError(`--webhook-file: ${webhookUrl.hint}`);
  const url = new URL(text);
  const token = tokenFile === undefined ? undefined : secretIn(tokenFile, '--webhook-token-file');
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new UsageError(
      `--webhook-token-file: ${tokenFile} must contain one token of visible ASCII characters and nothing else.`,
    );
  }
  const isOpen = token !== undefined && !isPrivate(url);
  return {
    url,
    events: new Set(events),
    ...(isOpen && { warning: `${url.origin} does not use https: others can read the token on its way` }),
    ...(token !== undefined && { token }),
  };
}

/** Whether data sent to this URL is encrypted or stays on this machine. */
function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, ''));
}

/**
 * Time from the start to the first comparison of nodes. Meanwhile the first devices begin to mine. The watch's modules
 * are loaded only after this time. A rig that serves stratum clients is the exception: it loads them at its start,
 * because the clients' connections may soon use up the files that the process may open.
 */
const FIRST_MS = 10_000;
/** Pause after an error of the watch, before the watch starts again. */
const AGAIN_MS = 60_000;

interface WatchTimes {
  readonly firstMs?: number;
  readonly againMs?: number;
}

/**
 * Watches the nodes. A node that stands still, lags or follows another branch is reported to the source as unhealthy,
 * and the source then prefers every healthy node.
 * @param loadsFirst whether the modules of the watch are loaded before the rig starts. Node.js never retries to load a
 *   module whose file it could not open
 */
export function nodes(options: NodeWatchOptions, loadsFirst: boolean, times: WatchTimes = {}): Sidecar {
  const { firstMs = FIRST_MS, againMs = AGAIN_MS } = times;
  const load = () => import('../nodes/node-watch.ts');
  return async ({ clock, log }) => {
    if (loadsFirst) await load();
    const stopping = new AbortController();
    const { signal } = stopping;
    let reported = '';
    const unhealthy = new Set<number>();
    const judge = (rank: number, fault: string | undefined) => {
      if (fault === undefined) unhealthy.delete(rank);
      else unhealthy.add(rank);
      options.source.judge(rank, fault);
    };
    const watch = async () => {
      try {
        const { runNodeWatch } = await load();
        await runNodeWatch({ ...options, source: { judge } }, log, signal);
      } catch (fault) {
        // The next watch begins anew, so the findings of this watch are taken back.
        for (const rank of unhealthy) judge(rank, undefined);
        const { message, stack } = fault as Error;
        if (message === reported) return;
        reported = message;
        log.error({ tag: 'node' }, `nodes are not watched, which is tried again; please report it: ${stack}`);
      }
    };
    const watching = (async () => {
      await pause(clock, firstMs, signal);
      while (!signal.aborted) {
        await watch();
        await pause(clock, againMs, signal);
      }
    })();
    return async () => {
      stopping.abort();
      await watching;
    };
  };
}

const NO_FOLDER = 'this user has no home directory, so name a folder with --block-log-folder';

/**
 * Records and follows blocks for `--block-log`. The modules are loaded at the start, so that the first block does not
 * have to wait for them.
 * @param live reports changes of the settings about nodes, after which the new nodes are asked
 * @returns undefined if the settings turn the block log off
 */
export function blocks(options: BlockLogOptions, live?: LiveConfig): Sidecar | undefined {
  const { log: isOn, folder = userStateDirectory() } = options.settings;
  if (!isOn) return undefined;
  if (folder !== undefined) return followBlocks(options, (log) => openStore(folder, log), live);
  return async ({ log }) => {
    log.warn({ tag: 'block' }, `accepted blocks are not tracked: ${NO_FOLDER}`);
    return () => {};
  };
}

/** @param open opens the store of the blocks @param live absent if the settings about nodes cannot change */
export function followBlocks(
  options: BlockLogOptions,
  open: (log: Logger) => Store | Promise<Store>,
  live?: LiveConfig,
): Sidecar {
  return async (running) => {
    /** Events that wait until the block log is loaded, or has restarted with other nodes. */
    const early: MinerEvent[] = [];
    let loaded: BlockLog | undefined;
    let { node } = options;
    const load = async (): Promise<BlockLog> => {
      const { startBlockLog } = await import('./block-recorder.ts');
      loaded = startBlockLog(running, await open(running.log), { ...options, node });
      for (const event of early.splice(0)) loaded.record(event);
      return loaded;
    };
    const unsubscribe = running.events.on((event) => {
      if (event.type !== 'job-switch' && !isBlockEvent(event)) return;
      if (loaded) loaded.record(event);
      else early.push(event);
    });
    const fail = (fault: unknown) => {
      unsubscribe();
      running.log.error({ tag: 'block' }, `accepted blocks are not tracked: ${(fault as Error).message}`);
      return undefined;
    };
    let loading = load().catch(fail);
    const restart = async (log: BlockLog | undefined) => {
      if (!log) return undefined;
      loaded = undefined;
      await log.end();
      return await load();
    };
    const settle = live?.onChange(() => {
      if (isDeepStrictEqual(live.config.node, node)) return;
      node = live.config.node;
      loading = loading.then(restart).catch(fail);
    });
    return async () => {
      settle?.();
      unsubscribe();
      await (await loading)?.end();
    };
  };
}

async function openStore(folder: string, log: Logger): Promise<Store> {
  const { BlockStore } = await import('../../node/blocks/block-log.ts');
  return new BlockStore({ folder, warn: (line) => log.warn({ tag: 'block' }, line) });
}

/** @throws UsageError when the settings name no folder, and the user has no home directory */
export function blockLogFolder({ folder = userStateDirectory() }: Config['blocks']): string {
  if (folder !== undefined) return folder;
  throw new UsageError(`There is no block log: ${NO_FOLDER}.`);
}
