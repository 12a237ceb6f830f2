/** `--on-…` and `--webhook`: sends notices to the hooks and the webhook. */

import type { Logger } from 'pino';
import { isWebhookUrl, webhookUrl } from '../../config/setting-types/addresses.ts';
import type { Config } from '../../config/settings.ts';
import { kebab } from '../../config/settings-table.ts';
import { type HookCommands, Hooks } from '../../notify/hooks.ts';
import { NOTICES, type Notice, type NoticeType, tellNotices } from '../../notify/notices.ts';
import { Webhook } from '../../notify/webhook.ts';
import { version } from '../../system/version.ts';
import { isLoopback } from '../../text/addresses.ts';
import { UsageError } from '../exit.ts';
import type { LiveConfig } from '../live-config.ts';
import { secretIn } from '../node-api.ts';
import type { Sidecar } from '../run-miner.ts';
import { restartOnChange } from './pausing.ts';

/**
 * The hooks and the webhook may change while pickaxe runs. Even then the notices of its start and its stop are sent
 * only once.
 * @throws UsageError when the webhook's files cannot be used.
 */
export async function notices(live: LiveConfig): Promise<Sidecar> {
  let tell = (_: Notice) => {};
  /** The ends of replaced hooks and webhooks, which may still be running. */
  const ending: Promise<unknown>[] = [];
  const hearers = await restartOnChange(
    live,
    ({ hooks, webhook }) => [hooks, webhook],
    async (config) => {
      const open = noticeTargetsOf(config);
      return async ({ log }) => {
        const { hear, end } = open(log);
        tell = hear;
        return () => void ending.push(end());
      };
    },
  );
  return async (running) => {
    const endHearers = await hearers(running);
    const stop = tellNotices(running, (notice) => tell(notice));
    return async () => {
      stop();
      await endHearers();
      await Promise.all(ending);
    };
  };
}

interface NoticeTargets {
  readonly hear: (notice: Notice) => void;
  /** Waits for commands and deliveries that are under way, within their time limits. */
  readonly end: () => Promise<unknown>;
}

/** @throws UsageError when the webhook's files cannot be used. */
function noticeTargetsOf(config: Config): (log: Logger) => NoticeTargets {
  const named = Object.entries(config.hooks).map(([name, command]) => [kebab(name), command]);
  const commands: HookCommands = Object.fromEntries(named);
  const target = targetOf(config.webhook);
  return (log) => {
    if (target?.warning !== undefined) log.warn({ tag: 'hook' }, target.warning);
    const hooks = new Hooks(commands, log);
    const webhook = target && new Webhook({ ...target, userAgent: `pickaxe/${version}`, log });
    return {
      hear: (notice) => {
        hooks.send(notice);
        webhook?.send(notice);
      },
      end: () => Promise.all([hooks.end(), webhook?.end()]),
    };
  };
}

interface Target {
  readonly url: URL;
  readonly token?: string;
  readonly events: ReadonlySet<NoticeType>;
  /** A line to log. */
  readonly warning?: string;
}

/** @throws UsageError that repeats neither the URL nor the token */
function targetOf({ url: given, urlFile, tokenFile, events = NOTICES }: Config['webhook']): Target | undefined {
  const text = urlFile === undefined ? given : secretIn(urlFile, '--webhook-file');
  if (text === undefined) return undefined;
  if (!isWebhookUrl(text)) throw new UsageError(`--webhook-file: ${webhookUrl.says}`);
  const url = new URL(text);
  const token = tokenFile === undefined ? undefined : secretIn(tokenFile, '--webhook-token-file');
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new UsageError(
      `--webhook-token-file: ${tokenFile} must contain one token of visible ASCII characters and nothing else.`,
    );
  }
  const isOpen = token !== undefined && !isPrivate(url);
  return {
    url,
    events: new Set(events),
    ...(isOpen && { warning: `${url.origin} does not use https: others can read the token on its way` }),
    ...(token !== undefined && { token }),
  };
}

/** Whether all data sent to this URL is encrypted or stays on this machine. */
function isPrivate({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, ''));
}
