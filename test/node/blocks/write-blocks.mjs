// Writes blocks to the block log of a folder, and prints the hash of each once the disk has it: FOLDER CHAIN COUNT

import { BlockStore } from '#pickaxe/node/blocks/block-log.js';
import { recordOf } from '#pickaxe/node/blocks/record.js';
import { encodeHeader, parseHeader } from '#pickaxe/protocol/ledger/header.js';

const [folder, chain, count, template] = process.argv.slice(2);
const header = parseHeader(Buffer.from(template, 'base64url'));
const store = new BlockStore({ folder, warn: (line) => process.stderr.write(`${line}\n`) });
for (let height = 1; height <= Number(count); height++) {
  const record = recordOf({
    header: encodeHeader({ ...header, chain: Number(chain), height: BigInt(height) }),
    foundMs: 1_700_000_000_000 + height,
    network: 'mainnet01',
    node: 'http://one',
    account: 'k:me',
    device: 'cpu',
    isRelay: false,
    difficulty: 1,
    answerSeconds: 0.01,
    expectedBlocks: 0.5,
  });
  store.add({ type: 'found', record });
  await store.refresh();
  process.stdout.write(`${record.hash}\n`);
}
await store.close();
