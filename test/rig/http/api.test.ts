import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { jsonText } from '#pickaxe/base/text/plain-text.js';
import { BALANCE, device, hashes, NO_EARNINGS, verdict } from '../status/fakes.ts';
import { serve } from './serving.ts';

const json = { 'content-type': 'application/json' };

/** A rig with a value for every figure. */
const POLLED = [{ chain: 3, reason: 'missed-block' as const }];

async function busyRig() {
  const rig = await serve({ control: true });
  const { emit, clock } = rig;
  emit({ type: 'source', source: 'http://127.0.0.1:1848/ledger', kind: 'node', state: 'connected', reason: 'reached' });
  emit({ type: 'source', source: 'http://127.0.0.1:1849/ledger', kind: 'node', state: 'lost', reason: 'refused' });
  emit({ type: 'missed-cut', source: 'http://127.0.0.1:1848/ledger', chain: 3 });
  emit({ type: 'polling', source: 'http://127.0.0.1:1848/ledger', chains: POLLED });
  emit(device('cpu', 'ready'));
  emit({ type: 'fetch', source: 'http://127.0.0.1:1848/ledger', latencySeconds: 0.012 });
  emit({ ...device('gpu0', 'ready'), model: 'a card', kernel: 'wgsl' });
  emit(device('gpu1', 'parked', 'it was lost'));
  emit({ type: 'new-cut', chain: 3 });
  emit({ type: 'work', chain: 3, height: 42n, difficulty: 1_000 });
  emit({ type: 'job-switch', device: 'gpu0', switchSeconds: 0.004 });
  emit({ type: 'proof', device: 'gpu0', hashes: 900, difficulty: 5_000 });
  clock.advance(10_000);
  emit(hashes('gpu0', 40_000));
  emit(hashes('cpu', 2_000));
  for (const each of ['accepted', 'accepted', 'rejected', 'stale', 'unknown'] as const) emit(verdict('gpu0', each));
  emit({ type: 'hardware-error', device: 'cpu', nonce: 1n });
  const telemetry = {
    temperatureCelsius: 61,
    hotspotCelsius: 70,
    powerWatts: 100,
    fanRatio: 0.45,
    coreHertz: 1980e6,
    memoryHertz: 2619e6,
  };
  emit({ type: 'telemetry', device: 'gpu0', telemetry });
  return rig;
}

