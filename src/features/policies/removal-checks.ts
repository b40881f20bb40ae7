import { command } from '../../kernel/argv.ts';
import { type Check, type Evidence, notApplicable, type Reading, read } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { type JudgedCli, storeIsOurs } from '../service-cli/index.ts';
import { type Detail, failed, failIfAny, listed, PROGRAM, table } from '../survey/index.ts';

/** What the checks of `policy` look at. */
export interface RemovalJudged {
  /** Stored names of the temporary policy; empty if there is none. */
  readonly stored: readonly string[];
  /** Hosts on which all traffic of a way would be dropped without it. */
  readonly denied: Reading<readonly ({ readonly host: string } & Detail)[]>;
  /** Hosts on which other policies would decide alone. */
  readonly decided: RemovalJudged['denied'];
  /** Pods on which other policies would decide alone, by namespace. */
  readonly pods: Reading<readonly ({ readonly namespace: string; readonly pods: number } & Detail)[]>;
  /** Objects that garbage collection deletes with it. */
  readonly owned: Reading<{ readonly objects: readonly Evidence[]; readonly unread: readonly string[] }>;
  /** True if the user told to delete it, by name. */
  readonly told: boolean;
  /** The CLI, where it is needed: in key-value mode, and for the undo. */
  readonly cli: JudgedCli;
  readonly needsCli: boolean;
  /** The release that the cluster refuses any other CLI for: the installed one. */
  readonly release: string;
  readonly undo: boolean;
  /** What `--undo` would create by what another machine kept. */
  readonly fromElsewhere: readonly Evidence[];
}

type RemovalCheck = Check<RemovalJudged>;

const NONE = 'there is no temporary policy';

/** A policy decides what reaches every host, so one kept by another machine is read by the user first. */
export const policyKeptHere: RemovalCheck = {
  id: 'NS-017',
  title: 'former temporary policy kept by this machine',
  category: 'follow-up',
  severity: 'error',
  ref: '§4.4/7',
  judge({ undo, fromElsewhere }) {
    if (!undo) return notApplicable('nothing is created again');
    return failIfAny(fromElsewhere, 'what would be created was kept by this machine', (names) => ({
      because: `another machine kept ${counted(fromElsewhere.length, 'policy', 'policies')} that would be created: ${names}`,
      hint: 'Run the command on the machine that deleted it. Or read its content, then accept it by its name.',
      next: `${PROGRAM} policy --undo --dry-run=client -o wide`,
      byName: true,
      eachByName: true,
    }));
  },
};

export const removalChecks: readonly RemovalCheck[] = table({ category: 'follow-up', severity: 'error', ref: '§4.4/7' }, [
  {
    id: 'NS-723',
    title: 'CLI usable for the temporary policy',
    ref: '§4.5/6',
    judge({ cli, needsCli, release }, { options, profile }) {
      if (!needsCli) return notApplicable('the policy is stored in the API');
      if ('program' in cli) return { status: 'ok', detail: cli.program };
      if (cli.doubt) return notApplicable('see NS-725');
      const isTarget = release === options.release;
      return failed(
        `${profile.cli.program} of the installed release ${release} cannot be used: ${cli.missing}`,
        isTarget
          ? 'Install it and give it its datastore.'
          : `Before the upgrade the cluster takes that release alone: put ${profile.cli.program} ${release} on PATH and give it its datastore.`,
        { next: isTarget ? `${PROGRAM} cli` : `${profile.cli.program} version` },
      );
    },
  },
  storeIsOurs /** Deleting it must not cut a host off (§4.4/7). */,
  {
    id: 'NS-721',
    title: 'no host depends on the temporary policy alone',
    judge({ stored, denied, told, undo }, { profile }) {
      if (undo || stored.length === 0) return notApplicable(NONE);
      const hosts = read(denied);
      const evidence = hosts.map(({ host, ...texts }) => ({ text: host, ...texts }));
      return failIfAny(evidence, `no host depends on ${profile.temporaryPolicy} alone`, (names) => ({
        because: `${counted(hosts.length, 'host endpoint')} would have all traffic of a direction dropped without ${profile.temporaryPolicy}: ${names}`,
        hint: 'Review the traffic logs of this policy, and add the global policies that allow what these hosts need; the failsafe ports stay open.',
        ...(told ? {} : { severity: 'warning' as const }),
        next: `${PROGRAM} policy`,
      }));
    },
  },
  {
    id: 'NS-722',
    title: 'other policies decide without the temporary policy',
    severity: 'warning',
    judge({ stored, decided, pods, undo }, { profile }) {
      if (undo || stored.length === 0) return notApplicable(NONE);
      const hosts = read(decided);
      const spaces = read(pods);
      const places = [counted(hosts.length, 'host endpoint'), `pods of ${counted(spaces.length, 'namespace')}`];
      const evidence = [
        ...hosts.map(({ host, ...texts }) => ({ text: host, ...texts })),
        ...spaces.map(({ namespace, pods: count, detail, brief }) => ({
          text: `Namespace/${namespace}`,
          detail: `${counted(count, 'pod')}: ${detail}`,
          ...(brief === undefined ? {} : { brief: `${counted(count, 'pod')}: ${brief}` }),
        })),
      ];
      return failIfAny(evidence, 'no other policies decide afterwards', (names) => ({
        because: `on ${places.join(' and ')} only other policies would decide without ${profile.temporaryPolicy}: ${names}`,
        hint: 'Compare the traffic logs with what these policies allow.',
        next: `${PROGRAM} policy --dry-run=server`,
      }));
    },
  } /** What it owns goes with it, and comes back with no undo. */,
  {
    id: 'NS-726',
    title: 'nothing owned by the temporary policy',
    judge({ stored, owned, told, undo }, { profile }) {
      if (undo || stored.length === 0) return notApplicable(NONE);
      const { objects, unread } = read(owned);
      const name = profile.temporaryPolicy;
      if (objects.length === 0 && unread.length > 0)
        return failed(
          `not everything could be searched for objects that ${name} owns: ${listed(unread)}`,
          'Garbage collection deletes them with the policy. Let this account list these kinds.',
          { severity: 'warning', next: `${PROGRAM} ownerrefs list` },
        );
      return failIfAny(objects, `no object is owned by ${name}`, (names) => ({
        because: `${counted(objects.length, 'object')} owned by ${name}: garbage collection deletes ${objects.length === 1 ? 'it' : 'them'} with the policy: ${names}`,
        hint: 'Remove the policy from metadata.ownerReferences of the objects that you keep. --undo restores the policy, not these objects.',
        ...(told ? {} : { severity: 'warning' as const }),
        next: command`kubectl netsvc-upgrade ownerrefs list --owner=${`GlobalNetworkPolicy/${name}`}`,
      }));
    },
  },
  policyKeptHere,
]);
