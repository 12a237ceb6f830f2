/** The configuration of a running miner. Some settings change when their file changes. */

import { type Changes, changes } from '../config/changes.ts';
import { rigContradictions } from '../config/contradictions.ts';
import type { Loaded } from '../config/load.ts';
import { assemble, type Config, valueIn } from '../config/settings.ts';
import { refuse } from './exit-codes.ts';

export class LiveConfig {
  /** The files that were read, as absolute paths. */
  readonly files: readonly string[];
  #config: Config;
  readonly #load: () => Promise<Loaded>;
  readonly #heeding = new Set<() => void>();

  /** @param load reads it again; throws UsageError when something is wrong with it */
  constructor({ config, files }: Loaded, load: () => Promise<Loaded>) {
    this.#config = config;
    this.files = files;
    this.#load = load;
  }

  /** The settings at the moment. */
  get config(): Config {
    return this.#config;
  }

  /**
   * Reads it again and takes what can change while mining.
   * @returns what differs from what holds; what needs a restart does so until the next start
   * @throws UsageError when something is wrong with it: nothing is changed then.
   */
  async refresh(): Promise<Changes> {
    const { config: read } = await this.#load();
    refuse(rigContradictions(read));
    const found = changes(this.#config, read);
    if (found.live.length === 0) return found;
    const before = this.#config;
    this.#config = assemble((entry) => valueIn(entry.setting.live ? read : before, entry));
    for (const heed of this.#heeding) heed();
    return found;
  }

  /** @param heed told whenever something else holds. @returns what ends that */
  onChange(heed: () => void): () => void {
    this.#heeding.add(heed);
    return () => this.#heeding.delete(heed);
  }
}
