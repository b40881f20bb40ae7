import type { Action, Effect, Expectation } from '../kernel/action.ts';
import { commandLine, quoteArgument, type Tool } from '../kernel/argv.ts';
import { counted } from '../kernel/counted.ts';
import type { EngineEvent } from '../kernel/event.ts';
import { withoutAddressCredentials } from '../kernel/hidden.ts';
import type { ObjectRef } from '../kernel/object.ts';
import { refOf, refText } from '../kernel/object.ts';

/** The name that a tool has on this machine: `netsvcctl` → `calicoctl`. */
export type ProgramOf = (tool: Tool) => string;

/** The result of a step that only a person can do: it was said, no more. */
export const LEFT_TO_PERSON = 'left to a person';

/** What an action does as one line: the command a person could type, or the same in words. */
export function actionText(action: Action, programOf: ProgramOf): string {
  return withoutAddressCredentials(effectText(action.effect, programOf));
}

function effectText(effect: Effect, programOf: ProgramOf): string {
  switch (effect.type) {
    case 'exec':
      return `${commandLine(effect.run, effect.program ?? programOf(effect.run.tool))}${effect.run.stdin === undefined ? '' : ' < (input of the plan)'}`;
    case 'delete':
      return ['kubectl', 'delete', effect.target.kind.toLowerCase(), effect.target.name].map(quoteArgument).join(' ');
    case 'patch-all':
      return `${effect.what}: ${effect.patches.length} patches by kubectl’s field manager, each only if its object is still the one shown`;
    case 'record-owners':
      return `write the owner references of ${effect.entries.length} objects to the journal in the cluster, and read them back`;
    case 'forget-owners':
      return `write the journal of owner references to ${effect.file}, then delete it from the cluster`;
    case 'probe-images':
      return `create ${refText(refOf(effect.daemonSet))} with ${effect.images.length} images, watch its pods for at most ${timeText(effect.timeoutMs)}, then delete it`;
    case 'patch':
      return patchText(effect.target, effect.patch, effect.fieldManager);
    case 'write':
      return `write ${effect.file}`;
    case 'backup':
      return `write ${effect.files.length} files to ${effect.folder}`;
    case 'wait':
      return `wait for ${expectationText(effect.until)}, at most ${timeText(effect.timeoutMs)}`;
    case 'install-cli':
      return `download ${effect.url} (sha256 ${effect.sha256 ?? 'not published: not checked'}) as ${effect.to}${effect.replaces ? `, in place of ${effect.replaces}` : ''}`;
    case 'write-cli-config':
      return `write ${[...Object.keys(effect.certificates?.files ?? {}), effect.to].join(', ')} (0600)`;
    case 'remove-file':
      return `move ${effect.file} to ${effect.keepAs}`;
    case 'ask':
      return `by hand: ${effect.instruction}`;
  }
}

function patchText(target: ObjectRef, patch: unknown, fieldManager: string | undefined): string {
  const namespace = target.namespace ? ['-n', target.namespace] : [];
  const manager = fieldManager ? [`--field-manager=${fieldManager}`] : [];
  const args = ['patch', target.kind.toLowerCase(), target.name, ...namespace, ...manager, '--type=json', '-p', JSON.stringify(patch)];
  return ['kubectl', ...args].map(quoteArgument).join(' ');
}

function expectationText(until: Expectation): string {
  switch (until.type) {
    case 'rollout':
      return until.targets.map(refText).join(', ');
    case 'apiservice-available':
      return `APIService ${until.names.join(', ')}`;
    case 'crds-established':
      return `${counted(until.names.length, 'CRD')} to be established`;
    case 'policies-settled':
      return 'the new names of stored policies, or the hold of their renaming';
    case 'time-passed':
      return `${elapsedText(until.ms)} to pass`;
    case 'renaming-held':
      return `${until.field}: Disabled of ${until.kind.kind}/${until.name}`;
    case 'operator-end':
      return `the operator to bring every component to ${until.target.release}`;
    case 'host-endpoints':
      return `the automatic host endpoints of ${until.nodes.length} ${until.nodes.length === 1 ? 'node' : 'nodes'}`;
  }
}

/** `labels 120/5000`, with what lags. */
export function progressText({ what, done, of, why }: Extract<EngineEvent, { readonly type: 'progress' }>): string {
  return `${what} ${done}/${of}${why ? ` (${why})` : ''}`;
}

/** `02:14`, `1:02:14`. */
export function elapsedText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? rest : `${Math.floor(seconds / 3600)}:${rest}`;
}

/** `10m`, `1h30m`, `45s`. */
export function timeText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const parts = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  return parts.map(([count, unit]) => (count > 0 ? `${count}${unit}` : '')).join('') || '0s';
}
