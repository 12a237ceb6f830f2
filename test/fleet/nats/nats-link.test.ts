/** What only real servers, and machines that pretend to be servers, can show of a link. */

import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { makeCredentials } from '#pickaxe/fleet/nats/credentials.js';
import type { LinkError, LinkState } from '#pickaxe/fleet/nats/link.js';
import { Authority } from './certificates.ts';
import { connect, connected, disconnected, openLink } from './links.ts';
import { info, pretend } from './pretended-server.ts';
import { HUB, leafOf, noServer, startCluster, TestServer, whyNoServer } from './server.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const never = new AbortController().signal;
const PATIENCE = { timeout: 60_000, interval: 10 };
const until = (check: () => void) => vi.waitFor(check, PATIENCE);

/* No test may print anything or leave a promise alone. */
const printed: unknown[] = [];
const spies = (['log', 'error', 'info', 'warn'] as const).map((name) =>
  vi.spyOn(console, name).mockImplementation((...given) => printed.push(given)),
);
const print = (fault: unknown) => printed.push(fault);
process.on('unhandledRejection', print);
afterAll(() => {
  process.off('unhandledRejection', print);
  for (const spy of spies) spy.mockRestore();
});
afterEach(() => expect(printed.splice(0)).toEqual([]));

async function start(...given: Parameters<typeof TestServer.start>): Promise<TestServer> {
  const server = await TestServer.start(...given);
  onTestFinished(() => server.stop());
  return server;
}

