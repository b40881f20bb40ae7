import { assertSuccessor, assertWayBack, deleteNamed } from '../features/hosts/index.ts';
import { probeImages } from '../features/images/index.ts';
import { assertRecorded, forgetOwners, recordOwners } from '../features/ownerrefs/index.ts';
import { assertSettled } from '../features/policies/index.ts';
import { assertSameStore, installCli, writeCliConfig } from '../features/service-cli/index.ts';
import { assertRestartable } from '../features/sidecars/index.ts';
import type { Action, Effect } from '../kernel/action.ts';
import type { EnginePorts } from '../kernel/engine-ports.ts';
import type { Observer } from '../kernel/event.ts';
import { Fault, messageOf } from '../kernel/fault.ts';
import { K } from '../kernel/kinds.ts';
import { type JsonPatchOp, refText } from '../kernel/object.ts';
import { MovedOn } from '../kernel/outdated.ts';
import type { Performed } from '../kernel/performing.ts';
import { ApiFailure } from '../kernel/ports.ts';
import { CONTINUE, type OnLine, runTool } from '../kernel/run-tool.ts';
import { servedKind } from '../kube/served-kind.ts';
import { deleteObject } from './delete-object.ts';
import type { Hold } from './hold.ts';
import type { PaceLimits } from './pace.ts';
import { patchAll } from './patch-all.ts';
import { type WaitSurroundings, waitFor } from './wait-for.ts';

/** Performs one action. */
export interface Executor {
  perform(stage: string, action: Action): Promise<Performed>;
}

/** When to end what is under way: waits at the first Ctrl-C, programs only when nothing more may be written. */
export type Ends = Pick<Hold, 'stop' | 'cut' | 'mustHold'>;

/** The one that really acts. */
export function realExecutor(ports: EnginePorts, observe: Observer, ends: Ends, limits: PaceLimits): Executor {
  const leftBehind = new Set<string>();
  return {
    async perform(stage, action) {
      const { effect } = action;
      switch (effect.type) {
        case 'exec':
          await assertHolds(ports, effect.onlyIf);
          await assertSameStore(ports, effect);
          // What was just asked took its time: the lock may be gone since it was looked at.
          ends.mustHold();
          if (effect.onlyIf?.type === 'successor') {
            const names = effect.onlyIf.old.map(({ name }) => name);
            await deleteNamed(ports, effect, names, ends.cut, tell(observe, stage, action));
          } else await runTool(ports, effect, ends.cut, tell(observe, stage, action));
          return {};
        case 'delete':
          return { detail: await deleteObject(ports, effect) };
        case 'patch-all':
          await assertRecorded(ports, effect);
          if (effect.onlyIf?.type === 'way-back') await assertWayBack(ports, effect.onlyIf);
          else if (effect.onlyIf) await assertSettled(ports, effect.onlyIf, ends.stop);
          return {
            detail: await patchAll(ports, effect, {
              limits,
              mustHold: () => ends.mustHold(),
              stop: ends.stop,
              report: telling(observe, stage).report,
            }),
          };
        case 'record-owners':
          return recordOwners(ports, effect);
        case 'forget-owners':
          return { detail: await forgetOwners(ports, effect) };
        case 'probe-images':
          return { detail: await probeImages(ports, effect, { signal: ends.stop, ...telling(observe, stage) }) };
        case 'patch':
          return { detail: await patchObject(ports, effect) };
        case 'write':
          return { detail: await written(ports, effect) };
        case 'backup':
          await ports.machine.writeFolder(effect.folder, effect.files);
          return { detail: `${effect.files.length} files in ${effect.folder}` };
        case 'wait':
          return waitFor(ports, effect, { signal: ends.stop, leftBehind, ...telling(observe, stage) });
        case 'install-cli':
          return installCli(ports, effect);
        case 'write-cli-config':
          return { detail: await writeCliConfig(ports, effect) };
        case 'remove-file':
          await ports.machine.moveAside(effect.file, effect.keepAs);
          return { detail: `kept as ${effect.keepAs}` };
        case 'ask':
          return { detail: ask(observe, stage, effect) };
      }
    },
  };
}