describe('/api/v1/status', () => {
  it('reports all that is known, in SI units', async () => {
    const { ask, tally } = await busyRig();
    const { json } = await ask('/api/v1/status');
    const { devices, ...counts } = tally.summary();
    expect(json).toMatchObject(counts);
    expect(json).toMatchObject({
      hashesPerSecond: 4_200,
      hashesPerSecondByWindow: { last10s: 4_200, last60s: null, last15m: null },
    });
    expect(json.switchSeconds).toEqual({ p50: 0.004, p99: 0.004, last: 0.004, count: 1 });
    expect(json.answerSeconds).toMatchObject({ p50: 0.0123, count: 5 });
    expect(json.work).toEqual({ chain: 3, height: 42, difficulty: 1_000, shareDifficulty: null, ageSeconds: 10 });
    expect(json.chains).toEqual([json.work]);
    expect(json.devices.gpu0).toMatchObject({
      ...JSON.parse(jsonText(devices.gpu0)),
      state: 'ready',
      hashesPerSecond: 4_000,
      hashesPerJoule: 40,
    });
    expect(json.devices.gpu0.sensors).toEqual({
      temperatureCelsius: 61,
      hotspotCelsius: 70,
      memoryCelsius: null,
      powerWatts: 100,
      powerLimitWatts: null,
      fanRatio: 0.45,
      fanRpm: null,
      coreHertz: 1.98e9,
      memoryHertz: 2.619e9,
    });
    expect(json.devices.gpu1).toMatchObject({ state: 'parked', reason: 'it was lost', hashes: 0, proven: null });
    expect(json.sourceKind).toBe('node');
    expect(json.sources['http://127.0.0.1:1849/ledger']).toMatchObject({
      kind: 'node',
      state: 'lost',
      losses: 1,
      reason: 'refused',
      latencySeconds: null,
    });
    expect(json.devices.gpu0).toMatchObject({ model: 'a card', kernel: 'wgsl', bus: null });
    expect(json.devices.cpu).toMatchObject({ model: null, kernel: null });
    expect(json.sources['http://127.0.0.1:1848/ledger']).toMatchObject({
      latencySeconds: { p50: 0.012, p99: 0.012, last: 0.012, count: 1 },
      missedCuts: 1,
      polledChains: POLLED,
    });
    expect(json).toMatchObject({ rig: 'rig-7', control: true, paused: false, ready: true });
    expect(json).toMatchObject({ state: 'mining', stateReason: null, stateAgeSeconds: 10 });
  });

  it('is summarized at /healthz: which chains are polled, and why', async () => {
    const { ask } = await busyRig();
    expect((await ask('/healthz')).json).toEqual({ status: 'ok', polledChains: POLLED });
  });

  it('has null for what is not known yet', async () => {
    const { ask } = await serve();
    const { json } = await ask('/api/v1/status');
    const unknown = {
      timeToBlockSeconds: null,
      timeToShareSeconds: null,
      lastShareSeconds: null,
      switchSeconds: null,
      answerSeconds: null,
      work: null,
      earnings: NO_EARNINGS,
    };
    expect(json).toMatchObject({
      ...unknown,
      highestHashesPerSecond: null,
      hashesPerSecondByWindow: { last10s: null },
      devices: {},
      sources: {},
      relays: {},
      control: false,
    });
  });

  it('says that the rig is paused once every device is paused', async () => {
    const { ask, emit } = await busyRig();
    emit(device('cpu', 'paused', 'by an HTTP request'));
    expect((await ask('/api/v1/status')).json.paused).toBe(false);
    emit(device('gpu0', 'paused', 'by an HTTP request'));
    expect((await ask('/api/v1/status')).json).toMatchObject({
      ...{ paused: true, ready: false, state: 'paused', stateAgeSeconds: 0 },
      stateReason: expect.stringContaining('cpu, gpu0 paused: by an HTTP request'),
    });
  });
});

it('/api/v1/log returns the lines after a number', async () => {
  const { ask } = await busyRig();
  const { lines } = (await ask('/api/v1/log')).json;
  expect(lines[0]).toMatchObject({
    number: 1,
    level: 'info',
    tag: 'node',
    message: expect.stringContaining('reached'),
  });
  expect(lines).toContainEqual(expect.objectContaining({ level: 'error', tag: 'gpu1' }));
  const last = lines.at(-1);
  expect((await ask(`/api/v1/log?after=${last.number - 1}`)).json.lines).toEqual([last]);
  expect((await ask(`/api/v1/log?after=${last.number}`)).json.lines).toEqual([]);
});

describe('controls', () => {
  it.each([
    ['pause', undefined, ['pause', 'user', 'by an HTTP request', undefined]],
    ['pause', '{"device":"gpu0"}', ['pause', 'user', 'by an HTTP request', 'gpu0']],
    ['resume', '{}', ['resume', 'user', undefined]],
    ['resume', '{"device":"cpu"}', ['resume', 'user', 'cpu']],
  ])('accept %s with the body %s', async (what, body, expected) => {
    const { ask, asked } = await serve({ control: true });
    const answer = await ask(`/api/v1/${what}`, { method: 'POST', ...(body && { headers: json, body }) });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(asked).toEqual([expected]);
  });

  it('answer stop, although the server ends with it', async () => {
    const { ask, http, controls } = await serve({ control: true });
    const closed = new Promise<void>((resolve) => {
      controls.stop = () => void http.close().then(resolve); // clients that are being answered are disconnected
    });
    expect((await ask('/api/v1/stop', { method: 'POST' })).status).toBe(204);
    await closed;
  });
});

