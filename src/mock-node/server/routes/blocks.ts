/** Whole blocks (document 1, "Whole blocks"). They come as JSON only. */

import type { ExactJson } from '../../../ledger/exact-json.ts';
import { headerToJson } from '../../../ledger/header-json.ts';
import { payloadWithOutputsToJson } from '../../../ledger/payload.ts';
import type { Block } from '../../ledger/block.ts';
import { ascending, branch } from '../block-query.ts';
import { type Asked, CHAIN, JSON_TYPE, type Route } from '../route.ts';
import { answeredPayload } from '../wrong-reward.ts';

const BLOCKS = { cap: 360, json: blockJson };

export const blockRoutes: readonly Route[] = [
  {
    endpoint: 'block',
    side: 'service',
    method: 'GET',
    path: new RegExp(`^${CHAIN}/block$`),
    gives: [JSON_TYPE],
    answer: (asked) => ascending(asked, BLOCKS),
  },
  {
    endpoint: 'block',
    side: 'service',
    method: 'POST',
    path: new RegExp(`^${CHAIN}/block/branch$`),
    takes: JSON_TYPE,
    gives: [JSON_TYPE],
    answer: (asked) => branch(asked, BLOCKS),
  },
];

function blockJson({ header, payload }: Block, asked: Asked): ExactJson {
  const { network } = asked.backend.ledger.settings;
  return {
    header: headerToJson(header, asked.dialect, network),
    payloadWithOutputs: payloadWithOutputsToJson(answeredPayload(payload, asked.fault)),
  };
}
