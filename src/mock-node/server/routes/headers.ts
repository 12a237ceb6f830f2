/** Headers. Document 1 does not mention these endpoints, but real nodes have them. */

import { encodeBase64url } from '../../../ledger/base64url.ts';
import type { ExactJson } from '../../../ledger/exact-json.ts';
import { headerToJson } from '../../../ledger/header-json.ts';
import type { Block } from '../../ledger/block.ts';
import type { Message } from '../answer.ts';
import { ascending, type BlockCollection, branch } from '../block-query.ts';
import { admits } from '../negotiation.ts';
import { type Asked, CHAIN, JSON_TYPE, keyNotFound, OCTETS, type Route } from '../route.ts';

/** The most headers of a page. */
const CAP = 360;
const CAP_P2P = 20;

export const headerRoutes: readonly Route[] = [
  {
    endpoint: 'header',
    method: 'GET',
    path: new RegExp(`^${CHAIN}/header$`),
    gives: [JSON_TYPE],
    answer: (asked) => ascending(asked, headers(asked)),
  },
  {
    endpoint: 'header',
    method: 'POST',
    path: new RegExp(`^${CHAIN}/header/branch$`),
    takes: JSON_TYPE,
    gives: [JSON_TYPE],
    answer: (asked) => branch(asked, headers(asked)),
  },
  {
    endpoint: 'header',
    method: 'GET',
    path: new RegExp(`^${CHAIN}/header/(?<hash>[\\w-]+)$`),
    gives: [JSON_TYPE, OCTETS],
    answer: oneHeader,
  },
];

function headers({ backend }: Asked): BlockCollection {
  return { cap: backend.side === 'p2p' ? CAP_P2P : CAP, json: headerJson };
}

function oneHeader(asked: Asked): Message {
  const block = asked.backend.ledger.chains.blocksOf(asked.chain).get(asked.params.hash);
  if (!block) return keyNotFound(asked.params.hash);
  if (!admits(asked.accept, JSON_TYPE)) return { status: 200, bytes: binary(block) };
  return { status: 200, json: headerJson(block, asked) };
}

/** A header is told in binary, unless the client asks for objects. */
function headerJson(block: Block, { accept = '', dialect, backend }: Asked): ExactJson {
  const asObject = /blockheader-encoding\s*=\s*"?object/i.test(accept);
  if (!asObject) return encodeBase64url(binary(block));
  return headerToJson(block.header, dialect, backend.ledger.settings.network);
}

/** @returns the header with its hash */
function binary({ bytes, hash }: Block): Uint8Array {
  return Buffer.concat([bytes, hash]);
}
