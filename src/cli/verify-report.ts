/** What `pickaxe verify --json` prints. */

import { z } from 'zod';
import { nonce } from '../report/shapes.ts';

const hex32 = z.string().regex(/^[0-9a-f]{64}$/);

export const VerifyReport = z.object({
  solved: z.boolean().meta({ description: 'whether the hash of the proof of work is at most the target' }),
  powHash: hex32.meta({ description: 'little-endian' }),
  blockHash: z
    .string()
    .regex(/^[\w-]{43}$/)
    .meta({ description: 'base64url, as nodes write it' }),
  blockHashMatches: z.boolean().nullable().meta({ description: 'null: no block hash was given with the header' }),
  chain: z.int().nonnegative(),
  height: nonce,
  networkNumber: z.int().nonnegative().meta({ description: 'the number of the network, such as 5 for mainnet01' }),
  target: hex32.meta({ description: 'little-endian' }),
  targetFrom: z.enum(['header', 'work-record']),
  difficulty: z.number().nonnegative(),
  nonce,
  creationTimeMicros: z
    .string()
    .regex(/^-?\d{1,20}$/)
    .meta({ description: 'a decimal number: microseconds since the UNIX epoch' }),
});
export type VerifyReport = Readonly<z.infer<typeof VerifyReport>>;
