/** `--on-…` and `--webhook`: others are told what happens. */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { type HookCommands, Hooks } from '../../notify/hooks.ts';
import { NOTICES, type NoticeName, tellNotices } from '../../notify/notices.ts';
import { Webhook } from '../../notify/webhook.ts';
import { version } from '../../version.ts';
import { UsageError } from '../exit-codes.ts';
import type { Companion } from '../run-miner.ts';

export interface NoticeOptions {
  readonly onStart?: string;
  readonly onStop?: string;
  readonly onBlock?: string;
  readonly onDeviceLost?: string;
  readonly onLowHashrate?: string;
  readonly onHashrateOk?: string;
  readonly webhook?: string;
  readonly webhookTokenFile?: string;
  /** Left out, all of them. */
  readonly webhookEvents?: readonly string[];
}

/** A token is a line; no service gives longer ones. */
const MAX_TOKEN = 4_096;

/** @throws UsageError when an option makes no sense. */
export async function notices(options: NoticeOptions): Promise<Companion | undefined> {
  const commands = commandsOf(options);
  const hook = webhookOf(options);
  if (Object.keys(commands).length === 0 && !hook) return undefined;
  return async (running) => {
    const { log } = running;
    if (hook?.token !== undefined && !isPrivate(hook.url)) {
      log.warn({ tag: 'hook' }, `${hook.url.origin} is not https: others can read the token on its way`);
    }
    const hooks = new Hooks(commands, log);
    const webhook = hook && new Webhook({ ...hook, userAgent: `pickaxe/${version}`, log });
    const stop = tellNotices(running, (notice) => {
      hooks.tell(notice);
      webhook?.tell(notice);
    });
    return async () => {
      stop();
      await Promise.all([hooks.end(), webhook?.end()]);
    };
  };
}

function commandsOf(options: NoticeOptions): HookCommands {
  const { onStart, onStop, onBlock, onDeviceLost, onLowHashrate, onHashrateOk } = options;
  const all: Record<NoticeName, string | undefined> = {
    ...{ start: onStart, stop: onStop, block: onBlock },
    ...{ 'device-lost': onDeviceLost, 'low-hashrate': onLowHashrate, 'hashrate-ok': onHashrateOk },
  };
  for (const [name, command] of Object.entries(all)) {
    if (command === undefined || (command.trim() !== '' && !command.includes('\0'))) continue;
    throw new UsageError(`--on-${name} needs a command.`);
  }
  return Object.fromEntries(Object.entries(all).filter(([, command]) => command !== undefined));
}

function webhookOf({ webhook, webhookTokenFile, webhookEvents }: NoticeOptions) {
  if (webhook === undefined) {
    if (webhookTokenFile !== undefined) throw new UsageError('--webhook-token-file needs a --webhook.');
    if (webhookEvents !== undefined) throw new UsageError('--webhook-events needs a --webhook.');
    return undefined;
  }
  return {
    url: parseUrl(webhook),
    events: new Set((webhookEvents ?? NOTICES).map(parseEvent)),
    ...(webhookTokenFile !== undefined && { token: readToken(webhookTokenFile) }),
  };
}

/** Never says the URL again: with many services it is a secret. */
function parseUrl(text: string): URL {
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw new UsageError('--webhook needs a URL that begins with https:// or http://.');
  if (url.username || url.password) {
    throw new UsageError(
      '--webhook: leave user and password out of the URL; a token goes into a --webhook-token-file.',
    );
  }
  return url;
}

function parseEvent(name: string): NoticeName {
  const known = NOTICES.find((notice) => notice === name);
  if (!known) throw new UsageError(`--webhook-events: there is no ${name}. Choose from: ${NOTICES.join(', ')}.`);
  return known;
}

function readToken(file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (fault) {
    throw new UsageError(`--webhook-token-file cannot be read: ${(fault as Error).message}.`);
  }
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token) || token.length > MAX_TOKEN) {
    throw new UsageError(`--webhook-token-file: ${file} must hold one token of visible ASCII characters alone.`);
  }
  return token;
}

/** What is sent stays unread: it is encrypted, or does not leave this machine. */
function isPrivate({ protocol, hostname }: URL): boolean {
  const loopback =
    hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
  return protocol === 'https:' || loopback;
}
