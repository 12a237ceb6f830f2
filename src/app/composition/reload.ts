/** Keeps the configuration of a running miner, and changes it when the configuration files change. */

import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import type { Loaded } from '../config/load.ts';
import { visible } from '../config/secrets.ts';
import { assemble, type Change, type Changes, type Config, changes, ENTRIES, valueIn } from '../config/settings.ts';
import { onHangup } from '../process/signals.ts';
import type { Sidecar } from './run-miner.ts';

export class LiveConfig {
  /** Absolute paths of the files that were read. */
  readonly files: readonly string[];
  #config: Config;
  readonly #load: () => Promise<Loaded>;
  readonly #listeners = new Set<() => void>();
  readonly #preparations = new Set<(next: Config) => () => void>();

  /** @param load reads the configuration again; throws UsageError when it is not valid */
  constructor({ config, files }: Loaded, load: () => Promise<Loaded>) {
    this.#config = config;
    this.files = files;
    this.#load = load;
  }

  get config(): Config {
    return this.#config;
  }

  /**
   * Reads the configuration, and applies the changes of settings that may change while mining.
   * @returns all changes, even those that take effect only after a restart
   * @throws UsageError when the new configuration cannot be used; nothing changes then
   */
  async refresh(): Promise<Changes> {
    const { config: read } = await this.#load();
    const found = changes(this.#config, read);
    if (found.live.length === 0) return found;
    const before = this.#config;
    const live = new Set(found.live.map(({ path }) => path));
    const next = assemble((entry) => valueIn(live.has(entry.path) ? read : before, entry));
    const prepared = [...this.#preparations].map((prepare) => prepare(next));
    this.#config = next;
    for (const apply of [...prepared, ...this.#listeners]) apply();
    return found;
  }

  /** @param prepare called with the new settings; returns a function that applies them, or throws UsageError */
  beforeChange(prepare: (next: Config) => () => void): void {
    this.#preparations.add(prepare);
  }

  /** @param apply called after new settings have been applied @returns a function that ends the subscription */
  onChange(apply: () => void): () => void {
    this.#listeners.add(apply);
    return () => this.#listeners.delete(apply);
  }
}

/**
 * Restarts a sidecar when one of its settings changes. When the new sidecar cannot be made, the error is logged, and
 * the previous sidecar keeps running. When the new sidecar fails to start, the error is logged, and no sidecar runs
 * until the settings change again.
 * @param settings returns the values that the sidecar depends on
 * @param make returns undefined when the settings ask for no sidecar; throws UsageError when the settings cannot be
 *   used
 * @throws UsageError when the first sidecar cannot be made
 */
export async function restartOnChange(
  live: LiveConfig,
  settings: (config: Config) => unknown,
  make: (config: Config) => Promise<Sidecar | undefined>,
): Promise<Sidecar> {
  let inForce = settings(live.config);
  const first = await make(live.config);
  return async (running) => {
    let end = await first?.(running);
    const restart = async () => {
      const { config } = live;
      if (isDeepStrictEqual(settings(config), inForce)) return;
      inForce = settings(config);
      try {
        const next = await make(config);
        await end?.();
        end = undefined;
        end = await next?.(running);
      } catch (fault) {
        running.log.error({ tag: 'config' }, `the change does not take effect: ${(fault as Error).message}`);
      }
    };
    // Restarts never overlap, however fast files change. The first restart handles changes made during the start.
    let restarts = restart();
    const unsubscribe = live.onChange(() => {
      restarts = restarts.then(restart);
    });
    return async () => {
      unsubscribe();
      await restarts;
      await end?.();
    };
  };
}

/** A changed file is read after this time without a further change, because editors write files in several steps. */
const SETTLED_MS = 200;

/** Number of the level `silent`, above the numbers of all other levels. pino's table of levels does not contain it. */
const SILENT = Number.POSITIVE_INFINITY;

/**
 * Watches the configuration files, and applies changes of settings that may change while mining.
 * @returns undefined if no file was read
 */
export async function reloadOnChange(live: LiveConfig): Promise<Sidecar | undefined> {
  if (live.files.length === 0) return undefined;
  const { watch } = await import('chokidar');
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

/** Reads the configuration again at SIGHUP if there is no terminal, because some file systems report no changes. */
export async function reloadAtHangup(live: LiveConfig): Promise<Sidecar> {
  return async ({ log }) =>
    onHangup(() => {
      log.info({ tag: 'config' }, 'SIGHUP without a terminal: the configuration is read again, and mining goes on');
      void refresh(live, log);
    });
}

/**
 * Reads the configuration again, applies the changes and logs them. If it cannot be used, the log says why, and nothing
 * changes. Never throws.
 */
export async function refresh(live: LiveConfig, log: Logger): Promise<void> {
  try {
    const changed = await live.refresh();
    // A quieter level takes effect after the changes have been logged. Otherwise it could suppress these log lines.
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
