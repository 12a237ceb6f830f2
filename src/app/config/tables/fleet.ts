/** Settings of a fleet's members: the NATS servers, and what the fleet's operators may do with this rig. */

import { natsUrl } from '../setting-types/addresses.ts';
import { list, path, toggle } from '../setting-types/basic.ts';
import { fleetGroup, natsSubject } from '../setting-types/rig.ts';
import type { Table } from '../settings-table.ts';

export const FLEET = {
  nats: {
    about: 'The NATS servers of a fleet, which a rig mines for in place of a node: docs/fleet.md.',
    heading: 'Fleet',
    settings: {
      urls: {
        type: list(natsUrl),
        about: 'NATS server of a fleet; repeat for several of them',
        example: ['nats://127.0.0.1:4222'],
        flag: '--nats <url>',
        inHelp: 'first',
        needsNaming: 'if-mixed',
      },
      credentialsFile: {
        type: path,
        about: 'file with this member’s nkey seed or credentials, as pickaxe fleet keys writes it',
        otherwise: 'none: the server must ask for none',
        example: 'rig1.nk',
        flag: '--nats-credentials <file>',
        needsNaming: true,
        secretFile: true,
      },
      caFile: {
        type: path,
        about: 'PEM file with the certificate authorities to trust for NATS servers with TLS (tls://)',
        otherwise: 'the authorities that Node.js knows',
        example: 'nats-ca.pem',
        flag: '--nats-ca-file <file>',
        needsNaming: 'if-mixed',
      },
      subject: {
        type: natsSubject,
        about: 'first part of the subjects, which distinguishes the fleets of a server',
        default: 'pickaxe',
        flag: '--nats-subject <name>',
        inHelp: 'never',
        needsNaming: 'if-mixed',
      },
    },
  },
  fleet: {
    about: 'What the operators of the fleet see of this rig, and may do with it: docs/fleet.md.',
    heading: 'Fleet',
    settings: {
      group: {
        type: fleetGroup,
        about: 'group of rigs that this one belongs to, such as a hall',
        otherwise: 'none',
        example: 'hall-a',
        flag: '--fleet-group <name>',
      },
      control: {
        type: toggle,
        about: 'let operators of the fleet pause, resume and restart this rig, and lower its temperature limits',
        default: false,
        flag: '--fleet-control',
        needsNaming: true,
      },
    },
  },
} as const satisfies Table;
