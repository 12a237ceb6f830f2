/**
 * The order in which files of tests start: the longest first, so that no worker is left with a long one at the end.
 * Files that share processes come after all others, because vitest ends a process as soon as the next file needs its
 * own.
 */

import { readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Seconds that files have taken on two busy cores, of those that took three or more. vitest's own cache of durations is
 * not there on a clean checkout. `scripts/test-seconds.mjs` writes them anew.
 */
const SECONDS: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(new URL('./seconds.json', import.meta.url), 'utf8'),
);

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const root = this.ctx.config.root;
    const seconds = ({ moduleId }: TestSpecification) => SECONDS[relative(root, moduleId).replaceAll('\\', '/')] ?? 0;
    const bytes = new Map(files.map((file) => [file, statSync(file.moduleId).size]));
    const shared = ({ project }: TestSpecification) => Number(!project.config.isolate);
    return files.toSorted((a, b) => shared(a) - shared(b) || seconds(b) - seconds(a) || bytes.get(b)! - bytes.get(a)!);
  }
}
