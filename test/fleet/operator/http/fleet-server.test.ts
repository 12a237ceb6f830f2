import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it, vi } from 'vitest';
import { type AskRig, matchesPattern } from '#pickaxe/fleet/operator/ask-rigs.js';
import { FleetStatus } from '#pickaxe/fleet/operator/fleet-status.js';
import { modulesOf } from '../../../rig/http/page-modules.ts';
import { ServedFleet } from './serving.ts';

const serve = (rigs: number, ...args: Parameters<ServedFleet['serve']>) => new ServedFleet(rigs).serve(...args);
const TOKEN = 'a-token-of-some-length';

/** Sends a control request. */
function control({ ask }: ServedFleet, body: unknown, headers: Record<string, string> = {}) {
  const text = JSON.stringify(body);
  const all = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)), ...headers };
  return ask('/api/v1/fleet/control', { method: 'POST', headers: all, body: text });
}
const pause = (rigs: object) => ({ request: { command: 'pause' }, rigs });

describe('the API of a fleet', () => {
  it('answers with the whole status, in its documented shape', async () => {
    const served = await serve(50);
    const { status, json } = await served.ask('/api/v1/fleet');
    expect(status).toBe(200);
    expect(FleetStatus.safeParse(json).error).toBeUndefined();
    expect(json.rigs).toHaveLength(50);
  });

  it('computes the status at most once a second, however many clients ask', async () => {
    const served = await serve(10);
    for (const path of ['/api/v1/fleet', '/api/v1/fleet', '/api/v1/fleet/changes', '/metrics', '/readyz'])
      expect((await served.ask(path)).status).toBe(200);
    expect(served.computed).toBe(1);
    served.advance(1_000);
    await served.ask('/api/v1/fleet');
    expect(served.computed).toBe(2);
  });

  it('describes itself: answers fit the OpenAPI document, which names nothing that is not served', async () => {
    const served = await serve(20);
    const { json: document, text } = await served.ask('/api/v1/openapi.json');
    expect(Object.keys(document.paths).sort()).toEqual(
      [
        ...['/api/v1/fleet', '/api/v1/fleet/changes', '/api/v1/fleet/control', '/api/v1/fleet/rig'],
        ...['/api/v1/openapi.json', '/healthz', '/metrics', '/readyz'],
      ].sort(),
    );
    const references = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name));
    expect(Object.keys(document.components.schemas).sort()).toEqual([...references].sort());
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addSchema(document, 'openapi');
    for (const [path, query = ''] of [
      ['/api/v1/fleet'],
      ['/api/v1/fleet/changes'],
      ['/api/v1/fleet/rig', '?name=rig-0001'],
      ['/healthz'],
      ['/readyz'],
    ]) {
      const escaped = `paths/${path.replaceAll('/', '~1')}/get/responses/200/content/application~1json/schema`;
      const validate = ajv.compile({ $ref: `openapi#/${escaped}` });
      const { json } = await served.ask(`${path}${query}`);
      expect([path, validate(json), validate.errors]).toEqual([path, true, null]);
      expect(validate({ ...json, nonsense: 1 })).toBe(false);
    }
  });

  it('requires the token for everything but health and the files of the page', async () => {
    const served = await serve(3, { token: TOKEN, control: true });
    for (const path of ['/api/v1/fleet', '/api/v1/fleet/changes', '/api/v1/fleet/rig?name=rig-0001', '/metrics'])
      expect([path, (await served.ask(path)).status]).toEqual([path, 401]);
    for (const path of ['/', '/fleet/page/fleet-page.js', '/fleet/page/fleet.css', '/healthz', '/readyz'])
      expect([path, (await served.ask(path)).status]).toEqual([path, 200]);
    expect((await control(served, pause({ pattern: '*' }))).status).toBe(401);
    const authorization = `Bearer ${TOKEN}`;
    expect((await served.ask('/api/v1/fleet', { headers: { authorization } })).status).toBe(200);
    expect((await control(served, pause({ pattern: '*' }), { authorization })).status).toBe(200);
  });

  it('answers with one rig and its devices, whatever its name', async () => {
    const served = await serve(10);
    const { json: whole } = await served.ask('/api/v1/fleet');
    expect((await served.ask('/api/v1/fleet/rig?name=rig-0003')).json).toEqual(whole.rigs[2]);
    expect(whole.rigs[2].devices).toHaveLength(3);
    const name = 'a&b=ü/%?';
    served.change('rig-0003', { name });
    served.advance(1_000);
    expect((await served.ask(`/api/v1/fleet/rig?name=${encodeURIComponent(name)}`)).json).toMatchObject({ name });
    expect(await served.ask('/api/v1/fleet/rig?name=rig-0003')).toMatchObject({
      status: 404,
      json: { error: { code: 'no-such-rig' } },
    });
    expect((await served.ask('/api/v1/fleet/rig')).status).toBe(400);
  });

  it('is not ready while there is no connection to a server', async () => {
    const served = new ServedFleet(3);
    served.edit = (status) => ({ ...status, disconnected: 'nats.example refuses' });
    await served.serve();
    expect(await served.ask('/readyz')).toMatchObject({
      status: 503,
      json: { ready: false, reasons: ['disconnected'] },
    });
    expect((await served.ask('/readyz')).text).not.toContain('nats.example');
  });

  it('serves the page of the fleet at its root, with every module that the page imports', async () => {
    const served = await serve(3);
    expect((await served.ask('/')).text).toContain('<title>pickaxe fleet</title>');
    const modules = await modulesOf((path) => served.ask(path), ['/fleet/page/fleet-page.js', '/rig/page/theme.js']);
    expect(modules.size).toBeGreaterThan(8);
    for (const path of ['/fleet/page/index.html', '/rig/page/index.html', '/fleet/operator/roster.js', '/fleet.html'])
      expect([path, (await served.ask(path)).status]).toEqual([path, 404]);
  });
});

