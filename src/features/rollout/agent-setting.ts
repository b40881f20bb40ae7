import { read } from '../../kernel/check.ts';
import type { Installation } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { PreflightFacts } from '../survey/index.ts';
import { objectsOf, specOf } from '../survey/index.ts';
import { envOf, findWorkload, serviceWorkloads } from './workload-checks.ts';

const FELIX = 'felixconfigurations';

/** A setting of the agents by its field; their environment, which has the same word in capitals, beats the stored default. */
export function agentSetting(facts: PreflightFacts, installation: Installation, profile: Profile, field: string): unknown {
  const agent = serviceWorkloads(installation, profile)?.agent;
  const live = agent ? findWorkload(read(facts.daemonSets), agent) : undefined;
  const prefix = profile.sidecar.syncEnv.slice(0, profile.sidecar.syncEnv.indexOf('_') + 1);
  const set = agent ? envOf(live, agent.container, `${prefix}${field.toUpperCase()}`) : undefined;
  return set ?? jsonAt(specOf(agentConfigurations(facts, installation).find((one) => one.metadata.name === 'default')), field);
}

/** In key-value mode as the service's CLI lists them; if that fails, only the environment counts. */
function agentConfigurations(facts: PreflightFacts, { datastore }: Installation): readonly KubeObject[] {
  if (datastore === 'api') return objectsOf(facts, FELIX);
  return ('value' in facts.inStore ? facts.inStore.value?.agentConfigurations : undefined) ?? [];
}
