/**
 * `--block-log`: records each block that is sent to a node, and follows what becomes of those that may have been
 * accepted. Mining waits for none of this. What it needs is loaded at the start, so that the first block need not wait
 * for it.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Store } from '../../blocks/store.ts';
import type { Config } from '../../config/settings.ts';
import { isBlockEvent, type MinerEvent } from '../../events/events.ts';
import { userStateDirectory } from '../../system/files.ts';
import type { BlockLog, BlockLogOptions } from '../block-log.ts';
import { UsageError } from '../exit.ts';
import type { LiveConfig } from '../live-config.ts';
import type { Sidecar } from '../run-miner.ts';

const NO_FOLDER = 'this user has no home directory, so name a folder with --block-log-folder';

/** @param live says when the nodes change, if they can: then others are asked what became of the blocks */
export function blocks(options: BlockLogOptions, live?: LiveConfig): Sidecar | undefined {
  const { log: isOn, folder = userStateDirectory() } = options.settings;
  if (!isOn) return undefined;
  if (folder !== undefined) return followBlocks(options, (log) => openStore(folder, log), live);
  return async ({ log }) => {
    log.warn({ tag: 'block' }, `it is not followed what becomes of blocks: ${NO_FOLDER}`);
    return () => {};
  };
}

/**
 * @param open opens what blocks are recorded in
 * @param live absent where the nodes never change
 */
export function followBlocks(
  options: BlockLogOptions,
  open: (log: Logger) => Store | Promise<Store>,
  live?: LiveConfig,
): Sidecar {
  return async (running) => {
    /** What happens while no block log is there to hear it. */
    const early: MinerEvent[] = [];
    let loaded: BlockLog | undefined;
    let { node } = options;
    const load = async (): Promise<BlockLog> => {
      const { startBlockLog } = await import('../block-log.ts');
      loaded = startBlockLog(running, await open(running.log), { ...options, node });
      for (const event of early.splice(0)) loaded.record(event);
      return loaded;
    };
    const forget = running.events.on((event) => {
      if (event.type !== 'job-switch' && !isBlockEvent(event)) return;
      if (loaded) loaded.record(event);
      else early.push(event);
    });
    const fail = (fault: unknown) => {
      forget();
      running.log.error({ tag: 'block' }, `it is not followed what becomes of blocks: ${(fault as Error).message}`);
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
      forget();
      await (await loading)?.end();
    };
  };
}

async function openStore(folder: string, log: Logger): Promise<Store> {
  const { BlockStore } = await import('../../blocks/store.ts');
  return new BlockStore({ folder, warn: (line) => log.warn({ tag: 'block' }, line) });
}

/** @throws UsageError for a user without a home directory */
export function blockLogFolder({ folder = userStateDirectory() }: Config['blocks']): string {
  if (folder !== undefined) return folder;
  throw new UsageError(`There is no block log: ${NO_FOLDER}.`);
}
