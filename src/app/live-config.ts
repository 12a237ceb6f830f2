/** The configuration of a running miner. Some settings may change while it runs. */

import type { Loaded } from '../config/load.ts';
import { assemble, type Changes, type Config, changes, valueIn } from '../config/settings.ts';

export class LiveConfig {
  /** The files that were read, as absolute paths. */
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

  /** The settings that apply now. */
  get config(): Config {
    return this.#config;
  }

  /**
   * Reads the configuration again and applies the settings that may change while mining.
   * @returns all differences. A setting that needs a restart differs until the next start
   * @throws UsageError when the configuration is not valid. Nothing changes then.
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

  /**
   * @param prepare called with the settings before each change of an applied setting. It returns what makes the change,
   *   or throws UsageError: then nothing changes
   */
  beforeChange(prepare: (next: Config) => () => void): void {
    this.#preparations.add(prepare);
  }

  /** @param apply called after each change of an applied setting. @returns a function that ends the subscription */
  onChange(apply: () => void): () => void {
    this.#listeners.add(apply);
    return () => this.#listeners.delete(apply);
  }
}
