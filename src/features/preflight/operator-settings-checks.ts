import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, read, type Verdict } from '../../kernel/check.ts';
import { canonicalNetwork } from '../../kernel/ip-text.ts';
import { isRecord, jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { evidenceOf, failIfAny, objectsOf, type PreflightCheck, specOf, withInstallation } from '../survey/index.ts';

/** Tools that write what their source says again and again. */
const TOOLS = ['argocd', 'kustomize-controller', 'helm-controller'];

export const oneWriterChecks: readonly PreflightCheck[] = [
  /** What the operator sets must have no other repeated writer: they would overwrite each other for ever. */
  {
    id: 'NS-113',
    title: 'settings of the operator written by it alone',
    category: 'installation',
    severity: 'warning',
    ref: 'domain §12',
    judge: withInstallation((_installation, facts, { profile }): Verdict => {
      const { operated } = facts;
      const writes = profile.operator.crossings?.writes;
      if (!operated || !writes) return notApplicable('no operator writes settings here');
      const found = writes.flatMap(({ plural, fields }) => objectsOf(facts, plural).flatMap((object) => otherWriters(object, fields)));
      const [first] = found;
      return failIfAny(found, 'the operator alone writes its settings', (names) => ({
        because: `settings that the operator writes are also written by another tool: ${names}. The two overwrite each other again and again`,
        hint: 'Remove these fields from the source of that tool, and set what you want in the Installation.',
        next: command`kubectl get ${`${first?.object?.kind.toLowerCase() ?? ''}.${profile.crdGroup}`} ${first?.object?.name ?? ''} --show-managed-fields -o yaml`,
      }));
    }),
  },
];

function otherWriters(object: KubeObject, fields: readonly string[]): readonly Evidence[] {
  const { managedFields = [] } = object.metadata;
  return managedFields.flatMap(({ manager = '', fieldsV1 }) => {
    const spec = isRecord(fieldsV1) ? fieldsV1['f:spec'] : undefined;
    const owned = fields.filter((field) => isRecord(spec) && `f:${field}` in spec);
    const isTool = TOOLS.some((prefix) => manager.startsWith(prefix));
    return isTool && owned.length > 0 ? [evidenceOf(object, `${manager} writes ${owned.join(', ')}`)] : [];
  });
}

export const podNetworkChecks: readonly PreflightCheck[] = [
  /** The operator refuses pools of the Installation outside the pod network of kubeadm, and then upgrades nothing. */
  {
    id: 'NS-628',
    title: 'address pools within the pod network',
    category: 'resources',
    severity: 'error',
    ref: 'domain §12',
    judge: withInstallation((_installation, { operated }, { profile }): Verdict => {
      const { crossings } = profile.operator;
      if (!operated || !crossings) return notApplicable('no operator runs the service here');
      const installation = read(operated.installation);
      const pools = jsonAt(specOf(installation), ...crossings.pools.field);
      if (!installation || !Array.isArray(pools) || pools.length === 0) return notApplicable('the Installation lists no address pools');
      const subnets = read(operated.podSubnets);
      if (subnets.length === 0) return notApplicable('kubeadm has no pod network here');
      const outside = pools
        .map((pool) => String(jsonAt(pool, 'cidr') ?? ''))
        .filter((cidr) => !subnets.some((subnet) => isWithin(cidr, subnet)));
      const evidence = outside.map((cidr): Evidence => evidenceOf(installation, `${cidr} is not within ${subnets.join(', ')}`));
      return failIfAny(evidence, `the pools are within the pod network ${subnets.join(', ')}`, () => ({
        because: `the Installation has pools outside the pod network that kubeadm knows (${subnets.join(', ')}): ${outside.join(', ')}. The operator refuses them and upgrades nothing`,
        hint: `Set podSubnet in ConfigMap kubeadm-config to a network that has these pools in it, or align spec.${crossings.pools.field.join('.')} of the Installation, before the upgrade.`,
        next: 'kubectl -n kube-system get configmap kubeadm-config -o yaml',
      }));
    }),
  },
];

function isWithin(cidr: string, subnet: string): boolean {
  const [, bits] = subnet.split('/');
  const network = canonicalNetwork(subnet);
  if (network === undefined || Number(cidr.split('/')[1]) < Number(bits)) return false;
  return canonicalNetwork(`${cidr.split('/')[0]}/${bits}`) === network;
}
