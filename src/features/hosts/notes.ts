import type { Reading } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { FailsafePorts, NodeVerdict } from '../policy-rules/index.ts';
import { type HostEndpoint, isAllInterfaces, originOf } from '../policy-rules/index.ts';
import { listed } from '../survey/index.ts';

/** What a person should know of the fleet before saying yes: whom the allow-all profile opens, what is left alone, and what is odd but goes well. */
export function migrationNotes({ endpoints, verdicts, failsafe }: Noted, profile: Profile): readonly string[] {
  return [
    allowAll(verdicts),
    ...openPorts(failsafe),
    ...leftAlone(endpoints),
    ...halfMigrated(endpoints, verdicts, profile),
    ...several(verdicts),
  ];
}

interface Noted {
  readonly endpoints: readonly HostEndpoint[];
  readonly verdicts: readonly NodeVerdict[];
  readonly failsafe: Reading<FailsafePorts | undefined>;
}

/** What a wrong policy cannot cut off. */
function openPorts(failsafe: Noted['failsafe']): readonly string[] {
  if ('unread' in failsafe) return [`which failsafe ports stay open could not be read: ${failsafe.unread}`];
  if (!failsafe.value) return [];
  const [inbound, outbound] = [failsafe.value.inbound, failsafe.value.outbound].map((ports) => ports.join(', ') || 'none');
  return [`failsafe ports stay open whatever policies say: to the host ${inbound}; from the host ${outbound}`];
}

function allowAll(verdicts: readonly NodeVerdict[]): string {
  const open = verdicts.filter(({ atDelete }) => atDelete.changes.some(({ verdict }) => verdict === 'OPEN'));
  const warning = 'automatic host endpoints carry an allow-all profile: where no policy selects a host, all its traffic is let through';
  return open.length === 0
    ? warning
    : `${warning}: ${listed(open.map(({ node }) => node))}${open.length > 3 ? ' (NS-711 names all, with -o wide)' : ''}`;
}

/** Only endpoints of all interfaces are migrated: a named one goes before them on its interface, one by addresses is found by these. */
function leftAlone(endpoints: readonly HostEndpoint[]): readonly string[] {
  const others = endpoints.filter((one) => !isAllInterfaces(one));
  if (others.length === 0) return [];
  const names = others.map(
    ({ name, interfaceName }) => `${name} (${interfaceName === undefined ? 'by its addresses' : `interface ${interfaceName}`})`,
  );
  return [
    `${counted(others.length, 'host endpoint')} not of all interfaces ${others.length === 1 ? 'stays as it is' : 'stay as they are'}: ${listed(names)}`,
  ];
}

function halfMigrated(endpoints: readonly HostEndpoint[], verdicts: readonly NodeVerdict[], { labels }: Profile): readonly string[] {
  const automatic = new Set(endpoints.filter((one) => originOf(one, labels) === 'automatic').map(({ node }) => node));
  const half = verdicts.filter(({ node, old }) => old.length > 0 && automatic.has(node)).map(({ node }) => node);
  if (half.length === 0) return [];
  return [
    `${counted(half.length, 'node')} with an automatic endpoint beside old ones already: ${listed(half)}; the migration goes on from there`,
  ];
}

function several(verdicts: readonly NodeVerdict[]): readonly string[] {
  const many = verdicts.filter(({ old }) => old.length > 1).map(({ node, old }) => `${node} (${old.map(({ name }) => name).join(', ')})`);
  if (many.length === 0) return [];
  return [
    `${counted(many.length, 'node')} with several old endpoints, of which the first by name acts now: ${listed(many)}; they go together`,
  ];
}
