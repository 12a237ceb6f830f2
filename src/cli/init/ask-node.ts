/** Which node, asked at once whether it is one, and which network. */

import { confirm, input } from '@inquirer/prompts';
import { network as networkKind, nodeUrl } from '../../config/kinds.ts';
import { examineNode } from '../../source/node/examine.ts';
import { hasPath } from '../../source/node/url.ts';
import { version } from '../../version.ts';
import type { Answers } from './answers.ts';
import { accepts } from './check.ts';
import { say, sayFindings } from './say.ts';

const USUAL_URL = 'http://127.0.0.1:1848';
const USUAL_NETWORK = 'mainnet01';
/** For failover: more than a few help nobody. */
const MOST_NODES = 5;

export async function askNodes(): Promise<Pick<Answers, 'urls' | 'network'>> {
  const first = await askNode('Node URL', USUAL_URL);
  const urls = [first.url];
  while (urls.length < MOST_NODES) {
    const next = await askNode('Another node, for when that one fails (none: leave it empty)');
    if (next.url === '') break;
    urls.push(next.url);
  }
  if (urls.every(hasPath)) return { urls };
  const network = await input({
    message: 'Network',
    default: first.network ?? USUAL_NETWORK,
    validate: accepts(networkKind),
  });
  return { urls, network: network.trim() };
}

/** @param usual what Enter alone takes; left out, Enter alone is no node */
async function askNode(message: string, usual?: string): Promise<{ url: string; network?: string }> {
  const isUrl = accepts(nodeUrl);
  for (;;) {
    const typed = await input({
      message,
      ...(usual !== undefined && { default: usual }),
      validate: (text) => (text.trim() === '' && usual === undefined) || isUrl(text),
    });
    const url = typed.trim();
    if (url === '') return { url };
    say(`asking ${url} …`);
    // Neither network nor key is known yet: whether it is a node is what counts here.
    const { findings, network } = await examineNode({ url, userAgent: `pickaxe/${version}` });
    const told = findings.filter(
      ({ about }) => about === 'connection' || (about === 'network' && network !== undefined),
    );
    sayFindings([...told, ...findings.filter(({ about, state }) => about === 'clock' && state !== 'ok')]);
    const isThere = told.every(({ state }) => state !== 'fault');
    if (isThere || (await confirm({ message: 'Take it all the same?', default: false }))) {
      return { url, ...(network !== undefined && { network }) };
    }
  }
}