describe('the OpenAPI document', () => {
  it('describes every answer correctly', async () => {
    const { ask } = await busyRig();
    const { json: document } = await ask('/api/v1/openapi.json');
    expect(document.openapi).toBe('3.1.0');
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addSchema(document, 'openapi');
    const check = (path: string, status: number, value: unknown) => {
      const pointer = ['paths', path, 'get', 'responses', status, 'content', 'application/json', 'schema'];
      const escaped = pointer.map((part) => String(part).replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
      const validate = ajv.compile({ $ref: `openapi#/${escaped}` });
      expect([path, validate(value), validate.errors]).toEqual([path, true, null]);
      // A field that is not in the schema must fail, which also shows that validation can fail.
      expect(validate({ ...(value as object), nonsense: 1 })).toBe(false);
    };
    const empty = await serve();
    const told = await serve({}, async () => BALANCE);
    check('/api/v1/balance', 200, (await told.ask('/api/v1/balance')).json);
    for (const path of ['/api/v1/status', '/api/v1/history', '/api/v1/log', '/healthz']) {
      check(path, 200, (await ask(path)).json);
      check(path, 200, (await empty.ask(path)).json);
    }
    check('/readyz', 200, (await ask('/readyz')).json);
    check('/readyz', 503, (await empty.ask('/readyz')).json);

    const error = ajv.compile({ $ref: 'openapi#/components/schemas/Error' });
    for (const path of ['/nope', '/api/v1/balance', '/api/v1/pause', '/api/v1/history?range=x']) {
      expect(error((await ask(path)).json)).toBe(true);
    }
  });

  it('names every path with its parameters, and all references lead somewhere', async () => {
    const { ask } = await serve();
    const { json: document, text } = await ask('/api/v1/openapi.json');
    for (const path of ['status', 'balance', 'history', 'log', 'events', 'pause', 'resume', 'stop', 'openapi.json']) {
      expect(Object.keys(document.paths)).toContain(`/api/v1/${path}`);
    }
    expect(document.paths['/api/v1/history'].get.parameters).toMatchObject([
      { name: 'range', in: 'query', schema: { enum: ['10m', '1h', '24h'], default: '1h' } },
    ]);
    expect(document.paths['/healthz'].get.security).toEqual([]);
    const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect(references.length).toBeGreaterThan(5);
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(references));
  });

  it('is not sent again while it stays the same', async () => {
    const { ask } = await serve();
    const { headers } = await ask('/api/v1/openapi.json');
    const again = await ask('/api/v1/openapi.json', { headers: { 'if-none-match': String(headers.etag) } });
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await ask('/api/v1/openapi.json', { headers: { 'if-none-match': '"x"' } })).status).toBe(200);
  });
});

it('/readyz says what is missing, but nothing that needs a token', async () => {
  const { ask, emit } = await serve();
  const missing = (reason: string) => ({ status: 503, json: { ready: false, reasons: [reason] } });
  const source = 'http://127.0.0.1:1';
  expect(await ask('/readyz')).toMatchObject(missing('starting'));
  emit(device('cpu', 'ready'));
  expect(await ask('/readyz')).toMatchObject(missing('no-source'));
  emit({ type: 'source', source, kind: 'node', state: 'lost', reason: `${source} refuses` });
  expect((await ask('/readyz')).text).not.toContain(source);
  emit({ type: 'source', source, kind: 'node', state: 'connected', reason: '' });
  expect(await ask('/readyz')).toMatchObject(missing('waiting-for-work'));
  emit({ type: 'work', chain: 3, height: 42n, difficulty: 1_000 });
  expect(await ask('/readyz')).toMatchObject({ status: 200, json: { ready: true, reasons: [] } });
  emit(device('cpu', 'paused', 'too hot'));
  expect(await ask('/readyz')).toMatchObject(missing('paused'));
  emit(device('cpu', 'parked', 'too hot'));
  expect(await ask('/readyz')).toMatchObject(missing('no-device'));
});
