import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { isWithin } from '../../kernel/ip-text.ts';
import { isRecord, jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { OperatorCrossings } from '../../kernel/operator-names.ts';
import { crosses } from '../../kernel/release.ts';
import { hasOwnCni } from '../ipam/index.ts';
import {
  evidenceOf,
  failed,
  failIfAny,
  objectsOf,
  type PreflightCheck,
  type SecretCertificate,
  sourceRelease,
  specOf,
  table,
  toolOf,
} from '../survey/index.ts';
import { type Operated, withOperated } from './crossings-checks.ts';

/** What the operator sets must have no other repeated writer: they would overwrite each other for ever. */
export const oneWriter: PreflightCheck = {
  id: 'NS-113',
  title: 'settings of the operator written by it alone',
  category: 'installation',
  severity: 'warning',
  ref: 'domain §12',
  judge: withOperated(({ names: { writes = [] }, operated, facts, context: { profile } }) => {
    const rows = writes.filter(({ where }) => where === undefined || jsonAt(specOf(read(operated.installation)), ...where) !== undefined);
    const found = rows.flatMap(({ plural, fields }) => objectsOf(facts, plural).flatMap((object) => otherWriters(object, fields)));
    const [first] = found;
    return failIfAny(found, 'the operator alone writes its settings', (names) => ({
      because: `settings that the operator writes are also written by another tool: ${names}. The two overwrite each other again and again`,
      hint: 'Remove these fields from the source of that tool, and set what you want in the Installation.',
      next: command`kubectl get ${`${first?.object?.kind.toLowerCase() ?? ''}.${profile.crdGroup}`} ${first?.object?.name ?? ''} --show-managed-fields -o yaml`,
    }));
  }),
};

function otherWriters(object: KubeObject, fields: readonly string[]): readonly Evidence[] {
  const { managedFields = [] } = object.metadata;
  return managedFields.flatMap(({ manager = '', fieldsV1 }) => {
    const spec = isRecord(fieldsV1) ? fieldsV1['f:spec'] : undefined;
    const owned = fields.filter((field) => isRecord(spec) && `f:${field}` in spec);
    // These write what their source says again and again.
    return toolOf(manager) !== undefined && owned.length > 0 ? [evidenceOf(object, `${manager} writes ${owned.join(', ')}`)] : [];
  });
}

const DAY = 86_400_000;
const SOON = 30;

type Certificates = NonNullable<OperatorCrossings['certificates']>;

function withCertificates(judge: (names: Certificates, given: Operated) => Verdict) {
  return withOperated((given) => {
    const { certificates } = given.names;
    return certificates ? judge(certificates, given) : notApplicable('no operator holds certificates of the service here');
  });
}

export const operatorSettingsChecks: readonly PreflightCheck[] = table({ category: 'resources', severity: 'error', ref: 'domain §11.3' }, [
  /** Where there is no pool, the operator creates those of the Installation, unless they lie outside the pod network of kubeadm. */
  {
    id: 'NS-628',
    title: 'address pools within the pod network',
    ref: 'domain §12',
    isNeverWaived: true,
    judge: withOperated(({ names, operated, facts }) => {
      const installation = read(operated.installation);
      const listed = jsonAt(specOf(installation), ...names.pools.field);
      if (!installation || !Array.isArray(listed) || listed.length === 0) return notApplicable('the Installation lists no address pools');
      if (objectsOf(facts, names.pools.plural).length > 0)
        return ok('there are address pools: the operator compares none with the pod network of kubeadm');
      if (!hasOwnCni(installation)) return notApplicable('another CNI plugin gives the addresses');
      const subnets = read(operated.podSubnets);
      if (subnets === undefined) return notApplicable('kubeadm did not create this cluster');
      const known = subnets.join(', ') || 'nothing that can be read';
      const outside = listed
        .map((pool) => String(jsonAt(pool, 'cidr') ?? ''))
        .filter((cidr) => !subnets.some((subnet) => isWithin(cidr, subnet)));
      const evidence = outside.map((cidr): Evidence => evidenceOf(installation, `${cidr} is not within ${known}`));
      return failIfAny(evidence, `the pools are within the pod network ${known}`, () => ({
        because: `there is no address pool, and the Installation has pools outside the pod network that kubeadm knows (${known}): ${outside.join(', ')}. The operator refuses to create them and upgrades nothing`,
        hint: `Set podSubnet in ConfigMap kubeadm-config, without quotes, to a network that has these pools in it, or align spec.${names.pools.field.join('.')} of the Installation, before the upgrade.`,
        next: command`kubectl -n kube-system get configmap kubeadm-config -o yaml`,
      }));
    }),
  },
  /** The operator renews its own certificates but keeps others, even without the target's address. */
  {
    id: 'NS-630',
    title: 'certificate of the API server fits the target',
    judge: withCertificates((names, { operated: { certificates }, installation, facts, context }) => {
      const { api, signer } = names;
      const moves = installation.hasApiServer && crosses(sourceRelease(installation, facts, context), context.goal.release, api.since);
      if (moves && 'unread' in certificates) return unreadable(names, 'certificate of the API server', certificates.unread);
      const found = moves ? read(certificates).find(({ secret }) => secret === api.secret) : undefined;
      if (!found) return notApplicable('this upgrade gives no API server another address');
      if (found.names.includes(api.name)) return ok(`the certificate of the API server is for ${api.name} too`);
      if (found.issuer === signer) return ok('the operator has signed the certificate of the API server, and renews it');
      return failed(
        `the certificate of the API server is not for ${api.name}, its address from ${api.since} on, and was signed by ${found.issuer || 'an issuer without a name'}. The operator keeps it, and the v3 API does not come back after the upgrade`,
        `If it is your own certificate, issue it for ${api.name} as well. If an earlier operator signed it (${signer}@…), delete the Secret right before the upgrade: the operator makes a new one.`,
        {
          evidence: [evidenceFor(found, `for ${found.names.join(', ')}; signed by ${found.issuer}`)],
          next: command`kubectl -n ${found.namespace} describe secret ${found.secret}`,
        },
      );
    }),
  },
  /** Agents that restart connect to Typha again: with certificates that are over they cannot. */
  {
    id: 'NS-631',
    title: 'certificates of agents and Typha valid',
    judge: withCertificates((names, { operated: { certificates }, facts, context: { options } }) => {
      if ('unread' in certificates) return unreadable(names, 'certificates of agents and Typha', certificates.unread);
      const own = certificates.value.filter(({ secret }) => names.secrets.includes(secret));
      const ending = own.filter(({ until }) => until - facts.now < SOON * DAY);
      const isOver = ending.some(({ until }) => until < facts.now);
      const older = options.enableFlowLogs ? own.filter(({ issuer }) => issuer.startsWith(`${names.signer}@`)) : [];
      const evidence = [
        ...ending.map((one) =>
          evidenceFor(one, `${one.until < facts.now ? 'ended' : 'ends'} on ${new Date(one.until).toISOString().slice(0, 10)}`),
        ),
        ...older.map((one) => evidenceFor(one, `signed by ${one.issuer}, which the flow logs of the target do not trust`)),
      ];
      return failIfAny(evidence, 'the certificates of agents and Typha are valid', (found) => ({
        because: `${counted(evidence.length, 'certificate')} of agents and Typha that will not do: ${found}. Agents that restart may not connect`,
        hint: 'Renew a certificate of your own. One that the operator signed: delete its Secret before the upgrade, the operator makes a new one and restarts the agents.',
        next: command`kubectl -n ${names.namespace} get secrets ${names.secrets}`,
        severity: isOver ? 'error' : 'warning',
      }));
    }),
  },
]);

/** An account that may not read Secrets can upgrade: such certificates are rare, and the right is optional. */
function unreadable({ namespace }: Certificates, what: string, because: string): Verdict {
  return failed(
    `${what} not read: ${because}`,
    'Look at names, issuer and end with an account that may read these Secrets, before the upgrade.',
    { severity: 'warning', next: command`kubectl auth can-i get secrets -n ${namespace}` },
  );
}

function evidenceFor({ namespace, secret }: SecretCertificate, detail: string): Evidence {
  return { text: `Secret/${namespace}/${secret}`, object: { apiVersion: 'v1', kind: 'Secret', namespace, name: secret }, detail };
}
