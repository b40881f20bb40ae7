import { type Evidence, notApplicable, ok, read, type Verdict } from '../core/check.ts';
import type { Context } from '../core/context.ts';
import { groupOf, refText } from '../core/object.ts';
import { counted, failed, failIfAny, listed, preflightCheck, withInstallation } from './define.ts';
import type { Dependent } from './facts.ts';
import { crosses, sourceRelease } from './releases.ts';

const POLICY_KINDS = new Set(['NetworkPolicy', 'GlobalNetworkPolicy', 'StagedNetworkPolicy', 'StagedGlobalNetworkPolicy']);

interface UidChanges {
  /** Release that changes the UIDs of all v3 objects. */
  readonly all?: string;
  /** Release that stores policies anew. */
  readonly policies?: string;
}

/** What changes UIDs on the way from `source` to the target; the search for owner references is only needed then. */
export function uidChanges(source: string | undefined, { profile, options }: Context): UidChanges {
  const all = profile.uidChanges.find((release) => crosses(source, options.release, release));
  const since = profile.policyRenaming?.since;
  const policies = since !== undefined && !options.holdPolicyMigration && crosses(source, options.release, since) ? since : undefined;
  return { ...(all === undefined ? {} : { all }), ...(policies === undefined ? {} : { policies }) };
}

/** True if the upgrade gives the owner a new UID: any owner of the v3 group, or a policy of either group that is stored anew. */
function breaks({ owner }: Dependent, changes: UidChanges, { profile }: Context): boolean {
  const group = groupOf(owner.apiVersion);
  if (changes.all !== undefined && group === profile.apiGroup) return true;
  const served = group === profile.apiGroup || group === profile.crdGroup;
  return changes.policies !== undefined && served && POLICY_KINDS.has(owner.kind);
}

/** Owner references that name an object whose UID the upgrade changes (§4.8, §7; domain §7). */
export const ownerReferences = preflightCheck('NS-701', {
  category: 'follow-up',
  severity: 'error',
  ref: '§7/1',
  judge: withInstallation((installation, facts, context): Verdict => {
    const changes = uidChanges(sourceRelease(installation, facts, context), context);
    const at = changes.all ?? changes.policies;
    if (at === undefined) return notApplicable('no UID changes on this way');
    const scan = read(facts.owners);
    const broken = scan.dependents.filter((dependent) => breaks(dependent, changes, context));
    if (broken.length === 0 && scan.unread.length > 0) return incomplete(scan.unread);
    if (broken.length === 0) return ok(`no object of ${counted(scan.kinds, 'kind')} is owned by what changes its UID at ${at}`);
    const owners = [...new Set(broken.map(({ owner }) => `${owner.kind}/${owner.name}`))];
    const unread = scan.unread.length > 0 ? ` (${counted(scan.unread.length, 'kind')} could not be searched)` : '';
    return failIfAny(broken.map(dependentEvidence), '', () => ({
      because: `${counted(broken.length, 'object')}${namespacesOf(broken)} owned by ${listed(owners)}, whose UID changes at ${at}: garbage collection would delete them${unread}`,
      hint: 'Save these objects, take the named entry out of metadata.ownerReferences by hand, and add it again with the owner’s new UID when the upgrade is over; stop a controller that would put it back.',
      next: removalCommand(broken[0]),
    }));
  }),
});

function incomplete(unread: readonly { readonly kind: string; readonly because: string }[]): Verdict {
  return failed(
    `owner references of ${counted(unread.length, 'kind')} could not be searched: ${listed(unread.map(({ kind }) => kind))}`,
    'Let this account list them, or repair the API behind them; accept them by name if nothing there can be owned by the service.',
    { evidence: unread.map(({ kind, because }) => ({ text: kind, detail: because })) },
  );
}

function namespacesOf(dependents: readonly Dependent[]): string {
  const namespaces = new Set(dependents.flatMap(({ object }) => (object.namespace === undefined ? [] : [object.namespace])));
  return namespaces.size === 0 ? '' : ` in ${counted(namespaces.size, 'namespace')}`;
}

function dependentEvidence({ object, owner }: Dependent): Evidence {
  return { text: refText(object), object, detail: `owner ${owner.apiVersion} ${owner.kind}/${owner.name}` };
}

function removalCommand(dependent: Dependent | undefined): string {
  if (!dependent) return '';
  const { kind, name, namespace } = dependent.object;
  return `kubectl get ${kind.toLowerCase()} ${name}${namespace ? ` -n ${namespace}` : ''} -o yaml`;
}