async function assertHolds(ports: EnginePorts, onlyIf: Extract<Effect, { type: 'exec' }>['onlyIf']): Promise<void> {
  if (onlyIf?.type === 'restartable') await assertRestartable(ports.cluster, onlyIf);
  else if (onlyIf?.type === 'way-back') await assertWayBack(ports, onlyIf);
  else if (onlyIf) await assertSuccessor(ports, onlyIf);
}

async function written(ports: EnginePorts, { file, content }: Extract<Effect, { type: 'write' }>): Promise<string> {
  await ports.work.write(file, content);
  return file;
}

/** `--dry-run=server`: the server answers every write, nothing is stored; what needs the write is only announced. */
export function serverDryRunExecutor(ports: EnginePorts, observe: Observer, ends: Ends): Executor {
  return {
    async perform(stage, action) {
      const { effect } = action;
      if (effect.type === 'write') return { detail: await written(ports, effect) };
      if (effect.type === 'exec' && effect.run.tool === 'kubectl' && ['apply', 'patch', 'delete'].includes(effect.run.args[0] ?? '')) {
        const [verb = '', ...rest] = effect.run.args;
        const run = { ...effect.run, args: [verb, '--dry-run=server', ...rest] };
        await runTool(ports, { ...effect, run }, ends.cut, tell(observe, stage, action));
        return {};
      }
      if (effect.type === 'probe-images') {
        await ports.cluster.dryRunCreate(K.DaemonSet, effect.daemonSet);
        return { detail: 'not created (dry run)' };
      }
      if (effect.type === 'patch') {
        await ports.cluster.dryRunPatch(
          await servedKind(ports.cluster, effect.target),
          effect.target,
          effect.patch,
          effect.fieldManager ?? 'kubectl',
        );
        return {};
      }
      return { detail: 'not performed (dry run)' };
    },
  };
}

function tell(observe: Observer, stage: string, action: Action): OnLine {
  return (line, stream) => observe({ type: 'action-output', stage, action, line, stream });
}

async function patchObject(ports: EnginePorts, effect: Extract<Effect, { type: 'patch' }>): Promise<string> {
  const { target, precondition } = effect;
  const { uid, resourceVersion } = precondition;
  const guard: readonly JsonPatchOp[] = resourceVersion
    ? [{ op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion }]
    : [];
  try {
    const kind = await servedKind(ports.cluster, target);
    await ports.cluster.patch(kind, { ...target, uid }, [...guard, ...effect.patch], effect.fieldManager ?? 'kubectl');
  } catch (thrown) {
    // A failed `test` has no causes; a 422 with causes is the server's judgement of the result, and trying again is in vain.
    const isInvalid = thrown instanceof ApiFailure && thrown.status === 422 && thrown.causes.length > 0;
    if (isInvalid) throw new Fault('failed', `the server refuses the patch of ${refText(target)}: ${messageOf(thrown)}`, CONTINUE, thrown);
    if (thrown instanceof ApiFailure && [404, 409, 422].includes(thrown.status)) {
      throw new MovedOn(`${refText(target)} changed meanwhile: ${messageOf(thrown)}`);
    }
    throw thrown;
  }
  return refText(target);
}

function telling(observe: Observer, stage: string): Pick<WaitSurroundings, 'onProgress' | 'report' | 'warn'> {
  return {
    report: (done, of, what, why) => observe({ type: 'progress', stage, done, of, what, ...(why ? { why } : {}) }),
    warn: (text) => observe({ type: 'note', stage, text, level: 'warning' }),
    onProgress: (progress, elapsedMs) => observe({ type: 'rollout', stage, progress, elapsedMs }),
  };
}

function ask(observe: Observer, stage: string, effect: Extract<Effect, { type: 'ask' }>): string {
  observe({ type: 'note', stage, text: effect.instruction, level: 'warning' });
  return 'to be done by a person';
}
