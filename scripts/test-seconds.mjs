// Writes test/seconds.json anew from a report of vitest. By it, the longest files of tests are started first.
//
//   npm test -- --project long --reporter=json --outputFile.json=report.json
//   node scripts/test-seconds.mjs report.json

import { readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Shorter files may come in any order. */
const LEAST_SECONDS = 3;

const root = fileURLToPath(new URL('..', import.meta.url));
const [report, target = `${root}test/seconds.json`] = process.argv.slice(2);
if (report === undefined) {
  console.error('Name the report: node scripts/test-seconds.mjs report.json');
  process.exit(2);
}
const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
const seconds = testResults
  .map(({ name, startTime, endTime }) => [relative(root, name), Math.round((endTime - startTime) / 1000)])
  .filter(([, taken]) => taken >= LEAST_SECONDS)
  .sort(([, a], [, b]) => b - a);
writeFileSync(target, `${JSON.stringify(Object.fromEntries(seconds), undefined, 2)}\n`);
