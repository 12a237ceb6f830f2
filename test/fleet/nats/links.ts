/** Links to real servers, which end with the test. */

import { expect, onTestFinished, vi } from 'vitest';
import { type Clock, systemClock } from '#pickaxe/base/system/clock.js';
import type { LinkSettings } from '#pickaxe/fleet/nats/link.js';
import { NatsLink } from '#pickaxe/fleet/nats/nats-link.js';

export interface OpenedLink {
  readonly link: NatsLink;
  readonly warnings: readonly string[];
}

/** Opens a link, and does not wait for its connection. */
export function openLink(
  servers: readonly string[],
  name = 'member',
  more: Partial<LinkSettings> = {},
  clock: Clock = systemClock,
): OpenedLink {
  const warnings: string[] = [];
  const settings = { servers, name, inbox: `pickaxe.inbox.${name}`, ...more };
  const link = new NatsLink(settings, { clock, random: Math.random, warn: (each) => warnings.push(each) });
  onTestFinished(() => link.close());
  link.open();
  return { link, warnings };
}

/** As `openLink`, and waits until it is connected. */
export async function connect(...given: Parameters<typeof openLink>): Promise<OpenedLink> {
  const opened = openLink(...given);
  await connected(opened.link);
  return opened;
}

const PATIENCE = { timeout: 60_000, interval: 10 };

export async function connected(link: NatsLink): Promise<void> {
  await vi.waitFor(() => expect(link.state).toMatchObject({ isConnected: true }), PATIENCE);
}

/** @returns why it is not connected, as soon as the reason has this form */
export async function disconnected(link: NatsLink, reason = /./): Promise<string> {
  await vi.waitFor(
    () => expect(link.state).toMatchObject({ isConnected: false, reason: expect.stringMatching(reason) }),
    PATIENCE,
  );
  return link.state.isConnected ? '' : link.state.reason;
}
