/** The charges of the table model for natives of cryptography, in thousandths of a unit, beside that of the call. */

import type { Dialect } from '../dialect.ts';

export type CurveGroup = 'g1' | 'g2';

export const POINT_ADD: Readonly<Record<CurveGroup, number>> = { g1: 5_000, g2: 30_000 };
export const SCALAR_MULT: Readonly<Record<CurveGroup, number>> = { g1: 360_000, g2: 1_450_000 };

/** Dialect 5 charges a thousandth of what dialect 4 does, which is a slip of its sources that networks live with. */
export function chargeOfPairings(pairs: number, dialect: Dialect): number {
  if (pairs === 0) return 100_000;
  return (3_760 * pairs + 11_600) * (dialect === 4 ? 1_000 : 1);
}

/** @param inputs the number of hashed integers */
export function chargeOfPoseidon(inputs: number, dialect: Dialect): number {
  const [squared, linear] = dialect === 4 ? [38, 50] : [50, 38];
  return 1_000 * (squared * inputs * inputs + linear * inputs);
}

/** @param bytes in dialect 4, the length of the message's body in base64url; in dialect 5, that of the id */
export function chargeOfMessageId(bytes: number, dialect: Dialect): number {
  return dialect === 4 ? 47 * Math.floor(bytes / 100) : bytes;
}

/** @param characters the length of the message in base64url; in dialect 4, that of the recipient of an encoded one */
export function chargeOfTokenMessage(characters: number, dialect: Dialect): number {
  return dialect === 4 ? 50 * Math.floor(characters / 100) : characters;
}
