import { type Command, command } from '../../kernel/argv.ts';
import { type CheckId, type Evidence, notApplicable, ok, read } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { text } from '../../kernel/step.ts';
import { storeIsOurs } from '../service-cli/index.ts';
import { failed, failIfAny, listed, showPoliciesByCli, table } from '../survey/index.ts';
import type { HepCheck, HepJudged, HostVerdict } from './facts.ts';
import { hepUndoChecks, judgeReleases } from './hep-verdicts.ts';

const IDLE = 'there is nothing to migrate';
const PREVIEW = command`kubectl netsvc-upgrade hep --dry-run=client -o wide`;
const SELECTORS = 'custom-columns=NAME:.metadata.name,ORDER:.spec.order,SELECTOR:.spec.selector';
const UNDO_PREVIEW = command`kubectl netsvc-upgrade hep --undo --dry-run=client -o wide`;

function hepCheck(id: CheckId, title: string, ref: string, severity: 'error' | 'warning', judge: HepCheck['judge']) {
  const unlessIdle: HepCheck['judge'] = (facts, context) => (facts.idle ? notApplicable(IDLE) : judge(facts, context));
  return { id, title, severity, ref, judge: unlessIdle };
}

/** What the user compares: which hosts each policy selects. */
function showPolicies({ cli }: HepJudged, context: Context): Command {
  if ('provedBy' in cli || 'doubt' in cli) return showPoliciesByCli(context);
  return command`kubectl get globalnetworkpolicies.${context.profile.crdGroup} -o ${SELECTORS}`;
}

/** A long detail stays unread until somebody shows it. */
function hostEvidence(host: HostVerdict): Evidence {
  return {
    text: host.node,
    ...(host.brief === undefined ? {} : { brief: host.brief }),
    get detail() {
      return host.detail;
    },
  };
}

/** The first is the example of how to write it. */
function acceptText(id: CheckId, what: string, first = ''): string {
  return `or accept ${what} by name: --accept ${id}=${first}`;
}

/**
 * One check per verdict, so that each is accepted by its own id, and for single nodes by name. `means`: what a host would get, and what it
 * has got where automatic endpoints are enabled already.
 */
function verdictCheck(
  id: CheckId,
  title: string,
  verdict: HostVerdict['verdict'],
  means: Readonly<Record<'soon' | 'now', string>>,
  fix: string,
) {
  return {
    id,
    title,
    ref: '§4.7',
    ofNodes: true as const,
    judge(facts: HepJudged, context: Context) {
      if (facts.idle && !facts.judgesEnd) return notApplicable(IDLE);
      const hit = read(facts.verdicts).filter((one) => one.verdict === verdict);
      const gone = hit.filter(({ removed }) => removed);
      const now = hit.filter(({ isNow }) => isNow === true);
      const what =
        now.length === hit.length ? means.now : `${means.soon}${now.length > 0 ? ` (${now.length} of them have it already)` : ''}`;
      const isBack = gone.length > 0 || now.length > 0;
      const hint = `${fix}, ${acceptText(id, hit.length === 1 ? 'the node' : 'the nodes', hit[0]?.node)}`;
      return failIfAny(hit.map(hostEvidence), `none of ${counted(facts.nodes, 'node')}`, (names) => ({
        because: `${counted(hit.length, 'host')} ${what}: ${names}${gone.length > 0 ? `; ${goneText(gone, hit)}` : ''}`,
        hint: isBack ? text`${hint}. Go back with: ${command`kubectl netsvc-upgrade hep --undo`}` : hint,
        next: gone.length > 0 ? UNDO_PREVIEW : showPolicies(facts, context),
      }));
    },
  };
}

/** What was evaluated as good and no longer is: a policy or the setting changed while endpoints were deleted. */
function goneText(gone: readonly HostVerdict[], hit: readonly HostVerdict[]): string {
  if (gone.length === hit.length) return 'the old endpoints are gone, and something else changed meanwhile';
  return `the old endpoints of ${listed(gone.map(({ node }) => node))} are gone, and something else changed meanwhile`;
}

function unclearText(shown: HepJudged['unclear']): string {
  const named = (isDoomed: boolean) => listed(shown.filter(({ fate }) => (fate === 'deleted') === isDoomed).map(({ name }) => name));
  const [doomed, others] = [named(true), named(false)];
  return [
    ...(doomed ? [`created by somebody but labelled as the controllers’ own, so the controllers delete them: ${doomed}`] : []),
    ...(others ? [`neither clearly old nor clearly automatic: ${others}; not changed`] : []),
  ].join('; ');
}

