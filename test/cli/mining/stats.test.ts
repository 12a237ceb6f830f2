import { describe, expect, it } from 'vitest';
import { parseHttpAddress } from '#pickaxe/base/text/addresses.js';
import { minersToAsk } from '#pickaxe/cli/mining/stats.js';
import { TOKEN, tokenFile } from '../token-file.ts';

const at = (...texts: string[]) => texts.map((text) => parseHttpAddress(text)!);
/** The token that is sent to each address. */
const sent = (...args: Parameters<typeof minersToAsk>) =>
  minersToAsk(...args).map(({ headers }) => headers.authorization?.replace('Bearer ', ''));

describe('the token of pickaxe stats', () => {
  const configured = (listen: string) => {
    return { listen: parseHttpAddress(listen)!, control: false, tokenFile: tokenFile(TOKEN) };
  };

  it('is the configured one for the configured address only', () => {
    const http = configured('192.168.1.5:8080');
    expect(sent(http, {})).toEqual([TOKEN]);
    expect(sent(http, { http: at('192.168.1.5:8080') })).toEqual([TOKEN]);
    expect(sent(http, { http: at('192.168.1.5:8081') })).toEqual([undefined]);
    expect(sent(http, { http: at('127.0.0.1:8080') })).toEqual([undefined]);
    expect(sent(http, { http: at('rig2:8080', '192.168.1.5:8080') })).toEqual([undefined, TOKEN]);
    expect(sent({ control: false, tokenFile: tokenFile(TOKEN) }, { http: at('8080') })).toEqual([undefined]);
  });

  it('goes to loopback where the configured address stands for all interfaces', () => {
    const http = configured('0.0.0.0:8080');
    expect(sent(http, {})).toEqual([TOKEN]);
    expect(sent(http, { http: at('8080', '8081') })).toEqual([TOKEN, undefined]);
  });

  it('is read only if it is sent', () => {
    const http = { ...configured('8080'), tokenFile: '/nonexistent' };
    expect(sent(http, { http: at('8081') })).toEqual([undefined]);
    expect(() => sent(http, {})).toThrow('--http-token-file');
  });

  it('is the one of the command line, and then no other', () => {
    const [one, two] = ['a-token-of-the-first-rig', 'a-token-of-the-second-rig'];
    const http = configured('8080');
    expect(sent(http, { http: at('rig1:8080'), httpTokenFile: [tokenFile(one)] })).toEqual([one]);
    expect(sent(http, { httpTokenFile: [tokenFile(one)] })).toEqual([one]);
    const both = [tokenFile(one), tokenFile(two)];
    expect(sent(http, { http: at('rig1:8080', '8080'), httpTokenFile: both })).toEqual([one, two]);
  });

  it('is one for several miners only where all of them are on this machine', () => {
    const httpTokenFile = [tokenFile(TOKEN)];
    const http = { control: false };
    expect(sent(http, { http: at('8080', '[::1]:8081', 'localhost:8082'), httpTokenFile })).toEqual([
      TOKEN,
      TOKEN,
      TOKEN,
    ]);
    expect(() => sent(http, { http: at('8080', 'rig2:8080'), httpTokenFile })).toThrow(
      /rig2:8080 is not on this machine\. Give one file for each --http, in the same order/,
    );
  });
});
