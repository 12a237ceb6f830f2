// Runs one part of a run sheet: a program of this repository, in a process that is killed when it takes too long.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** How much of the end of a part's stderr is kept to explain a failure, in characters. */
const LAST_WORDS_CHARS = 1_000;

/**
 * @param part `name`; `command`: the arguments of Node.js. With `json: 'stdout'` it prints JSON, otherwise it writes
 *   JSON to the file of its `--out`. `keep` chooses what is kept of the JSON, and `lines` makes a text of that. Without
 *   `lines` the text is its output
 * @param scratch the folder for the file
 * @returns `text` for people, `result`: what is kept, `failed`: why the part failed, `seconds`
 */
export async function runPart({ name, command, json, keep = (all) => all, lines }, { limitMs, scratch }) {
  const out = join(scratch, `${name}.json`);
  const startMs = performance.now();
  const done = await run([...command, ...(json ? [] : ['--out', out])], limitMs);
  const seconds = (performance.now() - startMs) / 1000;
  let result;
  let { failed } = done;
  try {
    const text = json ? done.printed : existsSync(out) ? readFileSync(out, 'utf8') : undefined;
    const { machine: _, ...rest } = text ? JSON.parse(text) : {};
    if (text) result = keep(rest);
  } catch (error) {
    failed ??= `its output is not JSON: ${error.message}`;
  }
  const text = lines ? (result ? lines(result).join('\n\n') : '') : done.printed;
  return { text: text.trim(), result, failed, seconds };
}

async function run(command, limitMs) {
  if (limitMs <= 0) return { printed: '', failed: 'no time was left for it' };
  // The part gets its own process group, so that all of its processes can be killed.
  const child = spawn(process.execPath, command, { cwd: ROOT, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  let lastWords = '';
  let late = false;
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    process.stderr.write(text);
    lastWords = (lastWords + text).slice(-LAST_WORDS_CHARS);
  });
  const end = () => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All processes have ended already.
    }
  };
  const timer = setTimeout(() => {
    late = true;
    end();
  }, limitMs);
  const interrupted = () => {
    end();
    process.exit(130);
  };
  process.once('SIGINT', interrupted);
  const [code] = await once(child, 'close');
  process.off('SIGINT', interrupted);
  clearTimeout(timer);
  end();
  const said = lastWords.trim() || printed.trim().split('\n').at(-1);
  const why = late ? `it took longer than ${(limitMs / 1000).toFixed(0)} s` : `exit code ${code}: ${said}`;
  return { printed, ...((late || code !== 0) && { failed: why }) };
}