describe('a machine that is no honest server', () => {
  it.each([
    ['offers no TLS', info()],
    ['says so', info({ tls_available: false, tls_required: false })],
    ['lies about its kind', info({ tls_available: 'yes' })],
    ['sends numbers for truths', info({ tls_required: 1 })],
    ['goes on in clear', `${info({ tls_required: true })}PING\r\n`],
    ['speaks no TLS afterwards', info({ tls_required: true }), 'no handshake\r\n'],
  ])('gets nothing in clear when TLS is required and it %s', async (_, first, then = '') => {
    const { port, received, connections } = await pretend((socket) => {
      socket.write(first);
      if (then) socket.once('data', () => socket.write(then));
    });
    const { link } = openLink([`tls://127.0.0.1:${port}`], 'member', { credentials: makeCredentials() });
    await disconnected(link, /127\.0\.0\.1/);
    await until(() => expect(connections()).toBeGreaterThan(1));
    expect(received().toString('latin1')).not.toMatch(/CONNECT|PING|sig|nkey/);
    expect(link.publish('a', bytes('a'))).toBe(false);
  });

  it('is named in the reason', async () => {
    const { port } = await pretend((socket) => socket.write(info()));
    const { link } = openLink([`tls://127.0.0.1:${port}`]);
    expect(await disconnected(link, /TLS/)).toBe(
      `tls://127.0.0.1:${port} offers no TLS, so nothing was sent to it. Either its configuration has no certificate, ` +
        'and its URL begins with nats://, or somebody is intercepting the connection.',
    );
  });

  it.each([
    ['junk', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['an endless line', 'x'.repeat(100_000)],
    ['no facts', 'INFO null\r\n'],
    ['no JSON', 'INFO {{\r\n'],
    ['nothing', ''],
  ])('may send %s', async (_, text) => {
    const { port, received } = await pretend((socket) => (text === '' ? socket.end() : socket.write(text)));
    const { link } = openLink([`nats://127.0.0.1:${port}`]);
    await disconnected(link, /no NATS server|closed the connection/);
    expect(received()).toHaveLength(0);
  });

  it.each([
    ['junk', 'HELLO\r\n'],
    ['a message that never ends', `MSG a 1 900000000\r\n${'x'.repeat(3_000_000)}`],
    ['facts that are none', 'INFO 7\r\n'],
    ['a line that never ends', `-ERR ${'x'.repeat(3_000_000)}`],
  ])('may send %s later', async (_, text) => {
    const { port, connections } = await pretend((socket) => {
      socket.write(info());
      socket.once('data', () => {
        socket.write('PONG\r\n');
        setTimeout(() => socket.write(text), 20);
      });
    });
    const { link } = openLink([`nats://127.0.0.1:${port}`]);
    await connected(link);
    expect(await disconnected(link)).toMatch(/does not speak the protocol of NATS|too long/);
    await until(() => expect(connections()).toBeGreaterThan(1));
  });

  it('cannot make the link warn without end', async () => {
    const denial = (i: number) => `-ERR 'Permissions Violation for Publish to "a${i}"'\r\n`;
    const { port } = await pretend((socket) => {
      socket.write(info());
      socket.once('data', () => {
        socket.write('PONG\r\n');
        setTimeout(() => socket.write(Array.from({ length: 500 }, (__, i) => denial(i)).join('')), 20);
      });
    });
    // A clock that stands still: no further warning becomes due.
    const clock = { ...systemClock, monotonicMs: () => 0 };
    const { link, warnings } = openLink([`nats://127.0.0.1:${port}`], 'member', {}, clock);
    await connected(link);
    await until(() => expect(warnings).toHaveLength(10));
    link.publish('a', bytes('a'));
    expect(warnings[0]).toMatch(
      /^The NATS server does not permit this account to publish to a0\. If an earlier version /,
    );
    await link.close();
    expect(warnings).toHaveLength(10);
  });

  it('does not lead the link elsewhere', async () => {
    const other = await pretend(() => {});
    const { port, connections } = await pretend((socket) => {
      socket.write(info({ connect_urls: [`127.0.0.1:${other.port}`] }));
      socket.once('data', () => {
        socket.write('PONG\r\n');
        setTimeout(() => socket.destroy(), 20);
      });
    });
    openLink([`nats://127.0.0.1:${port}`]);
    await until(() => expect(connections()).toBeGreaterThan(2));
    expect(other.connections()).toBe(0);
  });

  it('takes no messages any more: the link ends the connection before they fill the memory', async () => {
    const { port } = await pretend((socket) => {
      socket.write(info());
      socket.once('data', () => {
        socket.write('PONG\r\n');
        socket.pause();
      });
    });
    const { link } = openLink([`nats://127.0.0.1:${port}`]);
    await connected(link);
    const block = new Uint8Array(60_000);
    let sent = 0;
    await until(() => {
      for (let i = 0; i < 20; i++) if (link.publish('a', block)) sent += block.length;
      expect(link.state.isConnected).toBe(false);
    });
    // The system's own buffers of a connection hold some megabytes.
    expect(sent).toBeLessThan(50_000_000);
  });
});

it('a mistake of a listener is not swallowed, and later messages still come', async () => {
  const mistakes: unknown[] = [];
  const original = queueMicrotask;
  const spy = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((action) =>
    original(() => {
      try {
        action();
      } catch (mistake) {
        mistakes.push(mistake);
      }
    }),
  );
  onTestFinished(() => spy.mockRestore());
  const { port } = await pretend((socket) => {
    socket.write(info());
    let recorded = '';
    socket.on('data', (chunk) => {
      recorded += chunk.toString('latin1');
      if (chunk.includes('PING')) socket.write('PONG\r\n');
      const [, sid] = /SUB a (\S+)\r\n/.exec(recorded) ?? [];
      if (sid === undefined) return;
      recorded = '';
      socket.write(`MSG a ${sid} 1\r\n1\r\nMSG a ${sid} 1\r\n2\r\n`);
    });
  });
  const { link } = openLink([`nats://127.0.0.1:${port}`]);
  const received: string[] = [];
  const mistake = new Error('a mistake');
  link.subscribe('a', ({ data }) => {
    received.push(new TextDecoder().decode(data));
    if (received.length === 1) throw mistake;
  });
  await until(() => expect(received).toEqual(['1', '2']));
  expect(mistakes).toEqual([mistake]);
});

describe.skipIf(noServer)(`real servers${whyNoServer}`, () => {
  it('says why nothing is there, and connects when a server comes', async () => {
    const server = await start();
    await server.kill();
    const { link } = openLink([server.url]);
    const recorded: string[] = [];
    link.subscribe('a', ({ data }) => recorded.push(new TextDecoder().decode(data)));
    expect(await disconnected(link, /nothing listens/)).toBe(
      `${server.url} cannot be reached: nothing listens there. Is the NATS server running, and is this its port for clients?`,
    );
    await server.restart();
    await connected(link);
    expect(link.publish('a', bytes('first'))).toBe(true);
    await until(() => expect(recorded).toEqual(['first']));
  });

  it('notices a server that has stopped to answer, and takes another one', async () => {
    const cluster = await startCluster(2);
    onTestFinished(async () => void (await Promise.all(cluster.map((each) => each.stop()))));
    const { link } = await connect(cluster.map(({ url }) => url));
    const at = link.state.isConnected ? link.state.server : '';
    const [frozen, other] = at === cluster[0].url ? cluster : [cluster[1], cluster[0]];
    frozen.freeze();
    await until(() => expect(link.state).toEqual({ isConnected: true, server: other.url }));
    frozen.thaw();
  });

  it('spreads members over the servers of a cluster, which reach each other', async () => {
    const cluster = await startCluster(3);
    onTestFinished(async () => void (await Promise.all(cluster.map((each) => each.stop()))));
    const urls = cluster.map(({ url }) => url);
    const links = await Promise.all(Array.from({ length: 30 }, async (_, i) => (await connect(urls, `m${i}`)).link));
    const at = new Set(links.map(({ state }) => (state.isConnected ? state.server : '')));
    expect(at).toEqual(new Set(urls));
    const recorded = new Set<number>();
    for (const [i, link] of links.entries()) link.subscribe('a', () => recorded.add(i));
    // The servers tell each other of subscriptions a moment later.
    await until(() => {
      links[0].publish('a', bytes(''));
      expect(recorded.size).toBe(30);
    });
    await cluster[0].kill();
    await until(() => {
      for (const { state } of links) expect(state).toMatchObject({ isConnected: true });
      for (const { state } of links) expect(state).not.toMatchObject({ server: cluster[0].url });
    });
  });

  it('reaches members behind a leaf node', async () => {
    const hub = await start(HUB, ['client', 'leafnode']);
    const leaf = await start(leafOf(hub));
    const [far, near] = [(await connect([leaf.url], 'far')).link, (await connect([hub.url], 'near')).link];
    far.subscribe('q', ({ reply = '' }) => far.publish(reply, bytes('yes')));
    await until(() => expect(hub.log).toMatch(/Leafnode connection created/));
    await vi.waitFor(
      async () => expect(await near.request('q', bytes(''), 5_000, never)).toEqual(bytes('yes')),
      PATIENCE,
    );
  });

  it('leaves a server when it is asked to, but not within ten seconds', async () => {
    const [one, two] = [await start(), await start()];
    let passedMs = 0;
    const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs };
    const { link } = await connect([one.url, two.url], 'member', {}, clock);
    const states: LinkState[] = [link.state];
    link.onState((state) => states.push(state));
    passedMs = 9_000;
    link.renew();
    expect(link.publish('a', bytes(''))).toBe(true);
    for (const at of [1, 2]) {
      passedMs += 10_000;
      link.renew();
      link.renew();
      await until(() => expect(states).toHaveLength(1 + 2 * at));
      // The new connection is too young to be left.
      link.renew();
    }
    const [first, second] = [one.url, two.url].sort((url) =>
      states[0].isConnected && states[0].server === url ? -1 : 1,
    );
    const left = (server: string) => ({
      isConnected: false,
      reason: `${server} was left, because nothing was received from it.`,
    });
    expect(states).toEqual([
      { isConnected: true, server: first },
      left(first),
      { isConnected: true, server: second },
      left(second),
      { isConnected: true, server: first },
    ]);
  });

  it('ends cleanly, also while it is connecting', async () => {
    const silent = await pretend(() => {});
    const { link } = openLink([`nats://127.0.0.1:${silent.port}`]);
    await until(() => expect(silent.connections()).toBe(1));
    await link.close();
    expect(link.state).toEqual({ isConnected: false, reason: 'The connection was closed.' });
    await link.close();
  });

  it('gives the server what was published before the end', async () => {
    const server = await start();
    const { link } = await connect([server.url], 'leaving');
    const { link: other } = await connect([server.url], 'staying');
    const recorded: string[] = [];
    other.subscribe('last', ({ data }) => recorded.push(new TextDecoder().decode(data)));
    await other.request('nobody', bytes(''), 5_000, never).catch(() => {});
    link.publish('last', bytes('words'));
    await link.close();
    await until(() => expect(recorded).toEqual(['words']));
  });

  it('a process that has closed its link can end', () => {
    const script = `
      import { NatsLink } from '#pickaxe/fleet/nats/nats-link.js';
      import { systemClock } from '#pickaxe/base/system/clock.js';
      const link = new NatsLink({ servers: ['nats://127.0.0.1:9'], name: 'a', inbox: 'i.a' }, { clock: systemClock, random: Math.random });
      link.subscribe('a', () => {});
      link.open();
      await new Promise((resolve) => setTimeout(resolve, 50));
      await link.close();
      console.log('closed');`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(output).toBe('closed\n');
  });
});

