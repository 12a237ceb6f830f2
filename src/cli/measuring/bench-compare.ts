/** `pickaxe bench compare A.json B.json`: compares two results of `pickaxe bench --json`. */

import { closeSync, openSync, readSync } from 'node:fs';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { whyUnreadable } from '../../base/system/regular-file.ts';
import { decodeText, oneLine } from '../../base/text/plain-text.ts';
import { CORE_KINDS, type CoreKind } from '../../miner/engine/device.ts';
import { BenchResult, type DeviceResult } from '../../rig/bench/bench-result.ts';
import { type Comparison, compare, type Pair, rateOf } from '../../rig/bench/compare.ts';
import { formatHashrate, formatPercent, withPrefix } from '../../rig/status/units.ts';
import type { Io } from '../io.ts';
import { circumstances, formatRate, headingOf, machineLine, row } from './bench-report.ts';

/** Maximum size of a file, far above the size of a result of an hour on a thousand devices. */
const MOST_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

export function runCompare(fileA: string, fileB: string, io: Io): number {
  const [a, b] = [readResult(fileA), readResult(fileB)];
  const comparison = compare(a, b);
  io.out(lines(a, b, comparison).join(''));
  const wrong = runsOf(a, b).some(({ run }) => run.errors.length > 0);
  return wrong || comparison.sums === 'different' ? EXIT.wrongHashes : EXIT.done;
}

/** @throws UsageError when the file cannot be read, or is not a result of `pickaxe bench --json` */
function readResult(file: string): BenchResult {
  const refuse = (why: string) => new UsageError(`${file} is not a result of pickaxe bench --json: ${why}`);
  let bytes: Buffer | undefined;
  try {
    bytes = readUpTo(MOST_BYTES, file);
  } catch (fault) {
    throw new UsageError(`${file} cannot be read: ${whyUnreadable(fault as NodeJS.ErrnoException, file)}.`);
  }
  if (bytes === undefined) throw refuse(`it has more than ${MOST_BYTES} bytes.`);
  let json: unknown;
  try {
    json = JSON.parse(decodeText(bytes));
  } catch (fault) {
    throw refuse(`it is not JSON (${oneLine((fault as Error).message)}).`);
  }
  const checked = BenchResult.safeParse(json);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw refuse(oneLine(`${issue.message}, at ${issue.path.join('.') || 'its top'}.`));
}

/** Reads in chunks, because a pipe does not report its size. @returns undefined if there are more than `most` bytes */
function readUpTo(most: number, file: string): Buffer | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let bytes = 0; bytes <= most; ) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      const read = readSync(descriptor, chunk);
      if (read === 0) return Buffer.concat(chunks);
      chunks.push(chunk.subarray(0, read));
      bytes += read;
    }
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

function lines(a: BenchResult, b: BenchResult, { pairs, onlyA, onlyB, sums }: Comparison): string[] {
  return [
    headLine('A', a),
    headLine('B', b),
    ...pairs.flatMap(pairLines),
    ...onlyA.map((device) => `${headingOf(device)}${row('only in A', rateTextOf(device))}`),
    ...onlyB.map((device) => `${headingOf(device)}${row('only in B', rateTextOf(device))}`),
    pairs.some(({ verdict }) => verdict === 'within-spread')
      ? 'Within the spread: runs of the same device, or slices of one run, differ by as much. See docs/devices.md.\n'
      : '',
    ...sumLines(a, b, sums),
  ];
}

function headLine(name: string, result: BenchResult): string {
  return `${name}: ${machineLine(result.machine)}; ${circumstances(result)}\n`;
}

function pairLines({ a, b, ratio, noise, verdict }: Pair): string[] {
  const result = verdict === 'within-spread' ? `within the spread (±${formatPercent(noise, 1)})` : `B is ${verdict}`;
  const efficiency = [a, b].map(({ hashesPerJoule }) =>
    hashesPerJoule === null ? 'n/a' : `${withPrefix(hashesPerJoule)}H/J`,
  );
  return [
    headingOf(a),
    ...(headingOf(a) === headingOf(b) ? [] : [headingOf(b)]),
    row('hashrate', `${rateTextOf(a)} → ${rateTextOf(b)}`),
    ...CORE_KINDS.flatMap((kind) => coresRow(kind, a, b)),
    row('B / A', `${ratio.toFixed(3)}: ${result}`),
    row('efficiency', efficiency.every((text) => text === 'n/a') ? 'n/a' : efficiency.join(' → ')),
  ];
}

/** @returns a row about one kind of cores. Whether a difference is noise is decided only for the whole device */
function coresRow(kind: CoreKind, a: DeviceResult, b: DeviceResult): string[] {
  const [left, right] = [a, b].map((device) => device[`${kind}CoresHashesPerSecond`]);
  if (!left || !right) return [];
  const ratio = (right / left).toFixed(3);
  return [row(`  ${kind}`, `${formatHashrate(left)} → ${formatHashrate(right)} (B / A ${ratio})`)];
}

function rateTextOf(device: DeviceResult): string {
  const { hashesPerSecond, spread } = rateOf(device);
  return formatRate(hashesPerSecond, spread);
}

/** @returns all runs of both results, named `A cpu`, or `A cpu run 2` if the device has several runs */
function runsOf(a: BenchResult, b: BenchResult) {
  return [a, b].flatMap(({ devices }, side) =>
    devices.flatMap(({ name, runs }) =>
      runs.map((run, i) => ({ of: `${'AB'[side]} ${name}${runs.length > 1 ? ` run ${i + 1}` : ''}`, run })),
    ),
  );
}

function sumLines(a: BenchResult, b: BenchResult, sums: Comparison['sums']): string[] {
  const all = runsOf(a, b);
  const errors = all.flatMap(({ of, run }) => run.errors.map((error) => `ERROR: ${of}: ${error}\n`));
  if (sums === 'equal') return [...errors, `Hash sums are equal: ${all[0].run.hashSum}.\n`];
  if (sums === 'different') {
    return [
      ...errors,
      'ERROR: HASH SUMS DIFFER for the same seed and count: a device computes wrong hashes, or a file was changed.\n',
      ...all.map(({ of, run }) => `  ${of.padEnd(8)} ${run.hashSum}\n`),
    ];
  }
  const [left, right] = [a, b].map(({ seed, count }) => `seed “${seed}”, ${count} nonces`);
  return [
    ...errors,
    left === right
      ? 'Hash sums cannot be compared: a result has no devices.\n'
      : `Hash sums cannot be compared: A has ${left}, B ${right}.\n`,
  ];
}
