/** `--on-…` and `--webhook`: others are told what happens. */

import { kebab } from '../../config/setting.ts';
import type { Config } from '../../config/settings.ts';
import { isWebhookUrl, webhookUrl } from '../../config/unattended-kinds.ts';
import { isLoopback } from '../../http-address.ts';
import { type HookCommands, Hooks } from '../../notify/hooks.ts';
import { NOTICES, type NoticeName, tellNotices } from '../../notify/notices.ts';
import { Webhook } from '../../notify/webhook.ts';
import { version } from '../../version.ts';
import { UsageError } from '../exit-codes.ts';
import type { Companion } from '../run-miner.ts';
import { secretIn } from '../secret-file.ts';

/** @throws UsageError when the webhook's files cannot be used. */
export async function notices(config: Config): Promise<Companion | undefined> {
  const commands: HookCommands = Object.fromEntries(
    Object.entries(config.hooks).map(([name, command]) => [kebab(name), command]),
  );
  const target = targetOf(config.webhook);
  if (Object.keys(commands).length === 0 && !target) return undefined;
  return async (running) => {
    const { log } = running;
    for (const warning of target?.warnings ?? []) log.warn({ tag: 'hook' }, warning);
    const hooks = new Hooks(commands, log);
    const webhook = target && new Webhook({ ...target, userAgent: `pickaxe/${version}`, log });
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

interface Target {
  readonly url: URL;
  readonly token?: string;
  readonly events: ReadonlySet<NoticeName>;
  /** Lines to log. */
  readonly warnings: readonly string[];
}

/** Never says the URL or the token. */
function targetOf({ url: given, urlFile, tokenFile, events = NOTICES }: Config['webhook']): Target | undefined {
  const { value: text = given, warning: seen } = urlFile === undefined ? {} : secretIn(urlFile, '--webhook-file');
  if (text === undefined) return undefined;
  if (!isWebhookUrl(text)) throw new UsageError(`--webhook-file: ${webhookUrl.says}`);
  const url = new URL(text);
  const token = tokenFile === undefined ? undefined : secretIn(tokenFile, '--webhook-token-file');
  if (token && !/^[\x21-\x7e]+$/.test(token.value)) {
    throw new UsageError(`--webhook-token-file: ${tokenFile} must hold one token of visible ASCII characters alone.`);
  }
  const open = token && !isPrivate(url) && `${url.origin} is not https: others can read the token on its way`;
  return {
    url,
    events: new Set(events),
    warnings: [seen, token?.warning, open].filter((warning) => typeof warning === 'string'),
    ...(token && { token: token.value }),
  };
}

/** What is sent there is encrypted, or does not leave this machine. */
function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, ''));
}
