import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { type RepairCommand, repairCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { jsonAt, textAt } from '../../kernel/json.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { crosses } from '../../kernel/release.ts';
import { hasOwnCni } from '../ipam/index.ts';
import { evidenceOf, failIfAny, objectsOf, type PreflightCheck, sourceRelease, specOf, table } from '../survey/index.ts';
import { type Operated, withOperated } from './crossings-checks.ts';
import { type Fate, familyOf, type PoolDrift, poolDrift } from './pool-drift.ts';

const FELIX = 'felixconfigurations';

/** The Installation against what it stands for in the cluster: what the operator compares, and then changes, deletes or refuses. */
export const driftChecks: readonly PreflightCheck[] = table({ category: 'resources', severity: 'error', ref: 'domain §12/21' }, [
  {
    id: 'NS-624',
    title: 'address pools as the Installation lists them',
    judge: withOperated((given): Verdict => {
      const { names, operated, facts, context } = given;
      const { profile } = context;
      const installation = read(operated.installation);
      if (!installation) return notApplicable('there is no Installation');
      const live = objectsOf(facts, names.pools.plural);
      const beginsToCreate = crosses(sourceRelease(given.installation, facts, context), context.goal.release, names.pools.familiesSince);
      const drifts = poolDrift({
        installation,
        names: names.pools,
        live,
        hasApi: hasApi(given),
        beginsToCreate,
        apiGroup: profile.apiGroup,
      });
      const harmful = [...drifts.filter(({ fate }) => !HARMLESS.has(fate)).map(({ evidence }) => evidence), ...addressing(given, live)];
      const evidence = [...harmful, ...drifts.filter(({ fate }) => HARMLESS.has(fate)).map((one) => one.evidence)];
      const passed = Array.isArray(jsonAt(specOf(installation), ...names.pools.field))
        ? 'the address pools are as the Installation lists them'
        : 'the Installation has no list of address pools: the operator changes none of yours';
      return failIfAny(evidence, passed, (all) => ({
        because: `${counted(evidence.length, 'difference')} between the address pools and the list of the Installation: ${all}`,
        hint: hintFor(drifts, names.pools.field.join('.')),
        severity: harmful.length > 0 ? 'error' : 'warning',
        ...patchFor(drifts, installation, context),
        next: command`kubectl get ${names.pools.plural}.${profile.crdGroup} -o yaml`,
      }));
    }),
  },
  /** The operator refuses to overwrite a setting of the agents that somebody else has written (domain §11.3). */
  {
    id: 'NS-634',
    title: 'data plane as the Installation says',
    ref: 'domain §11.3',
    judge: withOperated(({ names: { dataPlane }, operated, facts, context }): Verdict => {
      const installation = read(operated.installation);
      if (!installation) return notApplicable('there is no Installation');
      const { field, otherwise, bpf } = dataPlane;
      const set = String(jsonAt(specOf(installation), ...field) ?? otherwise);
      const agents = objectsOf(facts, FELIX).find(({ metadata }) => metadata.name === 'default');
      const [live, noted] = [jsonAt(specOf(agents), bpf.field), agents?.metadata.annotations?.[bpf.annotation] || undefined];
      const wanted = set === bpf.value;
      const leaves = wanted ? live === true : live === false;
      if (!agents || leaves || noted === (live === undefined ? undefined : String(live)))
        return ok(`spec.${field.join('.')} of the Installation is ${set}, and the operator can set ${bpf.field} by it`);
      const differs = `${bpf.field} is ${String(live ?? 'not set')}, and spec.${field.join('.')} of the Installation is ${set}`;
      return failIfAny([evidenceOf(agents, differs)], '', (name) => ({
        because: `${differs}. The operator did not write the one in ${name} and refuses to change it: its status stays degraded, and the upgrade does not end`,
        hint: `Set both to the data plane that is in use, before the upgrade: the command below does. On the chart path set spec.${field.join('.')} in the values of the chart too.`,
        fix:
          live === true
            ? planeOf(read(operated.dataPlane) ?? installation, field, bpf.value, context)
            : agentsTo(bpf.field, wanted, context),
        next: command`kubectl get ${FELIX}.${context.profile.crdGroup} default --show-managed-fields -o yaml`,
      }));
    }),
  },
]);

const HARMLESS: ReadonlySet<Fate> = new Set(['kept', 'created']);

function hasApi({ installation, operated, context }: Operated): boolean {
  const kind = context.profile.operator.end?.api.kind;
  return installation.hasApiServer || (kind !== undefined && read(operated.components).some((one) => one.kind === kind));
}

/** Without an enabled pool the operator renders nothing. With some, it tells the agents from them which addresses pods get. */
function addressing(
  { names: { pools }, operated, installation: found, facts, context }: Operated,
  live: readonly KubeObject[],
): readonly Evidence[] {
  const installation = read(operated.installation);
  if (!installation || !hasOwnCni(installation) || live.length === 0) return [];
  const enabled = live.filter((pool) => specOf(pool).disabled !== true);
  if (enabled.length === 0)
    return live.map((pool) => evidenceOf(pool, 'is disabled, as all are: the operator waits for an enabled pool, and upgrades nothing'));
  const listed = jsonAt(specOf(installation), ...pools.field);
  const ipam = textAt(specOf(installation).cni, 'ipam', 'type') ?? 'Calico';
  const moved = crosses(sourceRelease(found, facts, context), context.goal.release, pools.familiesSince);
  if (!moved || ipam !== 'Calico' || !Array.isArray(listed) || listed.length === 0) return [];
  return ['IPv4', 'IPv6'].flatMap((family) => {
    const [first] = enabled.filter((pool) => familyOf(specOf(pool)) === family);
    const isListed = listed.some((entry) => familyOf(entry) === family);
    if (first && !isListed)
      return [
        evidenceOf(
          first,
          `no ${family} pool is in the list of the Installation: from ${pools.familiesSince} on new pods get an ${family} address too`,
        ),
      ];
    if (first || !isListed) return [];
    return [
      evidenceOf(
        installation,
        `lists an ${family} pool, and none is enabled in the cluster: from ${pools.familiesSince} on new pods get no ${family} address`,
      ),
    ];
  });
}

function hintFor(drifts: readonly PoolDrift[], field: string): string {
  const fates = new Set(drifts.map(({ fate }) => fate));
  const kept = fates.has('kept') ? ' A pool without the label keeps its settings, and the Installation does not say what they are.' : '';
  if (fates.size === 1 && fates.has('unwritable'))
    return 'Write these fields of the pool as the operator does, before the upgrade. Or create APIServer/default: then the operator does it.';
  return `Give spec.${field} of the Installation the values of the pools in use, before the upgrade. On the chart path set them in the values of the chart too. Fields that the installed CRD does not have can follow after the upgrade.${kept}`;
}

/** All values in one patch: the Installation says then what the pools are. */
function patchFor(drifts: readonly PoolDrift[], installation: KubeObject, context: Context): { readonly fix?: RepairCommand } {
  const all = drifts.flatMap((drift) => drift.patch);
  // What is removed moves what comes after it.
  const patch = [...all.filter(({ op }) => op === 'add'), ...all.filter(({ op }) => op === 'remove').reverse()];
  return patch.length === 0 ? {} : { fix: patchOf(installation, '--type=json', patch, context) };
}

function planeOf(installation: KubeObject, field: readonly string[], value: string, context: Context): RepairCommand {
  const spec = field.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return patchOf(installation, '--type=merge', { spec }, context);
}

function patchOf(installation: KubeObject, type: string, patch: unknown, { profile }: Context): RepairCommand {
  const { installationKind } = profile.operator;
  const resource = `${installationKind.plural}.${profile.operatorGroup}`;
  return repairCommand`kubectl patch ${resource} ${installation.metadata.name} ${type} -p ${JSON.stringify(patch)}`;
}

function agentsTo(field: string, value: boolean, { profile }: Context): RepairCommand {
  return repairCommand`kubectl patch ${FELIX}.${profile.crdGroup} default --type=merge -p ${JSON.stringify({ spec: { [field]: value } })}`;
}
