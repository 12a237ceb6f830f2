/** Types of settings about who mines, for whom, and on which network. */

import { isOnCurve } from '../../node/miner-identity.ts';
import { oneLine } from '../../text/one-line.ts';
import { splitWorkerName } from '../worker-name.ts';
import { parsed, text } from './setting-type.ts';

/**
 * Names have no control characters, and none that nobody sees (Unicode's Cc, Cf, Zl and Zp): a pool would pay another user than
 * the one that is shown.
 */
const RIG_NAME = /^(?=.*\S)[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,64}$/u;

export const rigName = text(RIG_NAME, 'Give the rig a name of 1 to 64 characters that one can see.');

const KEY_DIGITS = 64;
const NOT_PUBLIC = 'no account has this key, because it is no point of the curve: is it perhaps the secret key?';

/** An Ed25519 public key: 32 bytes as lower-case hex digits. `k:KEY` and `k:KEY.rig1` stand for the same key. */
export const publicKey = parsed({
  says: 'A public key is 64 hex digits. Make one with: pickaxe keygen pickaxe-key.json',
  pattern: /^(?:k:)?[0-9a-fA-F]{64}(?:\..+)?$/,
  parse: (text) => {
    const { owner, rig } = splitWorkerName(text);
    const key = owner.replace(/^k:/, '');
    const flaw = flawOf(key, owner.length - key.length) ?? flawOfRig(rig);
    if (flaw !== undefined) throw new RangeError(flaw);
    const publicKey = key.toLowerCase();
    if (!isOnCurve(publicKey)) throw new RangeError(NOT_PUBLIC);
    return publicKey;
  },
});

/** @param before the characters that were typed before the key */
function flawOf(key: string, before: number): string | undefined {
  const at = key.search(/[^0-9a-f]/i);
  if (at === KEY_DIGITS) return 'after its 64 hex digits, only a dot and a rig’s name may follow';
  if (at >= 0)
    return `its character ${before + at + 1}, ${oneLine(JSON.stringify(key.charAt(at)))}, is not a hex digit`;
  return key.length === KEY_DIGITS ? undefined : `it has ${key.length} hex digits`;
}

function flawOfRig(rig: string | undefined): string | undefined {
  return rig === undefined || RIG_NAME.test(rig)
    ? undefined
    : 'the rig’s name after the dot must have 1 to 64 characters that one can see';
}

const ACCOUNT = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,256}$/u;

/** An account's name. `k:KEY.rig1` stands for the account `k:KEY`; names that are not keys may have dots. */
export const account = parsed({
  says: 'Give the name of the account, of 1 to 256 characters that one can see; without it, the account is k: and the public key.',
  pattern: ACCOUNT,
  parse: (text) => {
    const { owner, rig } = splitWorkerName(text);
    const flaw = flawOfRig(rig);
    if (flaw !== undefined) throw new RangeError(flaw);
    return ACCOUNT.test(owner) ? owner : undefined;
  },
});

/** A user at a pool: pools differ in what they want, and a dot before the name of the worker is only their custom. */
export const poolUser = text(
  ACCOUNT,
  'Give the user as the pool wants it, like NAME.WORKER, of 1 to 256 characters that one can see.',
);

/** Some pools take settings in the password, like `d=1000`. Some miners have the URL where others have the password. */
export const poolPassword = text(
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it refuses them
  /^(?!\w[\w+.-]*:\/\/)[^\x00-\x1f\x7f]{0,256}$/,
  'Give the password at the pool, of at most 256 characters. The URL of a pool belongs to -o or --pool.',
);

export const NETWORK_NAME = /^[a-zA-Z0-9][a-zA-Z0-9-]{0,63}$/;
export const network = text(NETWORK_NAME, 'A network is written like mainnet01 or testnet04.');
