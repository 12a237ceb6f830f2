/** The network that a user names for pools and coordinators, which choose the network of their work themselves. */

import { networkNumberOf } from '../../protocol/chain/work.ts';
import { mayBeOf, networkOf } from '../../protocol/ledger/header.ts';
import type { NamedNetwork } from './source.ts';

/** @param name as configured @returns undefined without a name */
export function namedNetwork(name: string | undefined): NamedNetwork | undefined {
  if (name === undefined) return undefined;
  const otherThan = (header: Uint8Array) => {
    const code = networkNumberOf(header);
    return mayBeOf(name, code) ? undefined : networkOf(code);
  };
  return { name, otherThan };
}
