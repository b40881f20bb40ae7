import type { Action, Effect } from '../core/action.ts';
import type { Observer } from '../core/event.ts';
import { Fault, messageOf } from '../core/fault.ts';
import { type JsonPatchOp, refText } from '../core/object.ts';
import { ApiFailure } from '../core/ports.ts';
import { deleteObject } from './delete-object.ts';
import type { EnginePorts } from './engine-ports.ts';
import type { Hold } from './hold.ts';
import { installCli } from './install-cli.ts';
import { Outdated } from './outdated.ts';
import { patchAll } from './patch-all.ts';
import type { Report } from './report.ts';
import { CONTINUE, type OnLine, runTool } from './run-tool.ts';
import { servedKind } from './served-kind.ts';
import { waitApiServices } from './wait-apiservice.ts';
import { assertStillHolds, waitHostEndpoints } from './wait-host-endpoints.ts';
import { waitOperator } from './wait-operator.ts';
import { waitRollout } from './wait-rollout.ts';

/** What came of an action. */
export interface Performed {
  /** A few words for the report. */
  readonly detail?: string | undefined;
  /** sha256 of what was fetched for it, by file name. */
  readonly digests?: Readonly<Record<string, string>>;
}

/** Performs one action. */
export interface Executor {
  perform(stage: string, action: Action): Promise<Performed>;
}

/** When to end what is under way: waits at the first Ctrl-C, programs only when nothing more may be written. */
export type Ends = Pick<Hold, 'stop' | 'cut' | 'mustHold'>;

/** The one that really acts. */
export function realExecutor(ports: EnginePorts, observe: Observer, ends: Ends): Executor {
  return {
    async perform(stage, action) {
      const { effect } = action;
      switch (effect.type) {
        case 'exec':
          if (effect.onlyIf) await assertStillHolds(ports, effect.onlyIf);
          await runTool(ports, effect, ends.cut, tell(observe, stage, action));
          return {};
        case 'delete':
          return { detail: await deleteObject(ports, effect) };
        case 'patch-all':
          return { detail: await patchAll(ports, effect, () => ends.mustHold(), reporter(observe, stage)) };
        case 'patch':
          return { detail: await patchObject(ports, effect) };
        case 'write':
          return { detail: await written(ports, effect) };
        case 'backup':
          await ports.machine.writeFolder(effect.folder, effect.files);
          return { detail: `${effect.files.length} files in ${effect.folder}` };
        case 'wait':
          await waitFor(ports, observe, stage, effect, ends.stop);
          return {};
        case 'install-cli':
          return installCli(ports, effect);
        case 'remove-file':
          await ports.machine.moveAside(effect.file, effect.keepAs);
          return { detail: `kept as ${effect.keepAs}` };
        case 'ask':
          return { detail: ask(observe, stage, effect) };
      }
    },
  };
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
      if (effect.type === 'patch') {
        await ports.cluster.dryRunPatch(
          await servedKind(ports.cluster, effect.target),
          effect.target,
          effect.patch,
          effect.fieldManager ?? 'kubectl',
        );
        return { detail: 'dry run' };
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
  const guard: JsonPatchOp[] = [{ op: 'test', path: '/metadata/uid', value: precondition.uid }];
  if (precondition.resourceVersion) guard.push({ op: 'replace', path: '/metadata/resourceVersion', value: precondition.resourceVersion });
  try {
    await ports.cluster.patch(
      await servedKind(ports.cluster, target),
      target,
      [...guard, ...effect.patch],
      effect.fieldManager ?? 'kubectl',
    );
  } catch (thrown) {
    // A failed `test` has no causes; a 422 with causes is the server's judgement of the result, and trying again is in vain.
    const isInvalid = thrown instanceof ApiFailure && thrown.status === 422 && thrown.causes.length > 0;
    if (isInvalid) throw new Fault('failed', `the server refuses the patch of ${refText(target)}: ${messageOf(thrown)}`, CONTINUE, thrown);
    if (thrown instanceof ApiFailure && [404, 409, 422].includes(thrown.status)) {
      throw new Outdated(`${refText(target)} changed meanwhile: ${messageOf(thrown)}`);
    }
    throw thrown;
  }
  return refText(target);
}

async function waitFor(
  ports: EnginePorts,
  observe: Observer,
  stage: string,
  effect: Extract<Effect, { type: 'wait' }>,
  signal: AbortSignal,
): Promise<void> {
  const { until, timeoutMs } = effect;
  if (until.type === 'host-endpoints') {
    return waitHostEndpoints(ports, until, { timeoutMs, signal, report: reporter(observe, stage) });
  }
  if (until.type === 'operator-end') {
    const warn = (text: string) => observe({ type: 'note', stage, text, level: 'warning' });
    return waitOperator(ports, until, { timeoutMs, signal, report: reporter(observe, stage), warn });
  }
  if (until.type === 'apiservice-available') return waitApiServices(ports.cluster, ports.clock, until.names, timeoutMs, signal);
  await waitRollout(ports.cluster, ports.clock, {
    targets: until.targets,
    maxFailed: until.maxFailed,
    timeoutMs,
    signal,
    onProgress: (progress, elapsedMs) => observe({ type: 'rollout', stage, progress, elapsedMs }),
  });
}

function reporter(observe: Observer, stage: string): Report {
  return (done, of, what, why) => observe({ type: 'progress', stage, done, of, what, ...(why ? { why } : {}) });
}

function ask(observe: Observer, stage: string, effect: Extract<Effect, { type: 'ask' }>): string {
  observe({ type: 'note', stage, text: effect.instruction, level: 'warning' });
  return 'to be done by a person';
}
