import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { repairCommand } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { jsonAt } from '../../kernel/json.ts';
import type { Profile } from '../../kernel/profile.ts';
import { automaticName, hostEndpointOf, isAllInterfaces, isLabelledOwn, isTakenForOwn } from '../policy-rules/index.ts';
import {
  evidenceOf,
  failed,
  failIfAny,
  objectsOf,
  type PreflightCheck,
  type PreflightFacts,
  table,
  withResources,
} from '../survey/index.ts';

/** Host endpoints as stored, and as the policies see them. */
function endpointsIn(facts: PreflightFacts, { apiGroup }: Profile) {
  return objectsOf(facts, 'hostendpoints').map((object) => ({ ...hostEndpointOf(object, apiGroup), object }));
}

function controllersSetting(facts: PreflightFacts, { controllersConfiguration: { plural, name } }: Profile, ...path: readonly string[]) {
  const settings = objectsOf(facts, plural).find((one) => one.metadata.name === name);
  return jsonAt(settings, 'spec', 'controllers', 'node', ...path);
}

export const hostEndpointChecks: readonly PreflightCheck[] = table({ category: 'follow-up', severity: 'warning' }, [
  {
    id: 'NS-704',
    title: 'host endpoints of one kind',
    ref: '§4.7/3',
    judge: withResources((_installation, facts, { profile }): Verdict => {
      const old = endpointsIn(facts, profile).filter((one) => isAllInterfaces(one) && !isLabelledOwn(one, profile.labels));
      const automatic = controllersSetting(facts, profile, 'hostEndpoint', 'autoCreate') === 'Enabled';
      if (old.length === 0) return ok(automatic ? 'host endpoints are automatic' : 'no old all-interfaces host endpoints');
      if (!automatic) {
        return ok(`${counted(old.length, 'old host endpoint')} ${old.length === 1 ? 'is' : 'are'} not migrated: only with --include hep`);
      }
      const evidence = old.map(({ object, node }) => evidenceOf(object, `node ${node}`));
      return failIfAny(evidence, '', (names) => ({
        because: `automatic host endpoints are enabled beside ${counted(old.length, 'old one')}: ${names}`,
        hint: 'Finish the migration: on one node the first endpoint by name wins, so its policies depend on the names.',
        next: command`kubectl netsvc-upgrade hep --dry-run=server`,
      }));
    }),
  },
  {
    id: 'NS-705',
    title: 'no hand-made host endpoint with the controllers’ label',
    severity: 'error',
    ref: 'hostendpoints §0.8',
    judge: withResources((_installation, facts, { profile }): Verdict => {
      const { createdBy, createdByValue } = profile.labels;
      const claimed = endpointsIn(facts, profile).filter((one) => isTakenForOwn(one, profile.labels));
      const evidence = claimed.map(({ object }) => evidenceOf(object));
      return failIfAny(evidence, 'no hand-made host endpoint carries the label of the controllers', (names) => ({
        because: `${counted(claimed.length, 'host endpoint')} not made by the controllers but labelled ${createdBy}=${createdByValue}: ${names}; the controllers delete ${claimed.length === 1 ? 'it' : 'them'} when they start`,
        hint: 'Remove the label before the upgrade restarts the controllers.',
        fix: repairCommand`kubectl label hostendpoints.${profile.crdGroup} ${claimed[0]?.name ?? ''} ${createdBy}-`,
        next: command`kubectl get hostendpoints.${profile.crdGroup} ${claimed[0]?.name ?? ''} --show-managed-fields -o yaml`,
      }));
    }),
  },
  {
    id: 'NS-708',
    title: 'no hand-made host endpoint under an automatic name',
    ref: 'hostendpoints §1.4',
    judge: withResources((_installation, facts, { profile }): Verdict => {
      const names = new Set(read(facts.nodes).map(({ metadata }) => automaticName(metadata.name, profile.labels)));
      const taken = endpointsIn(facts, profile).filter((one) => !isLabelledOwn(one, profile.labels) && names.has(one.name));
      const evidence = taken.map(({ object }) => evidenceOf(object));
      return failIfAny(evidence, 'no hand-made host endpoint has the name of an automatic one', (shown) => ({
        because: `${counted(taken.length, 'host endpoint')} with the name of an automatic one, but not made by the controllers: ${shown}. Once automatic ones are enabled, old controllers take over its content, and new ones create none for its node`,
        hint: 'Give it another name before automatic host endpoints are enabled.',
        next: command`kubectl netsvc-upgrade explain NS-708`,
      }));
    }),
  },
  {
    id: 'NS-709',
    title: 'controllers not stopped by their own settings',
    ref: 'hostendpoints §1.5',
    judge: withResources(({ datastore }, facts, { profile }): Verdict => {
      if (datastore !== 'api') return notApplicable('with a key-value datastore the setting is obeyed');
      const { plural, name } = profile.controllersConfiguration;
      if (String(controllersSetting(facts, profile, 'syncLabels')).toLowerCase() !== 'disabled')
        return ok('labels of nodes are synchronised');
      return failed(
        'syncLabels is Disabled: with the API datastore older controllers refuse their whole configuration for it, and do nothing at all',
        'Set it to Enabled: with this datastore it switches nothing off, and controllers of every release start with it.',
        {
          evidence: [{ text: `KubeControllersConfiguration/${name}` }],
          fix: repairCommand`kubectl patch ${plural}.${profile.crdGroup} ${name} --type=merge -p '{"spec":{"controllers":{"node":{"syncLabels":"Enabled"}}}}'`,
          next: command`kubectl get ${plural}.${profile.crdGroup} ${name} -o yaml`,
        },
      );
    }),
  },
]);
