/** The JSON form of nonce1: the low bytes of the nonce, which a source has assigned. */

import { z } from 'zod';

export const Nonce1Shape = z
  .strictObject({
    value: z.int().nonnegative(),
    bytes: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3), z.literal(4)]),
  })
  .refine(({ value, bytes }) => value < 2 ** (8 * bytes), 'the value must fit in the bytes')
  .meta({ description: 'the low bytes of the nonce, which the parent fixes: nonce modulo 2^(8·bytes) = value' });
