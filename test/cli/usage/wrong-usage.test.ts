import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pickaxe } from '../in-process.ts';
import { folder, TOKEN, tokenFile } from '../token-file.ts';

const KEY = 'a1'.repeat(32);

describe('wrong usage ends with exit code 2 and says what to do', () => {
  const node = ['--node', 'http://127.0.0.1:1'];
  const warm = ['--temp-limit', '80', '--temp-resume', '80'];
  it.each([
    [['mine', ...node, '--public-key', KEY], '--network'],
    [['mine', ...node, '--network', 'mainnet01'], '--public-key'],
    [['mine', ...node, '--network', 'main net', '--public-key', KEY], 'network'],
    [['mine', '--node', 'ftp://host', '--network', 'mainnet01', '--public-key', KEY], 'http'],
    [['mine', '--node', 'non sense', '--network', 'mainnet01', '--public-key', KEY], 'URL'],
    [['mine', '--node', 'stratum+tcp://h:1', '--public-key', KEY], 'the URL of a pool, which belongs to --pool'],
    [['mine', '--pool', 'http://h:1', '--user', 'me'], 'the URL of a node, which belongs to --node'],
    [['mine', '-o', 'h:1', '-u', 'me.rig1'], 'On a pool, whose URL begins with stratum+tcp://'],
    [['mine', '-o', 'stratum+tcp://h:1', '-u', 'a', '-u', 'b'], 'one user'],
    [['mine', '-o', 'stratum+tcp://h:1', '-u', 'a', '-p', 'stratum+tcp://h:2'], 'belongs to -o or --pool'],
    [['mine', '-a', 'kawpow'], 'Leave it out: pickaxe mines blake2s'],
    [['mine', '--wallet', 'me'], '-u ACCOUNT.RIG'],
    [['mine', '-o', '--network', 'development'], '-o has no value'],
    [['mine', 'http://h:1'], 'Did you mean pickaxe mine --node http://h:1?'],
    [['mine', '--user', 'me.rig1'], '--user is for a pool, and none is configured'],
    [['mine', '-p', 'x'], '--password is for a pool, and none is configured'],
    [['mine', ...node, '--network', 'mainnet01', '--user', 'me'], '--user is for a pool. Give your public key'],
    [['mine', ...node, '--public-key', KEY], 'Asking for it failed: cannot reach http://127.0.0.1:1'],
    [['mine', ...node, '--temp-limit', 'cpu=80'], 'flags begin with --cpu-'],
    [['mine', ...node, '--threads', '101%'], 'from 1% to 100%'],
    [['stats', '8080'], 'Did you mean pickaxe stats --http 8080?'],
    [['bench', '-d', 'none'], 'nothing to measure (--devices: none)'],
    [['bench', '--seconds', '0'], 'up to 1h, and with --stress up to 20d'],
    [['bench', '--seconds', '2h'], 'up to 1h, and with --stress up to 20d'],
    [['bench', '--stress', '--seconds', '21d'], 'up to 1h, and with --stress up to 20d'],
    [['help', 'nope'], 'unknown command "nope"'],
    [['mine', ...node, '--network', 'mainnet01', '--public-key', 'xyz'], '64 hex digits'],
    [['mine', ...node, '--network', 'mainnet01', '--public-key', KEY, '--public-key', 'cd'.repeat(32)], '--account'],
    [['mine', ...node, '--network', 'mainnet01', '--public-key', KEY, '--predicate', 'keys-some'], 'keys-all'],
    [['mine', ...node, '--network', 'mainnet01', '--public-key', KEY, '--devices', 'tpu'], 'cpu,gpu0'],
    [['mine', ...node, '--network', 'mainnet01', '--public-key', KEY, '--threads', '0'], '1 to 1024'],
    [['mine', ...node, '--network', 'mainnet01', '--public-key', KEY, '--duration', 'soon'], 'seconds'],
    [['mine', ...node, '--network', 'mainnet01', '--public-key', KEY, '--log-level', 'loud'], 'info'],
    [['mine', ...node, '--network', 'mainnet01', '--public-key', KEY, '--temp-limit', 'hot'], '30 to 120'],
    [['mine', ...node, '--network', 'mainnet01', '--public-key', KEY, ...warm], 'must be below --temp-limit (80)'],
    [['mine', '--pool', 'stratum+tcp://127.0.0.1:1', '--user', 'a.b', '--pool-difficulty', '0'], 'from 0.000001'],
    [['demo', ...warm], 'must be below --temp-limit (80)'],
    [['demo', '--temp-limit', 'none', '--temp-resume', '70'], '--temp-resume needs a --temp-limit'],
    [['bench', '--cpu-priority', '20'], '0 (normal) to 19'],
    [['bench', '--cpu-priority', '-1'], '0 (normal) to 19'],
    [['bench', '--cpu-affinity', 'all'], 'like 0,2-5'],
    [['bench', '--cpu-affinity', '3-1'], 'like 0,2-5'],
    [['bench', '--cpu-affinity', '0-1024'], 'below 1024'],
    [['bench', '--cpu-affinity', '1023'], 'cannot be pinned'],
    [['bench', '--cpu-affinity', '0', '--threads', '2'], 'cannot be pinned'],
    [['bench', '--tune', '--cpu-affinity', '1023'], 'cannot be pinned'],
    [['devices', '--threads', '0'], '1 to 1024'],
    [['devices', '--cpu-affinity', '1023'], 'cannot be pinned'],
    [['bench', '--kernel', 'abacus', '--devices', 'cpu'], 'abacus'],
    [['mine', ...node, '--network', 'develpment', '--public-key', KEY], 'Did you mean development?'],
    [['dig'], 'unknown command'],
    [['mine'], 'pickaxe demo'],
    [['verify'], "missing required argument 'header'"],
    [['verify', 'zz'], 'neither hex nor base64url'],
    [['mock-node', '--options', 'chains'], 'JSON'],
    [['verify', 'abcd'], '286 bytes'],
    [['keygen'], 'file'],
    [['tx', 'build'], "missing required argument 'request'"],
    [['tx', 'build', 'a.yaml', '--unsigned', '--local'], 'cannot be used with'],
    [['tx', 'build', 'gone.yaml'], 'gone.yaml cannot be read: there is no such file'],
    [['tx', 'sign', 'A'.repeat(43)], "missing required argument 'key-file'"],
    [['tx', 'sign', 'A'.repeat(43), 'gone.json'], 'the key file: gone.json cannot be read'],
    [['tx', 'combine', '-', '-'], 'only once'],
    [['tx', 'show', '.'], '. cannot be read: it is a directory'],
    [['tx', 'dig'], 'unknown command'],
    [['repl', 'gone.repl'], 'gone.repl cannot be read: there is no such file. Give the path'],
    [['repl', '.'], '. cannot be read: it is a directory. Give the path'],
    [['repl', '--dialect', '6'], '4, 5'],
    [['tx', 'poll', 'A'.repeat(43), ...node], '--chain N'],
    [['tx', 'poll', 'A'.repeat(43), '--chain', '0'], 'No node is configured'],
    [['tx', 'poll', 'A'.repeat(43), '--chain', '-1', ...node], 'whole number'],
    [['tx', 'poll', 'A'.repeat(43), '--chain', '4294967296', ...node], 'from 0 to 4294967295'],
    [['tx', 'spv', 'A'.repeat(43), '--chain', '0', '--target-chain', '4294967296', ...node], 'from 0 to 4294967295'],
    [['ledger', 'block', '4294967296', ...node], 'from 0 to 4294967295'],
    [['tx', 'spv', 'A'.repeat(43), '--chain', '0', ...node], '--target-chain'],
    [['tx', 'send', 'gone.json', ...node], 'there is no such file'],
    [['tx', 'send', 'gone.json', ...node, '--dialect', 'latin'], 'chainweb'],
    [['tx', 'send', 'gone.json', ...node, '--command-path', 'a//b'], 'like chain/<chain>/pact/api/v1'],
    [['mock-node', '--options', '{"chains":99}'], 'chains'],
    [['mock-node', '--duration', '1m1h'], 'a time like 90m, 1h30m or 2d'],
    [['mock-node', '--duration', '0'], 'a time like 90m, 1h30m or 2d'],
  ])('as in %j', async (args, message) => {
    const { code, stdout, stderr } = await pickaxe(...args);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('mock node at');
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  const http = ['demo', '--devices', 'cpu', '--http'];
  it.each([
    [[...http, 'soon'], '127.0.0.1:8080'],
    [[...http, '65536'], '127.0.0.1:8080'],
    [[...http, '::1:80'], '[::1]:8080'],
    [[...http, 'http://127.0.0.1:80'], '127.0.0.1:8080'],
    [[...http, '0.0.0.0:0'], '--http-token-file FILE'],
    [[...http, '[::]:0'], '--http-token-file FILE'],
    [[...http, 'rig.lan:0'], '--http-token-file FILE'],
    [['demo', '--http-control'], 'need --http'],
    [['demo', '--http-token-file', 'x'], 'need --http'],
    [[...http, '0', '--http-token-file', join(folder, 'missing')], 'cannot be read'],
    [[...http, '0', '--http-token-file', folder], 'it is a directory'],
    [[...http, '0', '--http-token-file', tokenFile('short')], 'openssl rand'],
    [[...http, '0', '--http-token-file', tokenFile('')], 'is empty'],
    [[...http, '0', '--http-token-file', tokenFile('two words of a token')], 'one token'],
    [[...http, '0', '--http-token-file', tokenFile('x'.repeat(2_000_000))], '4096 bytes'],
    [[...http, '0', '--http-token-file', tokenFile('\x7f'.repeat(64))], 'printable'],
    [[...http, '203.0.113.7:0', '--http-token-file', tokenFile(TOKEN)], 'cannot listen on --http'],
  ])('as in %j', async (args, message) => {
    const { code, stderr } = await pickaxe(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain('internal error');
  });
});
