/**
 * The unsigned commands of other programs, in JSON. The network's client library lists a signature, or null, for each
 * signer in the order of the command's text. Wallets name each signer's key beside the signature, and may leave out the
 * hash (KIP-15).
 */

import { jsonList, jsonObject, jsonText } from '../command/tool-json.ts';
import { type Place, readPublicKey, readSignature } from './yaml.ts';

export interface ListForm {
  /** Whether each signature has its public key beside it. */
  readonly isNamed: boolean;
  readonly hasHash: boolean;
}

interface ListedSignature {
  /** 64 hex digits; undefined if the place in the list says whose signature it is. */
  readonly key: string | undefined;
  /** 128 hex digits; null if it is missing. */
  readonly signature: string | null;
}

/** @throws RequestFileError for an item that is neither null nor an object of `sig` and `pubKey` */
export function readSignatureList(list: Place): { readonly signatures: ListedSignature[]; readonly isNamed: boolean } {
  const signatures = list.items().map((item): ListedSignature => {
    if (item.isAbsent) return { key: undefined, signature: null };
    const { pubKey, sig } = item.fields('pubKey', 'sig');
    const key = pubKey.isAbsent ? undefined : readPublicKey(pubKey.text(), pubKey);
    return { key, signature: readSignature(sig) };
  });
  return { signatures, isNamed: signatures.some(({ key }) => key !== undefined) };
}

/**
 * @param signers the public keys of all signers, in the order of the command's text
 * @returns the signature for each signer's key; null for a missing one
 * @throws RequestFileError for a key that is no signer's, and if signatures without keys are not as many as the signers
 */
export function signaturesOfList(
  signatures: readonly ListedSignature[],
  signers: readonly string[],
  list: Place,
): Map<string, string | null> {
  if (signatures.length !== signers.length && signatures.some(({ key }) => key === undefined)) {
    throw list.fault(`must have a signature or null for each of the command’s ${signers.length} signers`);
  }
  const all = new Map<string, string | null>(signers.map((key) => [key, null]));
  for (const [at, { key = signers[at], signature }] of signatures.entries()) {
    if (!all.has(key)) throw list.fault(`has a signature of ${key}, which is not a signer of this command`);
    if (signature !== null) all.set(key, signature);
  }
  return all;
}

/** @returns JSON with a newline at its end */
export function listFormJson(
  { isNamed, hasHash }: ListForm,
  {
    hash,
    cmd,
    sigs,
  }: { readonly hash: string; readonly cmd: string; readonly sigs: ReadonlyMap<string, string | null> },
): string {
  const items = [...sigs].map(([key, signature]) => {
    const sig = signature === null ? 'null' : jsonText(signature);
    if (isNamed)
      return jsonObject([
        ['pubKey', jsonText(key)],
        ['sig', sig],
      ]);
    return signature === null ? 'null' : jsonObject([['sig', sig]]);
  });
  const fields = [
    ['cmd', jsonText(cmd)],
    ['hash', hasHash ? jsonText(hash) : undefined],
    ['sigs', jsonList(items)],
  ] as const;
  return `${jsonObject(fields)}\n`;
}
