import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { jsonAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { storedMetadata } from '../../kube/stored-metadata.ts';
import { evidenceOf, failed, failIfAny, objectsOf, PROGRAM, type PreflightCheck, specOf, table, withResources } from '../survey/index.ts';

function isAutomatic(endpoint: KubeObject, profile: Profile): boolean {
  const { createdBy, createdByValue } = profile.labels;
  return storedMetadata(endpoint, profile.apiGroup).labels[createdBy] === createdByValue;
}

/** All-interfaces endpoints that no controller made (§4.7/3). */
export function oldHostEndpoints(endpoints: readonly KubeObject[], profile: Profile): readonly KubeObject[] {
  return endpoints.filter((endpoint) => specOf(endpoint).interfaceName === '*' && !isAutomatic(endpoint, profile));
}

export const hostEndpointChecks: readonly PreflightCheck[] = table({ category: 'follow-up', severity: 'warning' }, [
  {
    id: 'NS-704',
    title: 'host endpoints of one kind',
    ref: '§4.7/3',
    judge: withResources((_installation, facts, { profile }): Verdict => {
      const old = oldHostEndpoints(objectsOf(facts, 'hostendpoints'), profile);
      const { plural, name } = profile.controllersConfiguration;
      const settings = objectsOf(facts, plural).find((one) => one.metadata.name === name);
      const automatic = jsonAt(settings, 'spec', 'controllers', 'node', 'hostEndpoint', 'autoCreate') === 'Enabled';
      if (old.length === 0) return ok(automatic ? 'host endpoints are automatic' : 'no old all-interfaces host endpoints');
      if (!automatic) {
        return ok(
          `${counted(old.length, 'old host endpoint')} ${old.length === 1 ? 'is' : 'are'} not migrated; to do that: ${PROGRAM} run --include hep`,
        );
      }
      const evidence = old.map((endpoint) => evidenceOf(endpoint, `node ${String(specOf(endpoint).node ?? '')}`));
      return failIfAny(evidence, '', (names) => ({
        because: `automatic host endpoints are enabled beside ${counted(old.length, 'old one')}: ${names}`,
        hint: 'Finish the migration: on one node the first endpoint by name wins, so its policies depend on the names.',
        next: `${PROGRAM} hep --dry-run=server`,
      }));
    }),
  },
  {
    id: 'NS-705',
    title: 'no hand-made host endpoint with the controllers’ label',
    severity: 'error',
    ref: 'hostendpoints §0.8',
    judge: withResources((_installation, facts, { profile }): Verdict => {
      const { createdBy, createdByValue, autoHepSuffix } = profile.labels;
      const claimed = objectsOf(facts, 'hostendpoints').filter(
        (endpoint) => isAutomatic(endpoint, profile) && !endpoint.metadata.name.endsWith(autoHepSuffix),
      );
      const evidence = claimed.map((endpoint) => evidenceOf(endpoint));
      return failIfAny(evidence, 'no hand-made host endpoint carries the label of the controllers', (names) => ({
        because: `${counted(claimed.length, 'host endpoint')} not made by the controllers but labelled ${createdBy}=${createdByValue}: ${names}; the controllers delete ${claimed.length === 1 ? 'it' : 'them'} when they start`,
        hint: 'Remove the label before the upgrade restarts the controllers.',
        next: command`kubectl label hostendpoints.${profile.crdGroup} ${claimed[0]?.metadata.name ?? ''} ${createdBy}-`,
      }));
    }),
  },
  {
    id: 'NS-708',
    title: 'no hand-made host endpoint under an automatic name',
    ref: 'hostendpoints §1.4',
    judge: withResources((_installation, facts, { profile }): Verdict => {
      const nodes = new Set(read(facts.nodes).map(({ metadata }) => metadata.name));
      const suffix = profile.labels.autoHepSuffix;
      const taken = objectsOf(facts, 'hostendpoints').filter(
        (endpoint) =>
          !isAutomatic(endpoint, profile) &&
          endpoint.metadata.name.endsWith(suffix) &&
          nodes.has(endpoint.metadata.name.slice(0, -suffix.length)),
      );
      const evidence = taken.map((endpoint) => evidenceOf(endpoint));
      return failIfAny(evidence, 'no hand-made host endpoint has the name of an automatic one', (names) => ({
        because: `${counted(taken.length, 'host endpoint')} with the name of an automatic one, but not made by the controllers: ${names}. Once automatic ones are enabled, old controllers take over its content, and new ones create none for its node`,
        hint: 'Give it another name before automatic host endpoints are enabled.',
        next: `${PROGRAM} explain NS-708`,
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
      const settings = objectsOf(facts, plural).find((one) => one.metadata.name === name);
      const value = jsonAt(settings, 'spec', 'controllers', 'node', 'syncLabels');
      if (String(value).toLowerCase() !== 'disabled') return ok('labels of nodes are synchronised');
      return failed(
        'syncLabels is Disabled: with the API datastore older controllers refuse their whole configuration for it, and do nothing at all',
        'Set it to Enabled: with this datastore it switches nothing off, and controllers of every release start with it.',
        {
          evidence: [{ text: `KubeControllersConfiguration/${name}` }],
          next: command`kubectl patch ${plural}.${profile.crdGroup} ${name} --type=merge -p '{"spec":{"controllers":{"node":{"syncLabels":"Enabled"}}}}'`,
        },
      );
    }),
  },
]);