describe.skipIf(noServer)(`accounts${whyNoServer}`, () => {
  const member = makeCredentials();
  const permitting =
    (publicKey: string) =>
    ({ client }: { client: number }) =>
      `
    listen: "127.0.0.1:${client}"
    authorization { users: [{ nkey: "${publicKey}", permissions: {
      publish: ["ok.>", "pickaxe.inbox.>"], subscribe: ["ok.>", "pickaxe.inbox.member.>"] } }] }\n`;

  it('proves its name with a seed, and is told what it may not do', async () => {
    const server = await start(permitting(member.publicKey));
    const { link, warnings } = await connect([server.url], 'member', { credentials: member });
    link.subscribe('ok.q', ({ reply = '' }) => link.publish(reply, bytes('yes')));
    expect(await link.request('ok.q', bytes(''), 60_000, never)).toEqual(bytes('yes'));
    const fault = await link.request('no', bytes(''), 60_000, never).catch((thrown: LinkError) => thrown.fault);
    expect(fault).toBe('denied');
    link.subscribe('no.*', () => {});
    await until(() => expect(warnings).toHaveLength(2));
    const remedy = 'If an earlier version of pickaxe wrote its configuration, let pickaxe fleet keys write it anew.';
    expect(warnings).toEqual([
      `The NATS server does not permit this account to publish to no. ${remedy}`,
      `The NATS server does not permit this account to subscribe to no.*. ${remedy}`,
    ]);
    expect(link.state.isConnected).toBe(true);
  });

  it('says it when its inbox is not permitted', async () => {
    const server = await start(permitting(member.publicKey));
    const { link, warnings } = await connect([server.url], 'another', { credentials: member });
    await until(() => expect(warnings).toHaveLength(1));
    link.subscribe('ok.q', ({ reply = '' }) => link.publish(reply, bytes('yes')));
    const fault = await link.request('ok.q', bytes(''), 60_000, never).catch((thrown: LinkError) => thrown.fault);
    expect(fault).toBe('denied');
  });

  it.each([
    ['unknown', makeCredentials(), /refuses this member’s credentials: they are not known there, or were revoked/],
    ['missing', undefined, /asks for credentials: give the file/],
  ])('says that credentials are %s, goes on, and connects when they are accepted', async (_, credentials, reason) => {
    const server = await start(permitting(member.publicKey));
    const { link } = openLink([server.url], 'member', credentials ? { credentials } : {});
    await disconnected(link, reason);
    if (!credentials) return;
    await server.kill();
    await server.restart(permitting(credentials.publicKey));
    await connected(link);
  });
});

