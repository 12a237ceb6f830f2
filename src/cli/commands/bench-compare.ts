/** `pickaxe bench compare A.json B.json`: two results side by side. */

import { closeSync, openSync, readSync } from 'node:fs';
import { EXIT, UsageError } from '../../app/exit-codes.ts';
import { type Comparison, compare, type Pair } from '../../bench/compare.ts';
import { type BenchResult, benchResultShape, type DeviceResult } from '../../bench/result.ts';
import { formatHashrate, formatPercent, withPrefix } from '../../report/units.ts';
import { oneLine } from '../../text/one-line.ts';
import { headingOf, row } from '../bench-table.ts';

/** Far more than a result of an hour on a thousand devices. */
const MOST_BYTES = 64 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** @returns the exit code */
export function runCompare(fileA: string, fileB: string): number {
  const [a, b] = [readResult(fileA), readResult(fileB)];
  const comparison = compare(a, b);
  process.stdout.write(lines(a, b, comparison).join(''));
  const wrong = [...a.devices, ...b.devices].some(({ errors }) => errors.length > 0);
  return wrong || comparison.sums === 'different' ? EXIT.wrongHashes : EXIT.done;
}

/** @throws UsageError when it is no result of `pickaxe bench --json`. */
function readResult(file: string): BenchResult {
  const refuse = (why: string) => new UsageError(`${file} is not a result of pickaxe bench --json: ${why}`);
  let text: string | undefined;
  try {
    text = readUpTo(MOST_BYTES, file);
  } catch (fault) {
    throw new UsageError(`${file} cannot be read: ${(fault as Error).message}.`);
  }
  if (text === undefined) throw refuse(`it has more than ${MOST_BYTES} bytes.`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (fault) {
    throw refuse(`it is not JSON (${oneLine((fault as Error).message)}).`);
  }
  const checked = benchResultShape.safeParse(json);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw refuse(oneLine(`${issue.message}, at ${issue.path.join('.') || 'its top'}.`));
}

/** Pipes and devices do not tell their size. @returns undefined when there is more */
function readUpTo(most: number, file: string): string | undefined {
  const descriptor = openSync(file, 'r');
  try {
    const chunks: Buffer[] = [];
    for (let bytes = 0; bytes <= most; ) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      const read = readSync(descriptor, chunk);
      if (read === 0) return Buffer.concat(chunks).toString('utf8');
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
    machineLine('A', a),
    machineLine('B', b),
    ...pairs.flatMap(pairLines),
    ...onlyA.map((device) => `${headingOf(device)}${row('only in A', rateOf(device))}`),
    ...onlyB.map((device) => `${headingOf(device)}${row('only in B', rateOf(device))}`),
    pairs.some(({ verdict }) => verdict === 'within the spread')
      ? 'Within the spread: slices of one run differ by as much. See docs/bench.md.\n'
      : '',
    ...sumLines(a, b, sums),
  ];
}

function machineLine(name: string, { machine, seconds, together }: BenchResult): string {
  const how = `${seconds} s${together ? ', all devices at once' : ' a device'}`;
  return `${name}: pickaxe ${machine.pickaxe} on ${machine.cpu}, ${machine.os}, Node.js ${machine.node}; ${how}\n`;
}

function pairLines({ a, b, ratio, noise, verdict }: Pair): string[] {
  const judged = verdict === 'within the spread' ? `${verdict} (±${formatPercent(noise, 1)})` : `B is ${verdict}`;
  const efficiency =
    a.hashes_per_joule === undefined || b.hashes_per_joule === undefined
      ? 'n/a'
      : `${withPrefix(a.hashes_per_joule)}H/J → ${withPrefix(b.hashes_per_joule)}H/J`;
  return [
    headingOf(a),
    ...(headingOf(a) === headingOf(b) ? [] : [headingOf(b)]),
    row('hashrate', `${rateOf(a)} → ${rateOf(b)}`),
    row('B / A', `${ratio.toFixed(3)}: ${judged}`),
    row('efficiency', efficiency),
  ];
}

function rateOf({ hashrate: { mean, cv } }: DeviceResult): string {
  return `${formatHashrate(mean)} ± ${formatPercent(cv, 1)}`;
}

function sumLines(a: BenchResult, b: BenchResult, sums: Comparison['sums']): string[] {
  const all = [
    ...a.devices.map((device) => ({ of: 'A', device })),
    ...b.devices.map((device) => ({ of: 'B', device })),
  ];
  const errors = all.flatMap(({ of, device }) =>
    device.errors.map((error) => `ERROR: ${of} ${device.name}: ${error}\n`),
  );
  if (sums === 'equal') return [...errors, `Hash sums are equal: ${all[0].device.sum}.\n`];
  if (sums === 'different') {
    return [
      ...errors,
      'ERROR: HASH SUMS DIFFER for the same seed and count: a device computes wrong hashes, or a file was changed.\n',
      ...all.map(({ of, device }) => `  ${of} ${device.name.padEnd(6)} ${device.sum}\n`),
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
