import { command } from '../../kernel/argv.ts';
import { notApplicable, read } from '../../kernel/check.ts';
import { findWorkload, serviceWorkloads } from '../rollout/index.ts';
import { allContainersOf, evidenceOf, failIfAny, type PreflightCheck, withInstallation } from '../survey/index.ts';

/** The agents' init container writes the list of plugins again, without those that others have put into it (istio#57432). */
export const nonePluginChained: PreflightCheck = {
  id: 'NS-430',
  title: 'no other CNI plugin chained',
  category: 'workloads',
  severity: 'warning',
  ref: 'domain §12/42',
  judge: withInstallation((installation, facts, { profile }) => {
    const { chainedPlugins, cniInstaller } = profile;
    if (!chainedPlugins) return notApplicable('the profile knows no CNI plugins of others');
    const agents = serviceWorkloads(installation, profile)?.agent;
    const live = agents && findWorkload(read(facts.daemonSets), agents);
    if (!live || !allContainersOf(live).some(({ name }) => name === cniInstaller))
      return notApplicable('the agents write no CNI configuration');
    const found = chainedPlugins.flatMap((plugin) =>
      read(facts.daemonSets)
        .filter(({ metadata }) => metadata.name.includes(plugin.daemonSet))
        .map((one) => ({ plugin, evidence: evidenceOf(one, `${plugin.title}: ${plugin.happens}`) })),
    );
    const [first] = found;
    const evidence = found.map((one) => one.evidence);
    return failIfAny(evidence, 'no other CNI plugin is chained to that of the service', (names) => ({
      because: `each agent that starts writes the CNI configuration of its node again, without the plugins that others have added: ${names}`,
      hint: [...new Set(found.map(({ plugin }) => plugin.advice))].join('\n'),
      next: command`kubectl -n ${first?.evidence.object?.namespace ?? ''} get daemonset ${first?.evidence.object?.name ?? ''} -o wide`,
    }));
  }),
};
