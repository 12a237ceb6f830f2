/** Asks for the pools and the user at them, and whether the pools give that user work. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { password as hiddenInput, input, select } from '@inquirer/prompts';
import { USUAL_PASSWORD } from '../../app/choose-source.ts';
import { poolTrust } from '../../app/node-trust.ts';
import { poolUrl } from '../../config/setting-types/addresses.ts';
import { poolUser } from '../../config/setting-types/miner.ts';
import { text } from '../../config/setting-types/setting-type.ts';
import { DEFAULTS } from '../../config/settings.ts';
import { examinePool } from '../../doctor/examine-pool.ts';
import type { Finding } from '../../doctor/finding.ts';
import type { Trust } from '../../net/trust.ts';
import { version } from '../../system/version.ts';
import type { Password, Places, PoolAnswers } from './answers.ts';
import { type Attempt, askUrls } from './ask-urls.ts';
import { say, sayFindings } from './say.ts';
import { accepts, read } from './typed.ts';

const USUAL_PASSWORD_FILE = 'pool.password';

// biome-ignore lint/suspicious/noControlCharactersInRegex: it refuses them
const passwordType = text(/^[^\x00-\x1f\x7f]{0,256}$/, 'Give a password of at most 256 characters.');

/**
 * Asks until a pool gives the user work, or the user goes on without that.
 * @param folder that of the settings, where a relative path to the password starts
 */
export async function askPools(folder: string): Promise<PoolAnswers> {
  let places = await askPlaces();
  let user = await askUser();
  let password = await askPassword();
  while (!(await getsWork(places, user, password))) {
    const next = await askWhatToChange();
    if (next === 'nothing') break;
    if (next === 'pool') places = await askPlaces();
    if (next === 'user') user = await askUser();
    if (next === 'password') password = await askPassword();
  }
  return { ...places, user, ...(password !== '' && { password: await askPasswordFile(folder, password) }) };
}

async function askWhatToChange() {
  return select({
    message: 'The pool gives this user no work. What would you like to change?',
    choices: [
      { name: 'nothing: that will be put right at the pool', value: 'nothing' },
      { name: 'the user', value: 'user' },
      { name: 'the password', value: 'password' },
      { name: 'the pool', value: 'pool' },
    ],
  });
}

async function askPlaces(): Promise<Places> {
  return (await askUrls({ kind: 'pool', type: poolUrl, attempt: attemptPool })).places;
}

/** The user is not known yet: whether something listens there is what counts here. */
async function attemptPool(url: string, trust: Trust): Promise<Attempt> {
  return examinePool({ url, trust, userAgent: `pickaxe/${version}` });
}

async function askUser(): Promise<string> {
  const message = 'User, as the pool wants it: usually NAME.WORKER';
  return read(poolUser, await input({ message, validate: accepts(poolUser) }));
}

/** @returns an empty text for none */
async function askPassword(): Promise<string> {
  const typed = await hiddenInput({
    message: 'Password (most pools need none: leave it empty)',
    mask: true,
    validate: accepts(passwordType),
  });
  return read(passwordType, typed);
}

async function askPasswordFile(folder: string, text: string): Promise<Password> {
  const typed = await input({
    message: 'File for the password',
    default: USUAL_PASSWORD_FILE,
    validate: (name) => whyNotNew(folder, name.trim()) ?? true,
  });
  const file = typed.trim();
  say(`The password goes to ${resolve(folder, file)}: only you will be able to read it.`);
  return { file, text };
}

function whyNotNew(folder: string, name: string): string | undefined {
  if (name === '') return 'Give the name of a file.';
  const file = resolve(folder, name);
  return existsSync(file) ? `${file} already exists and stays as it is: give another file.` : undefined;
}

async function getsWork({ urls, fingerprints }: Places, user: string, password: string): Promise<boolean> {
  const account = { user, password: password === '' ? USUAL_PASSWORD : password };
  const pool = { ...DEFAULTS.pool, ...(fingerprints && { fingerprints }) };
  const findings: Finding[] = [];
  say(`asking for work as ${user} …`);
  for (const url of urls) {
    const trust = poolTrust(url, pool, DEFAULTS.node);
    findings.push(...(await examinePool({ url, account, trust, userAgent: `pickaxe/${version}` })).findings);
  }
  sayFindings(findings);
  return findings.every(({ state }) => state !== 'fault');
}
