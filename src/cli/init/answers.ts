/** What `pickaxe init` finds out, and the file that it makes of it. */

import { exampleToml } from '../../config/print.ts';

export interface Answers {
  /** In order of preference. */
  readonly urls: readonly string[];
  /** Of nodes whose certificates nobody vouches for: URL=FINGERPRINT each. */
  readonly fingerprints?: readonly string[];
  /** Left out where every URL has a path. */
  readonly network?: string;
  /** 64 hex digits. */
  readonly publicKey: string;
  /** Left out, `k:` and the public key. */
  readonly account?: string;
  /** Left out, the CPU and every real GPU. */
  readonly devices?: readonly string[];
}

/** Every setting explained, with those that were asked for set. */
export function configText({ urls, fingerprints, network, publicKey, account, devices }: Answers): string {
  return exampleToml({
    node: { urls, ...(fingerprints && { fingerprints }), ...(network !== undefined && { network }) },
    miner: { publicKeys: [publicKey], ...(account !== undefined && { account }) },
    devices: { ...(devices && { use: devices }) },
  });
}
