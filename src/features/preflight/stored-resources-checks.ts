import { type Command, command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, read, type Verdict } from '../../kernel/check.ts';
import { type RepairCommand, repairCommand } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import { textAt } from '../../kernel/json.ts';
import { type KubeObject, refText } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { isOlder } from '../../kernel/release.ts';
import { judgeBySchema, prunedFields, type Schema, type TargetCrd, targetCrds } from '../install-manifest/index.ts';
import {
  evidenceOf,
  failed,
  failIfAny,
  listed,
  type PreflightCheck,
  type PreflightFacts,
  table,
  withInstallation,
  withResources,
  withTarget,
} from '../survey/index.ts';

function lookAt(object: KubeObject, schema: Schema) {
  const { apiVersion: _a, kind: _k, status: _s, ...judged } = object;
  const { violations, unjudged } = judgeBySchema(judged, schema);
  const found = violations.filter(({ path }) => path !== 'status');
  const [first] = found;
  const more = found.length > 1 ? `; ${found.length - 1} more` : '';
  // One line per object: the first fault, and how many more.
  const faults = first ? [evidenceOf(object, `${first.path === '' ? '' : `${first.path} `}${first.because}${more}`)] : [];
  // And what the CRD asks of this object and only the server can evaluate.
  return { faults, unjudged: unjudged.map(({ because }) => because) };
}

export const storedResourcesChecks: readonly PreflightCheck[] = table({ category: 'resources', severity: 'error' }, [
  {
    id: 'NS-501',
    title: 'stored resources valid for the target',
    ref: 'domain §4.6',
    judge: withResources((_installation, facts, context) => judgeStored(facts, context)),
  },
  {
    id: 'NS-512',
    title: 'stored settings known to the target',
    severity: 'warning',
    ref: 'domain §4.6',
    judge: withResources((_installation, facts, context) => judgeLost(facts, context)),
  },
  {
    id: 'NS-502',
    title: 'no resources of removed kinds',
    ref: 'domain §12/26',
    judge: withInstallation((_installation, facts, { profile, goal }): Verdict => {
      const gone = profile.removedKinds.filter(({ since }) => !isOlder(goal.release, since));
      if (gone.length === 0) return notApplicable(`no kind is removed on the way to ${goal.release}`);
      const lists = read(facts.resources).filter(({ kind }) =>
        gone.some(({ plural, group }) => plural === kind.plural && group === kind.group),
      );
      const left = lists.flatMap((list) => read(list.objects));
      const removed = gone.filter(({ kind }) => left.some((object) => object.kind === kind));
      const evidence = left.map((object) => evidenceOf(object));
      return failIfAny(evidence, 'no resource of a removed kind', (names) => ({
        because: `${counted(left.length, 'object')} of a kind that ${goal.release} does not enforce any more: ${names}`,
        hint: removed.map(({ kind, replacement }) => `Rewrite ${kind} as ${replacement}, test it, then delete the old object.`).join(' '),
        next: command`kubectl get ${removed.map(({ plural, group }) => `${plural}.${group}`).join(',')}`,
      }));
    }),
  },
  {
    id: 'NS-504',
    title: 'stored versions of CRDs served by the target',
    ref: 'domain §4.2',
    isNeverWaived: true,
    judge: withTarget(({ documents }, _installation, facts) => {
      const crds = new Map(targetCrds(documents).map((crd) => [crd.name, crd]));
      const stale = read(facts.crds).flatMap(({ name, storedVersions = [] }) => staleEvidence(name, storedVersions, crds.get(name)));
      return failIfAny(stale, 'the target serves every stored version', (names) => ({
        because: `${counted(stale.length, 'CRD')} with objects stored in a version that the target dropped: ${names}`,
        hint: 'Rewrite the objects in a version that the target serves, then take the old one out of status.storedVersions.',
        next: command`kubectl get crd ${stale[0]?.object?.name ?? ''} -o jsonpath={.status.storedVersions}`,
      }));
    }),
  },
]);

interface Stored {
  readonly crd: TargetCrd;
  readonly schema: Schema;
  readonly objects: readonly KubeObject[];
}

/** What is stored, with the target's schema of its kind. What belongs to an operator was read for other checks. */
function storedBySchema(crds: readonly TargetCrd[], facts: PreflightFacts, { operatorGroup }: Profile): readonly Stored[] {
  const lists = read(facts.resources).map(({ kind, objects }) => ({ ...kind, objects: read(objects) }));
  const { installation, gateways, imageSets, components } = facts.operated ?? {};
  const own = [installation && read(installation), ...[gateways, imageSets, components].flatMap((some) => (some ? read(some) : []))];
  const byKind = Map.groupBy(
    own.filter((one) => one !== undefined),
    ({ kind }) => kind,
  );
  const operators = [...byKind].map(([kind, objects]) => ({ group: operatorGroup, kind, version: '', objects }));
  return [...lists, ...operators].flatMap(({ group, kind, version, objects }) => {
    const crd = crds.find((one) => one.kind === kind && one.group === group);
    const schema = crd?.schemas[version] ?? crd?.schemas[crd.served[0] ?? ''];
    return crd && schema ? [{ crd, schema, objects }] : [];
  });
}

