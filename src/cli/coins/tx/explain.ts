/** Explains a command, or the unsigned form of a command: signers, costs, validity and faults. */

import { z } from 'zod';
import { misspeltNetwork } from '../../../app/config/known-names.ts';
import { MAX_SIGNATURES, MAX_TTL } from '../../../protocol/ledger/command/build.ts';
import { amountFault } from '../../../protocol/ledger/command/coin.ts';
import { verifyCommand } from '../../../protocol/ledger/command/command.ts';
import {
  type Capability,
  type Payload,
  type PublicMeta,
  parsePayload,
  publicMetaOf,
  type Signer,
  unknownMembers,
} from '../../../protocol/ledger/command/command-payload.ts';
import { decimalOf, formatDecimal } from '../../../protocol/ledger/decimal.ts';
import { type ExactJsonObject, LedgerFormatError, stringifyExactJson } from '../../../protocol/ledger/json.ts';
import { checkForm, completed, type UnsignedForm } from '../../../protocol/ledger/request-file/unsigned-form.ts';
import { RequestFileError } from '../../../protocol/ledger/request-file/yaml.ts';
import { count, millis } from '../../../rig/status/shapes.ts';
import type { Transaction } from './command-files.ts';
import { plainJson } from './results.ts';

type Content = NonNullable<ShownTransaction['content']>;
type Meta = NonNullable<Content['meta']>;
type Judgement = Pick<ShownTransaction, 'verdict' | 'reason'>;

/**
 * Nodes refuse a command that was created more than this time after their newest block. `explain` does not know that
 * block, and compares the command with this machine's clock.
 */
const MAX_AHEAD_MS = 95_000;
/**
 * A warning about a member that pickaxe does not know shows at most this many characters of the member's value.
 * `tx sign` also shows the command as a whole.
 */
const MAX_SHOWN = 200;
const ED25519 = 'ED25519';
/** Matches the names that nodes and pickaxe's settings accept for a network. */
const NETWORK = /^[a-zA-Z0-9][a-zA-Z0-9-]{0,63}$/;

/** @param now milliseconds since 1970 */
export function explain(transaction: Transaction, now: number): ShownTransaction {
  const { file } = transaction;
  const { hash, cmd } = transaction.kind === 'form' ? transaction.form : transaction.command;
  const payload = cmd === null ? undefined : readPayload(cmd);
  const meta = payload && readMeta(payload.meta);
  const shownMeta = meta && showMeta(meta, now);
  const signers = payload
    ? payload.signers.map((signer, i) => showSigner(signer, isSigned(transaction, signer, i)))
    : [];
  return {
    file,
    hash,
    ...judge(transaction),
    signers: payload || transaction.kind === 'command' ? signers : condensedSigners(transaction.form),
    content: payload ? showContent(payload, shownMeta ?? null) : null,
    warnings: payload && cmd !== null ? [...unknownWarnings(cmd), ...warningsOf(payload, meta, now)] : [],
  };
}

function judge(transaction: Transaction): Judgement {
  if (transaction.kind === 'form') return judgeForm(transaction.form, transaction.file);
  const { command } = transaction;
  const verdict = verifyCommand(command);
  if (verdict.kind === 'valid') return { verdict: 'valid', reason: null };
  if (verdict.kind === 'not checkable') return { verdict: 'not-checkable', reason: verdict.message };
  const isMissing = verdict.part === 'signatures' && command.sigs.some((sig) => !sig);
  return { verdict: isMissing ? 'signatures-missing' : 'wrong', reason: verdict.message };
}

function judgeForm(form: UnsignedForm, file: string): Judgement {
  try {
    checkForm(form, file);
    const isMissing = form.cmd === null ? [...form.sigs.values()].includes(null) : !completed(form, file);
    if (isMissing) return { verdict: 'signatures-missing', reason: null };
    if (form.cmd !== null) return { verdict: 'valid', reason: null };
    return { verdict: 'not-checkable', reason: 'The form is condensed, so only its signatures were checked.' };
  } catch (error) {
    if (error instanceof RequestFileError) return { verdict: 'wrong', reason: error.message };
    throw error;
  }
}

function isSigned(transaction: Transaction, { pubKey }: Signer, index: number): boolean {
  if (transaction.kind === 'form') return Boolean(transaction.form.sigs.get(pubKey));
  return Boolean(transaction.command.sigs[index]);
}

function condensedSigners({ sigs }: UnsignedForm): ShownSigner[] {
  return [...sigs].map(([publicKey, signature]) => ({
    publicKey,
    isSigned: signature !== null,
    signsForEverything: null,
    capabilities: [],
  }));
}

function showSigner({ pubKey, clist = [] }: Signer, isSigned: boolean): ShownSigner {
  return {
    publicKey: pubKey,
    isSigned,
    signsForEverything: clist.length === 0,
    capabilities: clist.map((capability) => ({
      name: capability.name,
      arguments: capability.args.map(plainJson),
      amount: amountOf(capability),
    })),
  };
}

/**
 * @returns the amount of a capability `….TRANSFER [sender, receiver, amount]` or
 *   `….TRANSFER_XCHAIN [sender, receiver, amount, chain]`; null for any other capability
 */
function amountOf({ name, args }: Capability): string | null {
  const isTransfer =
    (/\.TRANSFER$/.test(name) && args.length === 3) || (/\.TRANSFER_XCHAIN$/.test(name) && args.length === 4);
  if (!isTransfer || typeof args[0] !== 'string' || typeof args[1] !== 'string') return null;
  const amount = orUndefined(() => decimalOf(args[2]));
  return amount === undefined ? null : formatDecimal(amount);
}

