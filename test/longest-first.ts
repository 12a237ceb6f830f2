/**
 * The order in which files of tests start: the longest first, so that no worker is left with a long one at the end.
 * Files with processes of their own come first, then those that share processes, one project after the other: vitest
 * ends a process as soon as the next file may not share it.
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
    const sharing = [...new Set(files.map(({ project }) => project))].filter(({ config }) => !config.isolate);
    const turn = ({ project }: TestSpecification) => sharing.indexOf(project);
    return files.toSorted((a, b) => turn(a) - turn(b) || seconds(b) - seconds(a) || bytes.get(b)! - bytes.get(a)!);
  }
}
