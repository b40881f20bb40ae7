import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { repairCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { isRecord, jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { isOlder, sameMinor } from '../../kernel/release.ts';
import { CONNECTIONS } from '../../kernel/traffic.ts';
import { targetCrds } from '../install-manifest/index.ts';
import { agentSetting, ebpfNodes, envOf, findWorkload, serviceWorkloads } from '../rollout/index.ts';
import {
  evidenceOf,
  failed,
  failIfAny,
  objectsOf,
  type PreflightCheck,
  type PreflightFacts,
  sourceRelease,
  specOf,
  table,
  withResources,
  withTarget,
} from '../survey/index.ts';

const FELIX = 'felixconfigurations';

export const dataPlaneChecks: readonly PreflightCheck[] = table({ category: 'resources', severity: 'warning' }, [
  {
    id: 'NS-505',
    title: 'LoadBalancer addresses do not change',
    ref: 'domain §12/29',
    judge: withResources((installation, facts, { profile }): Verdict => {
      const pools = objectsOf(facts, 'ippools').filter((pool) => [specOf(pool).allowedUses].flat().includes('LoadBalancer'));
      if (pools.length === 0) return ok('no address pool is for LoadBalancer services');
      const controllers = serviceWorkloads(installation, profile)?.controllers;
      const live = controllers ? findWorkload(read(facts.deployments), controllers) : undefined;
      const enabled = controllers ? envOf(live, controllers.container, 'ENABLED_CONTROLLERS') : undefined;
      if (enabled?.split(',').includes('loadbalancer')) return ok('the controllers already assign LoadBalancer addresses');
      const { plural, name } = profile.controllersConfiguration;
      const settings = specOf(objectsOf(facts, plural).find((one) => one.metadata.name === name));
      if (isRecord(settings.controllers) && jsonAt(settings, 'controllers', 'loadBalancer', 'assignIPs') !== undefined) {
        return ok('assignIPs of the controllers is set');
      }
      const evidence = pools.map((pool) => evidenceOf(pool));
      return failIfAny(evidence, '', (names) => ({
        because: `the new controllers will give addresses of ${names} to every LoadBalancer service without one`,
        hint: 'Take the use LoadBalancer out of the pool, or set assignIPs to RequestedServicesOnly as soon as the new CRDs are there.',
        next: command`kubectl get services -A --field-selector spec.type=LoadBalancer`,
      }));
    }),
  },
  {
    id: 'NS-506',
    title: 'data plane mode settled',
    ref: 'domain §12/25',
    judge: withResources((_installation, facts, context) => judgePacketFilter(facts, context)),
  },
  {
    id: 'NS-507',
    title: 'eBPF data plane',
    ref: 'domain §12/24',
    judge: withResources((installation, facts, { profile }): Verdict => {
      const on = ebpfNodes(facts, installation, profile);
      if (on.length === 0) return ok('the standard data plane is in use');
      const where = on === 'all' ? '' : ` on ${counted(on.length, 'node')}`;
      return failed(
        `the eBPF data plane is in use${where}: ${CONNECTIONS.ebpf}, and maps of old and new agents may differ`,
        'Plan a maintenance window, and drain nodes with long-lived connections before their turn.',
        { evidence: on === 'all' ? [] : on.map((node) => ({ text: `Node/${node}` })), next: command`kubectl get nodes -o wide` },
      );
    }),
  },
]);

const judgePacketFilter = withTarget(({ documents }, installation, facts, context): Verdict => {
  const crd = targetCrds(documents).find((one) => one.plural === FELIX);
  const schema = Object.values(crd?.schemas ?? {})[0];
  const auto = schema?.properties?.spec?.properties?.nftablesMode?.default === 'Auto';
  const source = sourceRelease(installation, facts, context);
  if (!auto || (source !== undefined && sameMinor(source, context.goal.release))) {
    return notApplicable('the target does not change how the data plane is chosen');
  }
  const ofOperator = judgeOperatedFilter(facts, context);
  if (ofOperator) return ofOperator;
  const set = agentSetting(facts, installation, context.profile, 'nftablesMode');
  if (set !== undefined) return ok(`nftablesMode is set to ${String(set)}`);
  const mode = read(facts.proxyMode);
  if (mode !== 'nftables') return ok(`nftablesMode becomes Auto; kube-proxy runs in mode ${mode === '' ? 'iptables (its default)' : mode}`);
  return failed(
    'kube-proxy uses nftables and nftablesMode is not set: the new agents will switch to nftables by themselves',
    'Set nftablesMode in the default FelixConfiguration to what you want, before the upgrade.',
    {
      fix: repairCommand`kubectl patch ${FELIX}.${context.profile.crdGroup} default --type=merge -p '{"spec":{"nftablesMode":"Enabled"}}'`,
      next: command`kubectl get ${FELIX}.${context.profile.crdGroup} default -o yaml`,
    },
  );
});

/** An operator overwrites the agents' mode by its own setting. Undefined where none runs the service. */
function judgeOperatedFilter({ operated, proxyMode }: PreflightFacts, { profile, goal }: Context): Verdict | undefined {
  const { crossings, installationKind } = profile.operator;
  const installation = operated && read(operated.installation);
  if (!crossings || !installation) return undefined;
  const { field, otherwise, iptables, nftables, nftablesFollowsProxySince } = crossings.dataPlane;
  const dataPlane = String(jsonAt(specOf(installation), ...field) ?? otherwise);
  const path = `spec.${field.join('.')}`;
  const follows = dataPlane === nftables && !isOlder(goal.release, nftablesFollowsProxySince);
  if (dataPlane !== iptables && !follows)
    return ok(`${path} of the Installation is ${dataPlane}, by which the operator sets that of the agents`);
  const mode = read(proxyMode);
  if (follows) return judgeFollowing(installation, `${path} of the Installation is ${nftables}`, mode, nftablesFollowsProxySince);
  if (mode !== 'nftables')
    return ok(`${path} of the Installation is ${iptables}: the operator keeps the agents at iptables, as kube-proxy is`);
  const resource = `${installationKind.plural}.${profile.operatorGroup}`;
  const { name } = (read(operated.dataPlane) ?? installation).metadata;
  const patch = JSON.stringify({ spec: field.reduceRight<unknown>((inner, key) => ({ [key]: inner }), nftables) });
  return failed(
    `kube-proxy uses nftables, and ${path} of the Installation is ${iptables}: the operator keeps the agents at iptables, whatever nftablesMode of the FelixConfiguration is`,
    `Set ${path} of the Installation to ${nftables} before the upgrade, if agents and kube-proxy shall use the same data plane; it restarts the agents.`,
    {
      evidence: [evidenceOf(installation)],
      fix: repairCommand`kubectl patch ${resource} ${name} --type=merge -p ${patch}`,
      next: command`kubectl get ${resource} ${name} -o yaml`,
    },
  );
}

/** What meant nftables until now means: as kube-proxy. */
function judgeFollowing(installation: KubeObject, set: string, mode: string | undefined, since: string): Verdict {
  if (mode === 'nftables') return ok(`${set}, by which the agents follow kube-proxy from ${since} on; it uses nftables`);
  if (mode === undefined)
    return failed(
      `${set}. From ${since} on the operator lets the agents follow kube-proxy then, whose settings are in no ConfigMap kube-proxy here: unless it uses nftables, the agents change to iptables during the upgrade`,
      'Look how kube-proxy is started (k3s, RKE2: --kube-proxy-arg; EKS: ConfigMap kube-proxy-config). If it uses nftables, there is nothing to do. Otherwise set it to nftables before the upgrade.',
      { evidence: [evidenceOf(installation)], next: command`kubectl -n kube-system get configmaps,daemonsets` },
    );
  const proxy =
    mode === '' ? 'no mode of kube-proxy is set, which is iptables unless its arguments say otherwise' : `kube-proxy runs in mode ${mode}`;
  return failed(
    `${set}. From ${since} on the operator lets the agents follow kube-proxy then, and ${proxy}: the agents change to iptables during the upgrade`,
    'Set kube-proxy to mode nftables before the upgrade. Otherwise plan the change of the data plane, node by node. The command below shows the mode.',
    { evidence: [evidenceOf(installation)], next: command`kubectl get configmap kube-proxy -n kube-system -o yaml` },
  );
}