/** Settings of the user's that the new CRDs do not have: gone as soon as they are installed, without a refusal. */
const judgeLost = withTarget(({ documents }, _installation, facts, { profile, goal }): Verdict => {
  const crds = targetCrds(documents);
  if (crds.length === 0) return notApplicable('the target manifest holds no CRDs');
  const { kinds } = profile.cli;
  const { unset = [] } = profile.operator.crossings ?? {};
  const users = kinds && [...kinds.cluster, ...kinds.namespaced];
  const lost = storedBySchema(crds, facts, profile)
    .filter(({ crd: { group, plural } }) => group !== profile.crdGroup || !users || users.includes(plural))
    .flatMap(({ schema, objects }) =>
      objects.flatMap((object) => {
        const pruned = schema.properties?.spec ? prunedFields(object.spec, schema.properties.spec, 'spec') : [];
        const fields = pruned.filter(
          (field) => !unset.some((one) => one.field === field && textAt(object, ...field.split('.')) === one.value),
        );
        return fields.length === 0 ? [] : [evidenceOf(object, listed(fields))];
      }),
    );
  return failIfAny(lost, `the CRDs of ${goal.release} have every setting that is stored`, (names) => ({
    because: `the CRDs of ${goal.release} do not have settings of ${counted(lost.length, 'object')}, and the server drops them: ${names}`,
    hint: 'Note their values. See in the release notes what does it now, and set that after the upgrade.',
    next: edited(lost[0]).next,
  }));
});

const judgeStored = withTarget(({ documents }, _installation, facts, { goal, profile }): Verdict => {
  const crds = targetCrds(documents);
  if (crds.length === 0) return notApplicable('the target manifest holds no CRDs');
  const lists = storedBySchema(crds, facts, profile).map(({ crd, schema, objects }) => ({
    crd,
    looked: objects.map((object) => lookAt(object, schema)),
  }));
  const faults = lists.flatMap(({ looked }) => looked.flatMap((one) => one.faults));
  const unjudged = lists.flatMap(({ crd, looked }) => unjudgedEvidence(crd, looked));
  if (faults.length === 0 && unjudged.length > 0) return notJudged(unjudged, goal.release);
  const beside = unjudged.length === 0 ? '' : ` Not checked here: ${listed(unjudged.map(({ text, detail }) => `${text}: ${detail}`))}.`;
  return failIfAny(faults, `every stored resource satisfies the CRDs of ${goal.release}`, (names) => ({
    because: `${counted(faults.length, 'stored resource')} would be refused by the CRDs of ${goal.release} at the next write: ${names}`,
    hint: `Correct the values before the upgrade, while the old CRDs still accept the change.${beside}`,
    ...edited(faults[0]),
  }));
});

/** One line per CRD: what of it could not be evaluated, for how many objects. Quiet where no object has what is asked about. */
function unjudgedEvidence({ name }: TargetCrd, looked: readonly ReturnType<typeof lookAt>[]): readonly Evidence[] {
  const objects = looked.filter(({ unjudged }) => unjudged.length > 0);
  if (objects.length === 0) return [];
  const asked = [...new Set(objects.flatMap(({ unjudged }) => unjudged))];
  return [crdEvidence(name, `of ${counted(objects.length, 'object')}: ${asked.join('; ')}`)];
}

function crdEvidence(name: string, detail: string): Evidence {
  const object = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name };
  return { text: refText(object), object, detail };
}

/** No pass, and no fault either: nobody has said that the objects are wrong. */
function notJudged(unjudged: readonly Evidence[], release: string): Verdict {
  const resource = unjudged[0]?.object?.name ?? '';
  return failed(
    `stored resources that could not be checked against every rule of the CRDs of ${release}: ${listed(unjudged.map(({ text }) => text))}`,
    'Check whether the objects satisfy it. Once the new CRDs are installed, a server-side dry run tells.',
    {
      severity: 'warning',
      evidence: unjudged,
      next: command`kubectl get ${resource} -A -o yaml | kubectl replace --dry-run=server -f -`,
    },
  );
}

function edited(fault: Evidence | undefined): { readonly fix: RepairCommand; readonly next: Command } {
  const { kind = '', name = '', namespace } = fault?.object ?? {};
  const object = [kind.toLowerCase(), name, ...(namespace ? ['-n', namespace] : [])];
  return { fix: repairCommand`kubectl edit ${object}`, next: command`kubectl get ${object} -o yaml` };
}

function staleEvidence(name: string, stored: readonly string[], crd: TargetCrd | undefined): readonly Evidence[] {
  const gone = crd ? stored.filter((version) => !crd.served.includes(version)) : [];
  return gone.length === 0 ? [] : [crdEvidence(name, `stored in ${gone.join(', ')}`)];
}