describe('changes since an earlier answer', () => {
  const changes = async ({ ask }: ServedFleet, since?: string) =>
    (await ask(`/api/v1/fleet/changes${since === undefined ? '' : `?since=${since}`}`)).json;
  const names = (rigs: readonly { name: string }[]) => rigs.map(({ name }) => name);

  it('are the rigs that have reported since, or fallen silent, and those that are gone', async () => {
    const served = await serve(100);
    const first = await changes(served);
    expect(first).toMatchObject({ whole: true, control: false, goneRigs: [] });
    expect(first.rigs).toHaveLength(100);

    served.advance(2_000);
    const second = await changes(served, first.mark);
    expect(second.whole).toBe(false);
    const reported = (await changes(served)).rigs.filter((rig: { ageSeconds: number }) => rig.ageSeconds < 2);
    expect(names(second.rigs)).toEqual(names(reported));
    expect(reported.length).toBeGreaterThan(5);
    expect(reported.length).toBeLessThan(50);

    served.change('rig-0003', { silent: true });
    const { edit } = served;
    served.edit = (status) => ({ ...edit(status), rigs: edit(status).rigs.filter(({ name }) => name !== 'rig-0050') });
    served.clock.advance(1_000);
    const third = await changes(served, second.mark);
    expect(third).toMatchObject({ whole: false, goneRigs: ['rig-0050'] });
    expect(names(third.rigs)).toEqual(['rig-0003']);
    // A page that has missed the second answer gets both.
    const fromFirst = await changes(served, first.mark);
    expect(names(fromFirst.rigs)).toEqual(
      [...new Set([...names(second.rigs), 'rig-0003'])].filter((one) => one !== 'rig-0050').sort(),
    );
    expect(fromFirst.goneRigs).toEqual(['rig-0050']);
    // A rig that comes back is no longer gone.
    served.edit = edit;
    served.clock.advance(1_000);
    const fourth = await changes(served, third.mark);
    expect(fourth.goneRigs).toEqual([]);
    expect(names(fourth.rigs)).toEqual(['rig-0050']);
  });

  it('have no devices, but what the table shows of them, so that they are small', async () => {
    const served = await serve(1_000);
    const { rigs, mark } = await changes(served);
    const { json } = await served.ask('/api/v1/fleet/rig?name=rig-0006');
    const celsius = Math.max(...json.devices.map((device: { celsius: number }) => device.celsius));
    const watts = json.devices.reduce((sum: number, device: { watts: number }) => sum + device.watts, 0);
    const models = [json.devices[0].model];
    const expected = { celsius, watts, models, faulty: true, deviceCount: 6, failedDeviceCount: 1, faults: 30 };
    expect(rigs[5]).toMatchObject({ name: 'rig-0006', ...expected });
    expect(rigs[5]).not.toHaveProperty('devices');
    served.advance(2_000);
    const { text } = await served.ask(`/api/v1/fleet/changes?since=${mark}`);
    expect(JSON.parse(text).rigs.length).toBeGreaterThan(150);
    expect(text.length).toBeLessThan(100_000);
  });

  it('are all rigs for a mark that is too old, of another run, or not yet given', async () => {
    const served = await serve(20);
    const { mark } = await changes(served);
    expect((await changes(served, mark)).whole).toBe(false);
    expect((await changes(served, mark.replace(/^./, 'f'))).whole).toBe(true);
    expect((await changes(served, `${mark}9`)).whole).toBe(true);
    for (let step = 0; step < 17; step++) {
      expect([step, (await changes(served, mark)).whole]).toEqual([step, false]);
      served.advance(1_000);
    }
    expect((await changes(served, mark)).whole).toBe(true);
    expect((await served.ask('/api/v1/fleet/changes?since=x')).status).toBe(400);
  });
});