function showContent({ networkId, nonce, payload }: Payload<ExactJsonObject>, meta: Meta | null): Content {
  const common = { network: networkId, nonce, meta };
  if ('exec' in payload) {
    const { code, data } = payload.exec;
    return { ...common, runs: { code, data: plainJson(data) }, continues: null };
  }
  const { pactId, step, rollback, proof, data } = payload.cont;
  const continues = {
    requestKey: pactId,
    step,
    rollsBack: rollback,
    hasProof: proof !== null,
    data: plainJson(data),
  };
  return { ...common, runs: null, continues };
}

function showMeta(meta: PublicMeta, now: number): Meta {
  const endsMillis = (meta.creationTime + meta.ttl) * 1000;
  return {
    chain: meta.chainId,
    gasPayer: meta.sender,
    gasLimit: meta.gasLimit,
    gasPrice: formatDecimal(meta.gasPrice),
    mostGasCost: formatDecimal(meta.gasPrice * BigInt(meta.gasLimit)),
    createdMillis: meta.creationTime * 1000,
    endsMillis,
    isOver: now >= endsMillis,
  };
}

/** @returns a warning about each member that pickaxe does not know, because signatures cover such members, too */
function unknownWarnings(cmd: string): string[] {
  return unknownMembers(cmd).map(({ path, value }) => {
    const text = stringifyExactJson(value);
    const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}… (${text.length} characters)` : text;
    return `The command has ${path}, which pickaxe does not know, and which is signed, too: ${shown}`;
  });
}

function signerWarnings({ pubKey, scheme = ED25519, addr = pubKey }: Signer): string[] {
  if (scheme !== ED25519) return [`${pubKey} signs with the scheme ${scheme}, which pickaxe does not check.`];
  return addr === pubKey
    ? []
    : [`${pubKey} has the address ${addr}, which is not this key, so nodes refuse the command.`];
}

function networkWarnings(networkId: string | null): string[] {
  if (!networkId) return ['The command names no network (networkId), so nodes refuse it.'];
  const meant = misspeltNetwork(networkId);
  const question = meant === undefined ? '' : ` Did you mean ${meant}?`;
  if (!NETWORK.test(networkId))
    return [`No network has a name like ${networkId} (networkId), so nodes refuse the command.${question}`];
  return meant === undefined ? [] : [`The network ${networkId} (networkId) is not known.${question}`];
}

function warningsOf(payload: Payload<ExactJsonObject>, meta: PublicMeta | undefined, now: number): string[] {
  const { signers, networkId } = payload;
  const code = 'exec' in payload.payload ? payload.payload.exec.code : '';
  const everything = signers
    .filter(({ clist }) => !clist?.length)
    .map(({ pubKey }) => `${pubKey} signs for everything that the code does: name capabilities (caps) for this key.`);
  const amounts = signers.flatMap(({ pubKey, clist = [] }) =>
    clist.flatMap((capability) => {
      const fault = amountFault(capability, code);
      return fault === undefined ? [] : [`${capability.name} of ${pubKey}: ${fault}.`];
    }),
  );
  return [
    ...everything,
    ...amounts,
    ...signers.flatMap(signerWarnings),
    ...networkWarnings(networkId),
    ...(signers.length > MAX_SIGNATURES ? [`Nodes take at most ${MAX_SIGNATURES} signatures.`] : []),
    ...(meta ? metaWarnings(meta, signers, now) : ['The metadata are not public ones, so only /private takes them.']),
  ];
}

function metaWarnings(
  { chainId, sender, gasLimit, ttl, creationTime }: PublicMeta,
  signers: readonly Signer[],
  now: number,
): string[] {
  const paysForGas = ({ clist = [] }: Signer) =>
    clist.length === 0 || clist.some(({ name }) => /\.GAS(_PAYER)?$/.test(name));
  const isThere = chainId !== '' || sender !== '' || gasLimit !== 0 || creationTime !== 0;
  if (!isThere) return ['The command has no metadata (publicMeta), so only servers without chains take it.'];
  const warnings: [isSo: boolean, message: string][] = [
    [chainId === '', 'The command names no chain (publicMeta.chainId), so nodes refuse it.'],
    [sender === '', 'Nobody pays for gas: name an account (publicMeta.sender).'],
    [gasLimit === 0, 'The gas limit is 0, so nothing can run: set publicMeta.gasLimit.'],
    [
      signers.length > 0 && !signers.some(paysForGas),
      'No signature allows to pay for gas: one key needs the capability GAS of the token, such as coin.GAS.',
    ],
    [ttl > MAX_TTL, `Nodes take a time to live (publicMeta.ttl) of at most ${MAX_TTL} seconds.`],
    [(creationTime + ttl) * 1000 <= now, 'The time to live is over, so nodes refuse the command: build it again.'],
    [
      creationTime * 1000 > now + MAX_AHEAD_MS,
      'The creation time is in the future, so nodes refuse the command until then: is the clock right?',
    ],
  ];
  return warnings.filter(([isSo]) => isSo).map(([, message]) => message);
}

function readPayload(cmd: string): Payload<ExactJsonObject> | undefined {
  return orUndefined(() => parsePayload(cmd));
}

function readMeta(meta: ExactJsonObject): PublicMeta | undefined {
  return orUndefined(() => publicMetaOf(meta));
}

/** @returns what `read` returns; undefined if it throws a LedgerFormatError */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof LedgerFormatError) return undefined;
    throw error;
  }
}

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