export const hepChecks: readonly HepCheck[] = table({ category: 'follow-up', severity: 'error' }, [
  hepCheck('NS-714', 'agents and controllers ready for automatic host endpoints', 'hostendpoints §0.3', 'error', judgeReleases),
  /** The undo needs it as much as the migration. */
  {
    id: 'NS-720',
    title: 'target release’s CLI usable for host endpoints',
    ref: '§4.7/2',
    judge({ cli, needsCli }, { profile }) {
      if (!needsCli) return notApplicable('there is nothing to do with it');
      if ('program' in cli) return ok(cli.program);
      if (cli.doubt) return notApplicable('see NS-725');
      return failed(
        `${profile.cli.program} of the target release cannot be used: ${cli.missing}`,
        'Install it and give it its datastore.',
        {
          next: command`kubectl netsvc-upgrade cli`,
        },
      );
    },
  },
  storeIsOurs,
  /** The undo needs the setting to act as much as the migration. */
  {
    id: 'NS-715',
    title: 'controllers can make host endpoints',
    ref: 'hostendpoints §1.5',
    judge({ obstacles, idle, gone }: HepJudged) {
      if (idle && !gone) return notApplicable(IDLE);
      const evidence = obstacles.map(({ text, detail }) => ({ text, detail }));
      return failIfAny(evidence, 'nothing keeps automatic endpoints from following the setting', (names) => ({
        because: `automatic endpoints would not follow the setting: ${names}`,
        hint: obstacles.map(({ hint }) => hint).join(' '),
        next: gone ? UNDO_PREVIEW : PREVIEW,
      }));
    },
  },
  hepCheck('NS-717', 'host endpoints clearly old or automatic', '§4.7/3', 'error', ({ unclear }) => {
    const blocking = unclear.filter(({ fate }) => fate !== 'stays');
    const shown = blocking.length > 0 ? blocking : unclear;
    const evidence = shown.map(({ name, detail }) => ({ text: name, detail }));
    return failIfAny(evidence, 'every host endpoint is either old or automatic', () => ({
      because: unclearText(shown),
      hint: 'Rename it, or take the controllers’ label off, so that label and name say the same.',
      next: PREVIEW,
      ...(blocking.length > 0 ? {} : { severity: 'warning' as const }),
    }));
  }),
  hepCheck('NS-718', 'host endpoints of nodes in the cluster', 'domain §8.3', 'warning', ({ elsewhere }) => {
    const evidence = elsewhere.map((text) => ({ text }));
    return failIfAny(evidence, 'every endpoint is of a node of this cluster', (names) => ({
      because: `${counted(elsewhere.length, 'host endpoint')} of hosts outside the cluster: ${names}; they stay, for no automatic one replaces them`,
      hint: 'Keep them for hosts that are not nodes. Delete those of nodes that no longer exist.',
      next: command`kubectl get nodes`,
    }));
  }),
  hepCheck('NS-716', 'host endpoint labels can be copied to nodes', '§4.7/1', 'error', ({ labelProblems }) => {
    const errors = labelProblems.filter(({ severity }) => severity === 'error');
    const shown = errors.length > 0 ? errors : labelProblems;
    const evidence = shown.map(({ node, text }) => ({ text: node, detail: text }));
    return failIfAny(evidence, 'every label of an old endpoint can be copied to its node', (names) => ({
      because: `${counted(shown.length, 'label')} of old host endpoints will not be copied: ${names}`,
      hint: 'Give the endpoint and the node the same value, or write selectors without the label. Labels of other managers are never overwritten.',
      next: command`kubectl get nodes ${shown[0]?.node ?? ''} --show-labels`,
      ...(errors.length > 0 ? {} : { severity: 'warning' as const }),
    }));
  }),
  hepCheck('NS-719', 'no named ports on old host endpoints', 'domain §8.3', 'warning', ({ namedPorts }) => {
    const evidence = namedPorts.map((text) => ({ text }));
    return failIfAny(evidence, 'no old endpoint names ports', (names) => ({
      because: `${counted(namedPorts.length, 'old endpoint')} with named ports, which automatic ones do not have: ${names}`,
      hint: 'Write the port’s number into policies that use its name.',
      next: PREVIEW,
    }));
  }),
  verdictCheck(
    'NS-711',
    'no host would be opened',
    'OPEN',
    {
      soon: 'would let all traffic through: no policy would apply, and automatic endpoints carry the allow-all profile',
      now: 'let all traffic through since automatic endpoints are enabled: no policy applies, and these carry the allow-all profile',
    },
    'Write global policies that select the labels of these nodes',
  ),
  verdictCheck(
    'NS-712',
    'no host would get its first policies',
    'NEWLY POLICED',
    {
      soon: 'would get policies, where none applies to them now',
      now: 'got policies with automatic endpoints, where none applied before',
    },
    'See that these policies allow what the hosts need (the failsafe ports stay open)',
  ),
  verdictCheck(
    'NS-713',
    'no host would get other policies',
    'CHANGED',
    { soon: 'would get other policies', now: 'got other policies with automatic endpoints' },
    'Compare what applies before and after, fix selectors or labels',
  ),
  /** Hosts have verdicts of their own; pods and endpoints that stay are said by policy, for there are thousands of them. */
  hepCheck('NS-736', 'rules select the same addresses of hosts', '§4.7', 'error', (facts, context) => {
    const changes = read(facts.ruleChanges);
    const what = changes.length === 1 ? 'the policy' : 'the policies';
    const evidence = changes.map(({ policy, brief, detail }) => ({ text: policy, detail, ...(brief === undefined ? {} : { brief }) }));
    return failIfAny(evidence, 'no address comes to a rule of another policy or goes', (names) => ({
      because: `rules of ${counted(changes.length, 'policy', 'policies')} would select other addresses of hosts: ${names}`,
      hint: `Give the nodes the labels that the rules select by, write the addresses that go into the rules (nets), ${acceptText('NS-736', what, changes[0]?.policy)}`,
      next: showPolicies(facts, context),
    }));
  }),
  ...hepUndoChecks,
]);
