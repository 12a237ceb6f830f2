/** `--stratum-listen`: a stratum server beside the devices, or alone. */

import { createSecureContext, type SecureContext } from 'node:tls';
import type { Logger } from 'pino';
import type { Config } from '../../config/settings.ts';
import { Ledger } from '../../relay/stratum/ledger.ts';
import { StratumRelay } from '../../relay/stratum/stratum-relay.ts';
import type { Clock } from '../../system/clock.ts';
import { openPrivate } from '../../system/private-file.ts';
import { formatHttpAddress } from '../../text/http-address.ts';
import { certificatesIn } from '../ca-file.ts';
import { UsageError } from '../exit-codes.ts';
import { whyNotListening } from '../listen-fault.ts';
import type { MakeRelay } from '../run-miner.ts';
import { secretTextIn } from '../secret-file.ts';
import { relayLog } from './relay-log.ts';

const TAG = { tag: 'stratum' };

/** @throws UsageError when the certificate or its key cannot be used */
export function stratumServer({ listen, ledger, ...settings }: Config['stratum'], log: Logger): MakeRelay {
  if (!listen) throw new Error('no address to listen on');
  const secureContext = contextOf(settings);
  const { shareSeconds, proxies = [] } = settings;
  return ({ source, emit, clock, lane }) => {
    const relay = new StratumRelay({
      source,
      emit,
      clock,
      lane,
      listen,
      shareSeconds,
      proxies,
      log: relayLog(log, TAG.tag),
      ...(secureContext && { secureContext }),
      ...(ledger !== undefined && { openLedger: () => openLedger(ledger, log, clock) }),
    });
    const open = async () => {
      try {
        await relay.open();
      } catch (fault) {
        if (fault instanceof UsageError) throw fault;
        const why = whyNotListening(fault as NodeJS.ErrnoException, listen.port);
        throw new UsageError(`cannot listen on --stratum-listen ${formatHttpAddress(listen)}: ${why}.`);
      }
      const at = formatHttpAddress({ host: listen.host, port: relay.port ?? listen.port });
      log.info(TAG, `listening at stratum+${secureContext ? 'ssl' : 'tcp'}://${at}`);
    };
    return { name: relay.name, open, run: (stop) => relay.run(stop) };
  };
}

/** @throws UsageError when the file cannot be written */
async function openLedger(path: string, log: Logger, clock: Clock): Promise<Ledger> {
  const handle = await openPrivate(path).catch((fault: Error) => {
    throw new UsageError(`--stratum-ledger: ${path} cannot be written: ${fault.message}`);
  });
  const file = {
    write: async (bytes: Buffer) => (await handle.write(bytes)).bytesWritten,
    close: () => handle.close(),
  };
  return new Ledger(file, { clock, warn: (line) => log.warn(TAG, `${line}: ${path}`) });
}

/** @throws UsageError that says what is wrong with the files, without quoting the key */
function contextOf({ tlsCert, tlsKey }: Pick<Config['stratum'], 'tlsCert' | 'tlsKey'>): SecureContext | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const key = secretTextIn(tlsKey, '--stratum-tls-key');
  const cert = certificatesIn(tlsCert, '--stratum-tls-cert').join('\n');
  try {
    return createSecureContext({ cert, key, minVersion: 'TLSv1.2' });
  } catch (fault) {
    throw new UsageError(
      `--stratum-tls-cert ${tlsCert} and --stratum-tls-key ${tlsKey} cannot be used: ${(fault as Error).message}`,
    );
  }
}
