/** `pickaxe verify HEX`: checks whether a header's proof of work is valid. */

import { EXIT, UsageError } from '../../app/exit-codes.ts';
import { fromHex, toHex } from '../../chain/bytes.ts';
import { HEADER_BYTES, HEADER_OFFSET, TARGET_BYTES, WORK_BYTES } from '../../chain/layout.ts';
import { difficultyOf, meetsTarget } from '../../chain/target.ts';
import { powHash } from '../../chain/verify.ts';
import { creationTimeOf, nonceOf, parseWork } from '../../chain/work.ts';

export function runVerify(hex: string): number {
  const { header, target, from } = parse(hex.trim());
  const hash = powHash(header);
  const solved = meetsTarget(hash, target);
  const lines = [
    ['PoW hash', toHex(hash)],
    ['target', `${toHex(target)} (${from}, both little-endian)`],
    ['difficulty', difficultyOf(target).toPrecision(6)],
    ['nonce', nonceOf(header).toString()],
    ['creation time', formatTime(creationTimeOf(header))],
    ['verdict', solved ? 'solved' : 'not solved: the hash is above the target'],
  ];
  process.stdout.write(lines.map(([name, value]) => `${name.padEnd(14)} ${value}\n`).join(''));
  return solved ? EXIT.done : EXIT.failed;
}

function parse(hex: string): { header: Uint8Array; target: Uint8Array; from: string } {
  const digits = hex.replace(/^0x/i, '');
  if (!/^[0-9a-f]*$/i.test(digits)) throw new UsageError('This is not hex: give only the digits 0-9 and a-f.');
  if (digits.length === 2 * HEADER_BYTES) {
    const header = fromHex(digits);
    return {
      header,
      target: header.subarray(HEADER_OFFSET.target, HEADER_OFFSET.target + TARGET_BYTES),
      from: 'header',
    };
  }
  if (digits.length === 2 * WORK_BYTES) {
    const { header, target } = parseWork(fromHex(digits), { id: 'verify' });
    return { header, target, from: 'work record' };
  }
  throw new UsageError(
    `Give a header of ${HEADER_BYTES} bytes (${2 * HEADER_BYTES} hex digits) or a work record of ` +
      `${WORK_BYTES} bytes (${2 * WORK_BYTES} digits), not ${digits.length} digits.`,
  );
}

/** @param us microseconds since the UNIX epoch */
function formatTime(us: bigint): string {
  const date = new Date(Number(us / 1000n));
  return `${us} µs${Number.isNaN(date.getTime()) ? '' : ` (${date.toISOString()})`}`;
}
