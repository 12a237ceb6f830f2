/** What `pickaxe tx show --json` prints. */

import { z } from 'zod';
import { count, millis } from '../../report/shapes.ts';

const decimal = z
  .string()
  .regex(/^-?\d+\.\d+$/)
  .meta({ description: 'an exact decimal, such as 91.0' });
const chain = z.string().meta({ description: "a chain's digits; empty for a server without chains" });

const ShownCapability = z.object({
  name: z.string(),
  arguments: z.array(z.unknown()).meta({ description: 'numbers of more than 15 digits are texts' }),
  amount: decimal.nullable().meta({ description: 'what it allows to transfer; null for all but transfers of coins' }),
});

const ShownSigner = z.object({
  publicKey: z.string(),
  isSigned: z.boolean(),
  signsForEverything: z.boolean().nullable().meta({ description: 'null: the text of the command is not there' }),
  capabilities: z.array(ShownCapability),
});

const ShownContent = z.object({
  network: z.string().nullable(),
  nonce: z.string(),
  runs: z
    .object({ code: z.string(), data: z.unknown() })
    .nullable()
    .meta({ description: 'null: the command continues another one' }),
  continues: z
    .object({ requestKey: z.string(), step: count, rollsBack: z.boolean(), hasProof: z.boolean(), data: z.unknown() })
    .nullable()
    .meta({ description: 'null: the command runs code' }),
  meta: z
    .object({
      chain,
      gasPayer: z.string(),
      gasLimit: z.int(),
      gasPrice: decimal,
      mostGasCost: decimal,
      createdMillis: millis,
      endsMillis: millis.meta({
        description: 'when the command is no longer taken, milliseconds since the UNIX epoch',
      }),
      isOver: z.boolean(),
    })
    .nullable()
    .meta({ description: 'null: the metadata are not public ones' }),
});

/** One command or form. */
export const ShownTransaction = z.object({
  file: z.string(),
  hash: z.string().meta({ description: 'also the request key' }),
  verdict: z.enum(['valid', 'signatures-missing', 'not-checkable', 'wrong']),
  reason: z.string().nullable().meta({ description: 'what is wrong, or why it cannot be checked' }),
  signers: z.array(ShownSigner),
  content: ShownContent.nullable().meta({ description: 'null: the form is condensed, or its text cannot be read' }),
  warnings: z.array(z.string()),
});
export type ShownTransaction = z.output<typeof ShownTransaction>;
export type ShownSigner = z.output<typeof ShownSigner>;

export const ShownTransactions = z.object({ transactions: z.array(ShownTransaction) });