describe.skipIf(noServer)(`TLS${whyNoServer}`, () => {
  let authority: Authority;
  const files = new Map<string, { cert: string; key: string }>();
  beforeAll(() => {
    authority = new Authority();
    files.set('address', authority.sign('address', 'IP:127.0.0.1'));
    files.set('name', authority.sign('name', 'DNS:localhost'));
    files.set('other', authority.sign('other', 'DNS:other.example'));
  });
  const withTls = (name: string) => {
    const { cert, key } = files.get(name)!;
    return start(({ client }) => `listen: "127.0.0.1:${client}"\ntls { cert_file: "${cert}", key_file: "${key}" }\n`);
  };

  it.each([
    ['address', 'tls', '127.0.0.1'],
    ['name', 'tls', 'localhost'],
    ['address', 'nats', '127.0.0.1'],
  ])('trusts a certificate of %s for %s://%s when its authority is known', async (name, scheme, host) => {
    const server = await withTls(name);
    const url = `${scheme}://${host}:${server.ports.client}`;
    const { link } = await connect([url], 'member', { authorities: [authority.pem] });
    link.subscribe('q', ({ reply = '' }) => link.publish(reply, bytes('yes')));
    expect(await link.request('q', bytes(''), 60_000, never)).toEqual(bytes('yes'));
  });

  it.each([
    ['name', 'tls', '127.0.0.1', true],
    ['address', 'tls', 'localhost', true],
    ['other', 'tls', '127.0.0.1', true],
    ['address', 'tls', '127.0.0.1', false],
    ['address', 'nats', '127.0.0.1', false],
  ])('distrusts a certificate of %s for %s://%s (authority known: %s)', async (name, scheme, host, isKnown) => {
    const server = await withTls(name);
    const url = `${scheme}://${host}:${server.ports.client}`;
    const { link } = openLink([url], 'member', isKnown ? { authorities: [authority.pem] } : {});
    expect(await disconnected(link, /not trusted/)).toMatch(
      /^the certificate of \S+ is not trusted \(\w+\), so nothing was sent to it\. For an authority of your own, give its certificate \(--nats-ca-file\)\.$/,
    );
    expect(link.state.isConnected).toBe(false);
  });
});
