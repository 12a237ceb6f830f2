import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemContext } from '#pickaxe/app/composition/context.js';
import { stratumServer } from '#pickaxe/app/composition/relays.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { FakeSource } from '../../../fakes.ts';
import { Authority } from '../../../fleet/nats/certificates.ts';
import { listeningLog } from '../../../rig/pauses/fakes.ts';
import { Folder } from '../../config/folder.ts';

let made: Authority | undefined;
const authority = () => {
  made ??= new Authority();
  return made;
};

it('warns of networks of proxies in which others can be as well', async () => {
  const { log, said } = listeningLog();
  const proxies = ['10.0.0.0/8', '10.0.0.0/24', '127.0.0.1', 'fd00::/64', 'fd00::/120', 'fd00::1'];
  const settings = { listen: { host: '127.0.0.1', port: 0 }, shareSeconds: 10, proxies };
  const context = { source: new FakeSource(), emit() {}, ...systemContext, lane: 0 };
  const relay = stratumServer(settings, log)(context);
  await relay.open();
  await relay.run(AbortSignal.abort());
  const what = 'each of these addresses can name any client, and have it banned';
  expect(said.filter(({ level }) => level === 'warn').map(({ msg }) => msg)).toEqual([
    `--stratum-proxy-protocol 10.0.0.0/8: ${what}`,
    `--stratum-proxy-protocol fd00::/64: ${what}`,
  ]);
});

describe('a server for ASICs', () => {
  const LISTEN = { host: '127.0.0.1', port: 0 };
  const context = () => ({ source: new FakeSource(), emit() {}, ...systemContext, lane: 0 });
  const settings = { listen: LISTEN, shareSeconds: 10 };
  const certified = (folder: Folder, name: string) => {
    const { cert, key } = authority().sign(name, 'IP:127.0.0.1');
    const [tlsCert, tlsKey] = [cert, key].map((path) => folder.write(basename(path), readFileSync(path)));
    return { tlsCert, tlsKey };
  };

  it('says where it listens', async () => {
    const { log, said } = listeningLog();
    const relay = stratumServer(settings, log)(context());
    await relay.open();
    await relay.run(AbortSignal.abort());
    expect(said[0]).toEqual({
      level: 'info',
      msg: expect.stringMatching(/^listening at stratum\+tcp:\/\/127\.0\.0\.1:[1-9]\d*$/),
    });
  });

  it.each([
    [
      10,
      2 ** 40,
      'at most 5 connections: this process may have 10 files open, and some are kept for the nodes and the',
    ],
    ['unlimited', 2 ** 28, 'at most 1024 connections: a quarter of 0.3 GiB of memory is for them'],
  ])('says how many can connect with %s open files and %d bytes of memory', async (soft, memory, line) => {
    const report = vi.spyOn(process.report, 'getReport').mockReturnValue({ userLimits: { open_files: { soft } } });
    const limit = vi.spyOn(process, 'constrainedMemory').mockReturnValue(memory);
    onTestFinished(() => [report, limit].forEach((spy) => void spy.mockRestore()));
    const { log, said } = listeningLog();
    const relay = stratumServer(settings, log)(context());
    await relay.open();
    await relay.run(AbortSignal.abort());
    expect(said[1].msg.startsWith(line)).toBe(true);
    expect(said).toHaveLength(2);
  });

  it('says why it cannot listen', async () => {
    const occupied = createServer();
    await new Promise<void>((resolve) => occupied.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void occupied.close());
    const { port } = occupied.address() as { port: number };
    const { log, said } = listeningLog();
    const relay = stratumServer({ ...settings, listen: { ...LISTEN, port } }, log)(context());
    await expect(relay.open()).rejects.toThrow(
      new UsageError(
        `cannot listen on --stratum-listen 127.0.0.1:${port}: port ${port} is in use, perhaps by another pickaxe. Stop that program, or give another port.`,
      ),
    );
    expect(said).toEqual([]);
  });

  it('needs a certificate that fits its key', () => {
    const folder = new Folder();
    onTestFinished(() => folder.remove());
    const { log } = listeningLog();
    const [{ tlsCert }, { tlsKey }] = ['one', 'other'].map((name) => certified(folder, name));
    expect(() => stratumServer({ ...settings, tlsCert, tlsKey }, log)).toThrow(UsageError);
    expect(() => stratumServer({ ...settings, tlsCert, tlsKey }, log)).toThrow(
      `--stratum-tls-cert ${tlsCert} and --stratum-tls-key ${tlsKey} cannot be used: `,
    );
  });

  it('says with TLS that it has it', async () => {
    const folder = new Folder();
    onTestFinished(() => folder.remove());
    const { log, said } = listeningLog();
    const relay = stratumServer({ ...settings, ...certified(folder, 'one') }, log)(context());
    await relay.open();
    const [, port] = /^listening at stratum\+ssl:\/\/127\.0\.0\.1:(\d+)$/.exec(said[0].msg)!;
    const client = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false });
    await once(client, 'secureConnect');
    client.destroy();
    await relay.run(AbortSignal.abort());
  });

  it('does not begin without its ledger', async () => {
    const folder = new Folder();
    onTestFinished(() => folder.remove());
    const { log } = listeningLog();
    const ledger = `${folder.write('file', '')}/ledger`;
    const relay = stratumServer({ ...settings, ledger }, log)(context());
    const refused = relay.open();
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(`--stratum-ledger: ${ledger} cannot be written: `);
  });
});
