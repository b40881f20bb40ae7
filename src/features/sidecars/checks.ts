import { command } from '../../kernel/argv.ts';
import { type Check, type Evidence, notApplicable, ok, type Reading, read, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import { failed, failIfAny, listed, table } from '../survey/index.ts';

/** Injectors by what the pods that come next mount the policy socket with; `detail` says which template it is. */
export interface TemplateMounts {
  readonly csi: readonly Evidence[];
  /** By the flexible volume driver, where the target no longer has it. */
  readonly flexible: readonly Evidence[];
}

interface Mounting {
  readonly mounts: Reading<TemplateMounts>;
}

/** What the checks of `alp` look at. */
export interface AlpJudged extends Mounting {
  /** Injectors without a template of the target: name, and why. */
  readonly untemplated: Reading<readonly { readonly text: string; readonly detail: string }[]>;
  /** Injectors whose edits cannot be carried. */
  readonly conflicts: readonly { readonly text: string; readonly detail: string }[];
  /** Template files that the target has, where its source can list them. */
  readonly available: readonly string[];
  /** Stale workloads that `kubectl rollout restart` cannot restart now. */
  readonly obstacles: Reading<readonly { readonly text: string; readonly detail: string }[]>;
  /** The CSI driver: undefined if it is not installed; else the nodes that want it, and those on which it is ready. */
  /** `untold`: it is there, and how far it is cannot be told. */
  readonly csi: Reading<{ readonly wanted: number; readonly ready: number } | 'untold' | undefined>;
  readonly inUse: boolean;
}

/** What those of its undo look at. */
export interface UndoJudged extends Mounting {
  /** How many injectors get their former template back. */
  readonly restored: Reading<number>;
  /** Injectors in which something was changed since that would be overwritten. */
  readonly changedSince: Reading<readonly Evidence[]>;
}

const UNUSED = 'application layer policy is not in use';

function flexibleVolumeGone(injectors: readonly Evidence[], release: string, hint: string): Verdict {
  const because = `new pods would mount by the flexible volume driver, which ${release} does not have, and could not start: ${listed(injectors.map(({ text }) => text))}`;
  return failed(because, hint, { next: command`kubectl netsvc-upgrade explain NS-733`, evidence: injectors });
}

const NOTHING_RESTORED = 'no injector gets its former template back';

/** A meshed pod that is restarted without the driver does not start again (domain §9). */
const DRIVER = { id: 'NS-733', title: 'CSI driver runs before meshed pods are restarted', ref: 'domain §9' } as const;

export const alpChecks: readonly Check<AlpJudged>[] = table({ category: 'follow-up', severity: 'error', ref: '§4.6/1' }, [
  {
    id: 'NS-731',
    title: 'sidecar template for the installed mesh',
    judge({ untemplated, available, inUse }) {
      if (!inUse) return notApplicable(UNUSED);
      const without = read(untemplated);
      const list = available.length > 0 ? ` There are: ${available.join(', ')}.` : '';
      return failIfAny(without, 'the target has a template for every injector', (names) => ({
        because: `no sidecar template of the target serves ${names}: ${without.map(({ detail }) => detail).join('; ')}`,
        hint: `Give a template of your own with --template FILE.${list}`,
        next: command`kubectl netsvc-upgrade explain NS-731`,
      }));
    },
  },
  {
    id: 'NS-732',
    title: 'changes of the injector carried',
    judge({ conflicts, inUse }) {
      if (!inUse) return notApplicable(UNUSED);
      return failIfAny(conflicts, 'your changes of the injectors are carried', (names) => ({
        because: `changes of the injector cannot be carried into the new template: ${names}`,
        hint: 'Make them in a copy of the target’s template and give it with --template FILE.',
        next: command`kubectl netsvc-upgrade alp --dry-run=client -o wide`,
        exit: 'conflicts',
      }));
    },
  },
  {
    ...DRIVER,
    judge({ mounts, csi, inUse }, { goal }) {
      if (!inUse) return notApplicable(UNUSED);
      const by = read(mounts);
      if (by.flexible.length > 0)
        return flexibleVolumeGone(by.flexible, goal.release, 'Give a template that mounts by the CSI driver with --template FILE.');
      if (by.csi.length === 0) return notApplicable('no template that new pods get mounts by the CSI driver');
      const driver = read(csi);
      if (driver === 'untold') return ok('the CSI driver is there, under a name of its own: how far it is cannot be told');
      if (driver && driver.wanted > 0 && driver.ready >= driver.wanted)
        return ok(`the CSI driver is ready on ${counted(driver.wanted, 'node')}`);
      if (driver) {
        return failed(
          `the new sidecars mount by the CSI driver, which is ${driver.wanted === 0 ? 'to run on no node yet' : `ready on ${driver.ready} of ${counted(driver.wanted, 'node')}`}: pods restarted on the others could not start`,
          'Let the CSI driver become ready on every node first.',
          { next: command`kubectl get pods -A -o wide --field-selector=status.phase!=Running` },
        );
      }
      return failed(
        'the new sidecars mount by the CSI driver, which is not installed: restarted pods could not start',
        'Install csi-driver.yaml of the target release first.',
        { next: command`kubectl netsvc-upgrade alp --dry-run=client` },
      );
    },
  },
  {
    id: 'NS-734',
    title: 'meshed workloads can be restarted',
    severity: 'warning',
    ref: '§4.6/2',
    judge({ obstacles, inUse }) {
      if (!inUse) return notApplicable(UNUSED);
      const left = read(obstacles);
      return failIfAny(left, 'every workload with an older sidecar can be restarted', (names) => ({
        because: `${counted(left.length, 'workload')} with an older sidecar ${left.length === 1 ? 'is' : 'are'} not restarted by this command: ${names}`,
        hint: 'Do what the details say, then run the same command again. Older sidecars keep working meanwhile.',
        next: command`kubectl netsvc-upgrade alp`,
      }));
    },
  },
]);

export const undoChecks: readonly Check<UndoJudged>[] = table({ category: 'follow-up', severity: 'error', ref: '§4.6/1' }, [
  {
    ...DRIVER,
    judge({ mounts, restored }, { goal }) {
      if (read(restored) === 0) return notApplicable(NOTHING_RESTORED);
      const hint = 'Leave the template of the target, or give one of your own that mounts by the CSI driver with --template FILE.';
      const { flexible } = read(mounts);
      if (flexible.length > 0) return flexibleVolumeGone(flexible, goal.release, hint);
      return ok('no former template mounts by a driver that the target does not have');
    },
  },
  /** What the user or the mesh's upgrade changed since is theirs: the undo never drops it silently. */
  {
    id: 'NS-735',
    title: 'later changes kept when --undo restores templates',
    judge({ restored, changedSince }) {
      if (read(restored) === 0) return notApplicable(NOTHING_RESTORED);
      return failIfAny(read(changedSince), 'what was changed since stays in the former templates', (names) => ({
        because: `the former template would overwrite what was changed since alp put its own in: ${names}`,
        hint: `Undo these changes yourself, or accept this check: what is overwritten is kept in the run record.`,
        next: command`kubectl netsvc-upgrade alp --undo --dry-run=client -o wide`,
        exit: 'conflicts',
      }));
    },
  },
]);
