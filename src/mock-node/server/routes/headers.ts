/** Headers. Document 1 does not mention these endpoints, but real nodes have them. */

import { encodeBase64url } from '../../../ledger/base64url.ts';
import type { ExactJson } from '../../../ledger/exact-json.ts';
import { headerToJson } from '../../../ledger/header-json.ts';
import type { Block } from '../../ledger/block.ts';
import type { Message } from '../answer.ts';
import { ascending, type BlockCollection, branch } from '../block-query.ts';
import { preferred } from '../negotiation.ts';
import { isHash } from '../query.ts';
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
    answer: (asked) => typed(ascending(asked, headers(asked)), asked),
  },
  {
    endpoint: 'header',
    method: 'POST',
    path: new RegExp(`^${CHAIN}/header/branch$`),
    takes: JSON_TYPE,
    gives: [JSON_TYPE],
    answer: (asked) => typed(branch(asked, headers(asked)), asked),
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
  if (!isHash(asked.params.hash)) return { status: 400, text: 'a block hash is 43 characters of base64url' };
  const block = asked.backend.ledger.chains.blocksOf(asked.chain).get(asked.params.hash);
  if (!block) return keyNotFound(asked.params.hash);
  if (preferred(asked.accept, [JSON_TYPE, OCTETS]) === OCTETS) return { status: 200, bytes: binary(block) };
  return typed({ status: 200, json: headerJson(block, asked) }, asked);
}

/** A header is binary, in base64url, unless the client asks for objects. */
function headerJson(block: Block, asked: Asked): ExactJson {
  if (!wantsObjects(asked)) return encodeBase64url(binary(block));
  return headerToJson(block.header, asked.dialect, asked.backend.ledger.settings.network);
}

/** Says in the answer's type that headers are objects, if they are. */
function typed(message: Message, asked: Asked): Message {
  if (message.status !== 200 || !wantsObjects(asked)) return message;
  return { ...message, headers: { 'content-type': `${JSON_TYPE};blockheader-encoding=object` } };
}

function wantsObjects({ accept = '' }: Asked): boolean {
  return /blockheader-encoding\s*=\s*"?object/i.test(accept);
}

/** @returns the header with its hash */
function binary({ bytes, hash }: Block): Uint8Array {
  return Buffer.concat([bytes, hash]);
}
