/**
 * Mining systems write a wallet and the name of a worker as one text, like HiveOS's `%WAL%.%WORKER_NAME%`. So `k:KEY.rig1`
 * may be given as a public key or as an account: the part after the dot names the rig. So does the one in the user at a pool, which
 * the pool gets whole. Pure.
 */

interface OwnerAndRig {
  /** `KEY`, `k:KEY`, or the whole text where no rig's name follows a key. */
  readonly owner: string;
  readonly rig?: string;
}

/** Accounts that are not named after a key may have dots in their names. */
const KEY_AND_RIG = /^((?:k:)?[0-9a-fA-F]{64})\.(.*)$/s;

export function splitWorkerName(text: string): OwnerAndRig {
  const [, owner, rig] = KEY_AND_RIG.exec(text) ?? [];
  return owner === undefined || rig === undefined ? { owner: text } : { owner, rig };
}

/** @param said a public key, several, or an account, as somebody wrote them. @returns the first rig name in them */
export function rigNamedBy(said: unknown): string | undefined {
  const texts = [said].flat().filter((one) => typeof one === 'string');
  return texts.map((text) => splitWorkerName(text).rig).find((rig) => rig !== undefined);
}

/** Pools differ in what they want: an e-mail address, a lone dot at an end, or more than a rig's name may have names no rig. */
const NAME_AND_RIG = /^[^@]*[^@.]\.([^@.]*[^@.\s][^@.]*)$/;
const MOST_OF_NAME = 64;

/** @param user the user at a pool, like `k:KEY.rig1` or `NAME.rig1`. @returns the rig's name in it */
export function rigOfPoolUser(user: unknown): string | undefined {
  if (typeof user !== 'string') return undefined;
  const rig = rigNamedBy(user) ?? NAME_AND_RIG.exec(user)?.[1];
  return rig === undefined || rig.length > MOST_OF_NAME || rig.trim() === '' ? undefined : rig;
}
