import { createAccount, createCluster, createOperator, createServer } from '@nats-io/nkeys';
import { expect, it } from 'vitest';
import { isPublicKey, makeCredentials, readCredentials } from '#pickaxe/fleet/nats/credentials.js';

const made = makeCredentials();
const TOKEN = 'eyJ0eXAiOiJKV1QifQ.eyJuYW1lIjoicmlnMSJ9.c2lnbmF0dXJl';
const creds = (token: string, seed: string) =>
  `-----BEGIN NATS USER JWT-----\n${token}\n------END NATS USER JWT------\n\n` +
  `************************* IMPORTANT *************************\n\n` +
  `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`;

it('makes a seed and its public key, each time another one', () => {
  expect(made).toEqual({
    seed: expect.stringMatching(/^SU[A-Z2-7]{56}$/),
    publicKey: expect.stringMatching(/^U[A-Z2-7]{55}$/),
    token: undefined,
  });
  expect(makeCredentials().seed).not.toBe(made.seed);
  expect(isPublicKey(made.publicKey)).toBe(true);
});

it.each([
  ['alone', (seed: string) => seed],
  ['with a newline', (seed: string) => `${seed}\r\n`],
  ['with comments', (seed: string) => `# of rig1\n\n  ${seed}  \n`],
])('reads a seed %s', (_, text) => {
  expect(readCredentials(text(made.seed))).toEqual(made);
});

it('reads a credentials file, also with the line ends of Windows', () => {
  const expected = { ...made, token: TOKEN };
  expect(readCredentials(creds(TOKEN, made.seed))).toEqual(expected);
  expect(readCredentials(creds(TOKEN, made.seed).replaceAll('\n', '\r\n'))).toEqual(expected);
});

const swapped = `${made.seed.slice(0, -3)}${made.seed.endsWith('AAA') ? 'BBB' : 'AAA'}`;
const NO_SEED = 'it has neither an nkey seed (58 characters that begin with SU) nor credentials';
const NO_FORM = 'it has not the form of a credentials file, which holds a token and a seed';
it.each([
  ['nothing', '', NO_SEED],
  ['a word', 'secret-word', NO_SEED],
  ['the public key', made.publicKey, 'it has the public key in place of the seed, which begins with SU'],
  ['a seed of an account', `SA${made.seed.slice(2)}`, 'its seed is not a user’s: that begins with SU'],
  ['a changed seed', swapped, 'its seed is damaged: the check digits at its end are wrong'],
  ['a seed that is cut', made.seed.slice(0, -1), NO_SEED],
  ['a seed that is longer', `${made.seed}A`, NO_SEED],
  ['two seeds', `${made.seed}\n${made.seed}`, NO_SEED],
  ['credentials without a seed', creds(TOKEN, made.seed).split('-----BEGIN USER')[0], NO_FORM],
  ['credentials with a third part', `${creds(TOKEN, made.seed)}${creds(TOKEN, made.seed)}`, NO_FORM],
  ['credentials with junk', creds('junk', made.seed), NO_FORM],
])('refuses %s with one reason, which quotes nothing of it', (_, text, reason) => {
  const message = (() => {
    try {
      readCredentials(text);
      return 'no error';
    } catch (fault) {
      return (fault as Error).message;
    }
  })();
  expect(message).toBe(reason);
  expect(message).not.toMatch(/[A-Z2-7]{10}|secret-word/);
});

it('knows public keys by their form and their check digits', () => {
  const { publicKey } = made;
  const last = publicKey.endsWith('A') ? 'B' : 'A';
  for (const wrong of [
    '',
    made.seed,
    publicKey.slice(1),
    `${publicKey.slice(0, -1)}${last}`,
    `A${publicKey.slice(1)}`,
  ]) {
    expect([wrong, isPublicKey(wrong)]).toEqual([wrong, false]);
  }
});

it.each([
  ['an account', createAccount],
  ['an operator', createOperator],
  ['a server', createServer],
  ['a cluster', createCluster],
])('takes neither the key nor the seed of %s for a user’s', (_, create) => {
  const pair = create();
  expect(isPublicKey(pair.getPublicKey())).toBe(false);
  expect(() => readCredentials(new TextDecoder().decode(pair.getSeed()))).toThrow('its seed is not a user’s');
});