describe('control of rigs', () => {
  it('asks the rigs that meet every condition, and answers with what each said', async () => {
    const served = await serve(40, { control: true });
    const { status, json } = await control(
      served,
      pause({ names: ['rig-0001', 'rig-0010', 'rig-0014', 'nobody', 'rig-0001'] }),
    );
    expect(status).toBe(200);
    expect(json).toEqual({
      askedMillis: 1_700_000_000_000,
      done: 1,
      failed: 3,
      rigs: [
        { name: 'rig-0001', done: true, message: 'pause done' },
        { name: 'rig-0010', done: false, message: 'its owner does not let operators control it' },
        { name: 'rig-0014', done: false, message: 'it does not answer' },
        { name: 'nobody', done: false, message: 'no rig of this name has reported' },
      ],
    });
    // Neither the closed rig nor an unknown one is asked.
    expect(served.fleet.asked).toEqual([
      ['rig-0001', 'pause'],
      ['rig-0014', 'pause'],
    ]);
    expect(served.logged).toEqual(['pause: asked of 4 rigs by an HTTP request; 1 did it, 3 did not']);
    const group = await control(served, pause({ group: 'hall-c', pattern: 'rig-00?3' }));
    expect(group.json.rigs.map(({ name }: { name: string }) => name)).toEqual(['rig-0003', 'rig-0033']);
    expect((await control(served, pause({ group: 'nowhere' }))).json.error.code).toBe('no-such-rig');
  });

  it('takes the names of a thousand rigs, and of no more bytes than its bound', async () => {
    const served = await serve(1_000, { control: true });
    const { json } = await control(served, pause({ names: served.fleet.names }));
    expect(json.rigs).toHaveLength(1_000);
    expect(json.done).toBeGreaterThan(900);
    const names = (count: number, letters: number) =>
      Array.from({ length: count }, (_, at) => `${at}`.padStart(letters, 'x'));
    expect((await control(served, pause({ names: names(20_000, 64) }))).status).toBe(200);
    expect((await control(served, pause({ names: names(20_001, 6) }))).status).toBe(400);
    expect((await control(served, { ...pause({ pattern: '*' }), more: 'x'.repeat(2_100_000) })).status).toBe(413);
    // The bound of other routes is as before.
    const stray = { method: 'POST', body: 'x'.repeat(2_000), headers: { 'content-length': '2000' } };
    expect((await served.ask('/api/v1/fleet', stray)).status).toBe(405);
  });

  it('needs --http-control, the page’s own origin, and a request that is complete', async () => {
    const readOnly = await serve(5);
    expect((await control(readOnly, pause({ pattern: '*' }))).json.error.code).toBe('read-only');
    const served = await serve(5, { control: true });
    const foreign = await control(served, pause({ pattern: '*' }), { origin: 'http://evil.example' });
    expect(foreign.json.error.code).toBe('forbidden-origin');
    for (const body of [
      {},
      pause({}),
      pause({ names: [] }),
      pause({ everything: true }),
      { request: { command: 'explode' }, rigs: { pattern: '*' } },
      { request: { command: 'pause', gpuCelsius: 3 }, rigs: { pattern: '*' } },
    ])
      expect([body, (await control(served, body)).status]).toEqual([body, 400]);
    expect([...readOnly.fleet.asked, ...served.fleet.asked]).toEqual([]);
  });

  it('asks few rigs at a time, and one request at a time', async () => {
    let [asking, most] = [0, 0];
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const ask: AskRig = async () => {
      asking++;
      most = Math.max(most, asking);
      await held;
      asking--;
      return { done: true, message: '' };
    };
    const served = await serve(1_000, { control: true }, ask);
    const first = control(served, pause({ pattern: '*' }));
    await vi.waitFor(() => expect(asking).toBe(256), { timeout: 60_000 });
    expect(await control(served, pause({ names: ['rig-0001'] }))).toMatchObject({ status: 503 });
    release();
    expect((await first).status).toBe(200);
    expect(most).toBe(256);
    expect((await control(served, pause({ names: ['rig-0001'] }))).status).toBe(200);
  });

  it('makes the texts of rigs safe to print, and short', async () => {
    const ask: AskRig = async () => ({ done: false, message: `\u001b[31mno\n${'x'.repeat(900)}` });
    const served = await serve(3, { control: true }, ask);
    const [{ message }] = (await control(served, pause({ names: ['rig-0001'] }))).json.rigs;
    expect(message).toMatch(/^\[31mno x+…$/);
    expect(message).toHaveLength(200);
  });

  it('ends with the server, whatever rigs do', async () => {
    const asked: string[] = [];
    const ask: AskRig = (name) => {
      asked.push(name);
      return new Promise(() => {});
    };
    const served = await serve(3, { control: true }, ask);
    const pending = control(served, pause({ pattern: '*' }));
    await vi.waitFor(() => expect(asked).toHaveLength(3), { timeout: 60_000 });
    await served.close();
    expect((await pending).json.rigs[0]).toMatchObject({ done: false, message: 'pickaxe ended before it answered' });
  });
});

describe('patterns of names', () => {
  it.each([
    ['rig-1', '*', true],
    ['rig-1', 'rig-?', true],
    ['rig-10', 'rig-?', false],
    ['hall-a.rig-10', 'hall-a*10', true],
    ['hall-a.rig-10', 'hall-a*11', false],
    ['a.b', 'a?b', true],
    ['axb', 'a.b', false],
    ['', '*', true],
    ['abab', '*ab', true],
    ['rig', 'rig**', true],
    ['rig', 'Rig', false],
  ])('%s and %s: %s', (name, pattern, fits) => {
    expect(matchesPattern(name, pattern)).toBe(fits);
  });

  it('take no longer for a pattern that is made to be slow', () => {
    // A regular expression would not end.
    expect(matchesPattern('a'.repeat(64), `${'*a'.repeat(31)}b`)).toBe(false);
  });
});
