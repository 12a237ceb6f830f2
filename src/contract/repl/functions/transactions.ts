/** `begin-tx`, `commit-tx`, `rollback-tx`. */

import { ContractError } from '../../errors.ts';
import { type Native, strict } from '../../runtime/native.ts';
import type { TestRun } from '../test-run.ts';

export function transactions(run: TestRun): readonly Native[] {
  return [
    strict('begin-tx', [' -> string', 'name:string -> string'], ([name, ...more]) => {
      if (more.length > 0 || (name !== undefined && typeof name !== 'string')) return undefined;
      return text(run, 'Begin', { number: run.begin(name), name });
    }),
    ending(run, 'commit-tx', 'commit'),
    ending(run, 'rollback-tx', 'rollback'),
  ];
}

function ending(run: TestRun, native: string, how: 'commit' | 'rollback'): Native {
  return strict(native, ' -> string', (values) => {
    if (values.length > 0) return undefined;
    const ended = run.end(how);
    const what = how === 'commit' ? 'Commit' : 'Rollback';
    if (ended) return text(run, what, ended);
    if (run.evaluator.dialect === 5) {
      const message = `No Transaction currently in progress, cannot execute "${how}"`;
      throw new ContractError('db', `Error during database operation: ${message}`);
    }
    if (how === 'commit') throw new ContractError('db', 'doCommit: Not in transaction');
    return `${what} Tx`;
  });
}

function text(run: TestRun, what: string, { number, name }: { number: number; name: string | undefined }): string {
  const colon = run.evaluator.dialect === 5 ? ' ' : ': ';
  return `${what} Tx ${number}${name === undefined ? '' : colon + name}`;
}
