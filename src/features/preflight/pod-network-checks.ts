import { type Evidence, notApplicable, read, type Verdict } from '../../kernel/check.ts';
import { canonicalNetwork } from '../../kernel/ip-text.ts';
import { jsonAt } from '../../kernel/json-map.ts';
import { evidenceOf, failIfAny, type PreflightCheck, specOf, withInstallation } from '../survey/index.ts';

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
