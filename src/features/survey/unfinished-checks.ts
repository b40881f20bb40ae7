import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, type Verdict } from '../../kernel/check.ts';
import { repairCommand } from '../../kernel/command.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { Installation, Unfinished } from '../../kernel/installation.ts';
import { crdName, refText } from '../../kernel/object.ts';
import type { Profile } from '../../kernel/profile.ts';
import { isOlder, parseRelease } from '../../kernel/release.ts';
import type { PreflightFacts } from './facts.ts';
import { type RefusedSetting, refusedSettings } from './refusals.ts';
import { sourceRelease } from './source-release.ts';
import { evidenceOf, failIfAny, judgedTwice, listed } from './verdicts.ts';

/** Of several, the hints of all are told, each once; the command is of the first. */
export function unfinishedVerdict(
  found: readonly Unfinished[],
  passed: string,
  because: (names: string) => string,
  more: { readonly final?: true; readonly eachByName?: true },
): Verdict {
  const [first] = found;
  if (!first) return ok(passed);
  const evidence = found.map(({ ref, detail }): Evidence => ({ text: refText(ref), object: ref, detail }));
  const names = listed(found.map(({ ref, detail }) => `${refText(ref)}: ${detail}`));
  const hint = [...new Set(found.map((one) => one.hint))].join('\n');
  return { status: 'failed', because: because(names), hint, evidence, next: first.next, ...more };
}

/** A deletion that is under way ends sooner or later, and mostly by what the upgrade installs (domain §12/40). */
export function judgeDeletions(found: readonly Unfinished[]): Verdict {
  return unfinishedVerdict(found, 'nothing of the service is being deleted', (names) => `a deletion is under way. ${names}`, {
    final: true,
  });
}

export const beingDeleted = judgedTwice({
  id: 'NS-114',
  title: 'nothing of the service being deleted',
  category: 'installation',
  severity: 'error',
  isNeverWaived: true,
  ref: 'domain §12/40',
  judge: ({ deletions }) => judgeDeletions(deletions),
});

export function judgeUnfinished(found: readonly Unfinished[], { procedures: names }: Pick<Profile, 'procedures'>): Verdict {
  if (found.length === 0 && !names) return notApplicable('the profile knows no procedures of the service');
  const because = (names: string) => `${counted(found.length, 'procedure')} of the service left unfinished. ${names}`;
  return unfinishedVerdict(found, 'no procedure of the service is left unfinished', because, { eachByName: true });
}

export const procedures = judgedTwice({
  id: 'NS-115',
  title: 'no procedure left unfinished',
  category: 'installation',
  severity: 'error',
  ref: 'domain §12/39',
  judge: ({ unfinished }, _facts, { profile }) => judgeUnfinished(unfinished, profile),
});

/** An operator that refuses its Installation renders nothing: the upgrade would change the operator and no agent (domain §11.3). */
export const refusedByTarget = judgedTwice({
  id: 'NS-623',
  title: 'settings of the Installation taken by the target',
  category: 'resources',
  severity: 'error',
  isNeverWaived: true,
  ref: 'domain §11.3',
  judge(installation, facts, context) {
    const { input } = installation;
    const { crossings, installationKind } = context.profile.operator;
    if (!crossings) return notApplicable('the profile knows no names of the operator’s settings');
    if (!input) return notApplicable('no operator runs the service here');
    const { release } = context.goal;
    const refused = refusedSettings(input, crossings, release);
    const { metadata } = input.resource;
    const evidence = refused.map((one) => evidenceOf(input.resource, one.says));
    return failIfAny(evidence, `the operator of ${release} takes the settings of the Installation`, () => ({
      because: `the operator of ${release} refuses the Installation: ${listed(refused.map(({ says }) => `“${says}”`))}. ${whoRefuses(refused, installation, facts, context)}`,
      hint: 'Change these settings under the installed operator before the upgrade, and wait until it has rolled them out: some restart the agents. An operator that refuses its Installation upgrades nothing.',
      fix: repairCommand`kubectl edit ${crdName(installationKind)} ${metadata.name}`,
      next: command`kubectl get ${crdName(installationKind)} ${metadata.name} -o yaml`,
      final: true,
    }));
  },
});

/** Whether the installed operator says the same is of use to whoever looks for the cause. */
function whoRefuses(
  refused: readonly RefusedSetting[],
  installation: Installation,
  facts: Pick<PreflightFacts, 'record'>,
  context: Context,
): string {
  const source = sourceRelease(installation, facts, context);
  if (source === undefined || !parseRelease(source)) return 'Whether the installed operator takes it is not known, for its release is not';
  const fresh = refused.filter(({ since }) => isOlder(source, since)).map(({ since }) => since);
  if (fresh.length === 0) return 'The installed operator refuses it, too';
  const since = `Operators refuse it from ${listed([...new Set(fresh)])} on`;
  return fresh.length === refused.length
    ? `${since}; the installed one (${source}) takes it`
    : `${since}; the installed one (${source}) refuses the rest, too`;
}
