/** Watches the configuration files, and applies the settings that may change while the miner runs. */

import { watch } from 'chokidar';
import type { Logger } from 'pino';
import { visible } from '../../config/secrets.ts';
import { type Change, ENTRIES } from '../../config/settings.ts';
import type { LiveConfig } from '../live-config.ts';
import type { Sidecar } from '../run-miner.ts';

/** A file is read once it has not changed for this long, because editors write in pieces. */
const SETTLED_MS = 200;

/** Above all of pino's levels. */
const SILENT = Number.POSITIVE_INFINITY;

export function reload(live: LiveConfig): Sidecar {
  return async ({ log }) => {
    const watcher = watch([...live.files], {
      ignoreInitial: true,
      awaitWriteFinish: { stabilityThreshold: SETTLED_MS, pollInterval: SETTLED_MS / 4 },
    });
    watcher.on('all', () => void refresh(live, log));
    watcher.on('error', (fault) => {
      log.warn(
        { tag: 'config' },
        `changes to the configuration files will not be noticed: ${(fault as Error).message}`,
      );
    });
    return () => watcher.close();
  };
}

async function refresh(live: LiveConfig, log: Logger): Promise<void> {
  try {
    const changed = await live.refresh();
    // When the log becomes quieter, the change is logged before the new level applies.
    const { level } = live.config.log;
    const isLouder = (log.levels.values[level] ?? SILENT) < log.levelVal;
    if (isLouder) log.level = level;
    for (const change of changed.live) log.info({ tag: 'config' }, `${describe(change)}, from now on`);
    for (const change of changed.needsRestart)
      log.warn({ tag: 'config' }, `${describe(change)}: takes effect at the next start`);
    log.level = level;
  } catch (fault) {
    log.error({ tag: 'config' }, `the configuration stays as it was: ${(fault as Error).message}`);
  }
}

function describe({ path, before, after }: Change): string {
  const { setting } = ENTRIES.find((entry) => entry.path === path)!;
  const shown = (value: unknown) => (value === undefined ? 'unset' : JSON.stringify(visible(setting, value)));
  return `${path} ${shown(before)} → ${shown(after)}`;
}
