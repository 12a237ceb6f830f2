#!/usr/bin/env node

import { exit, stopWithReader } from '../app/process/exit.ts';
import { surviveHangups } from '../app/process/signals.ts';
import { run } from './run.ts';

stopWithReader();
surviveHangups();
exit(await run(process.argv.slice(2)));
