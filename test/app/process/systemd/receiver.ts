/**
 * The service manager's side of a notification socket. Node.js has no such sockets, but perl does, and most systems
 * have it.
 */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

/** Prints an empty line once it listens, and then each message as a JSON string on a line. */
const LISTEN = `
  use strict; use Socket;
  my $name = shift; $name =~ s/^@/\\0/;
  socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die $!;
  bind($socket, pack_sockaddr_un($name)) or die $!;
  $| = 1; print "\\n";
  while (defined recv($socket, my $message, 65536, 0)) {
    $message =~ s/([^ -~]|["\\\\])/sprintf '\\u%04x', ord $1/eg;
    print "\\"$message\\"\\n";
  }`;

export const whyNoReceiver =
  process.platform !== 'linux'
    ? 'made for Linux'
    : spawnSync('perl', ['-MSocket', '-e', '1']).status !== 0
      ? 'it takes perl'
      : undefined;

export interface Receiver {
  /** The messages so far, oldest first, each as a list of lines. */
  readonly messages: string[][];
  close(): Promise<void>;
}

/** @param address a value for NOTIFY_SOCKET */
export async function receive(address: string): Promise<Receiver> {
  const child = spawn('perl', ['-e', LISTEN, address], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const messages: string[][] = [];
  const lines = createInterface({ input: child.stdout });
  const [first] = await Promise.race([once(lines, 'line'), ended]);
  if (first !== '') throw new Error(`nothing listens at ${address}`);
  lines.on('line', (line) => messages.push((JSON.parse(line) as string).split('\n')));
  const receiver: Receiver = {
    messages,
    async close() {
      child.kill();
      await ended;
    },
  };
  onTestFinished(() => receiver.close());
  return receiver;
}
