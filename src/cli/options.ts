import type { Severity } from '../core/check.ts';
import type { Acceptance, DryRun, Options } from '../core/context.ts';
import { Fault } from '../core/fault.ts';
import type { InstallPath } from '../core/installation.ts';
import { parseRelease, releaseTag } from '../core/release.ts';
import { parseDuration } from './duration.ts';
import { nearest } from './suggest.ts';

/** The values of the run flags as parsed: flag over environment over default. */
export interface RunFlags {
  readonly release?: string;
  readonly path?: InstallPath;
  readonly variant?: string;
  readonly 'upgrade-file'?: string;
  readonly base?: string;
  readonly accept?: readonly string[];
  readonly 'fail-on'?: Severity;
  readonly 'dry-run'?: DryRun;
  readonly yes?: boolean;
  readonly timeout?: string;
  readonly 'max-failed'?: number;
  readonly 'hold-policy-migration'?: boolean;
  readonly 'enable-flow-logs'?: boolean;
  readonly undo?: boolean;
  readonly delete?: string;
  readonly template?: string;
  readonly 'only-template'?: boolean;
  readonly batch?: number;
  readonly 'max-unavailable-workloads'?: number;
  readonly all?: boolean;
  readonly selector?: string;
  readonly namespace?: string;
  readonly 'with-secrets'?: boolean;
  readonly 'backup-dir'?: string;
  readonly 'bin-dir'?: string;
  readonly 'state-namespace'?: string;
}

/** What the flags cannot know by themselves. */
export interface OptionFacts {
  readonly defaultRelease: string;
  /** Every check id that `--accept` may name. */
  readonly checks: readonly string[];
}

/** Flags to options. Pure. Throws Fault('usage') naming the flag and how to write it. */
export function toOptions(flags: RunFlags, facts: OptionFacts): Options {
  return {
    release: readRelease(flags.release ?? facts.defaultRelease),
    ...given('path', flags.path),
    ...given('variant', flags.variant),
    ...given('upgradeFile', flags['upgrade-file']),
    ...given('base', flags.base),
    accept: (flags.accept ?? []).map((text) => readAcceptance(text, facts.checks)),
    failOn: flags['fail-on'] ?? 'error',
    dryRun: flags['dry-run'] ?? 'none',
    yes: flags.yes ?? false,
    ...given('timeoutMs', flags.timeout === undefined ? undefined : parseDuration(flags.timeout, 'timeout')),
    maxFailed: flags['max-failed'] ?? 0,
    holdPolicyMigration: flags['hold-policy-migration'] ?? false,
    ...given('enableFlowLogs', flags['enable-flow-logs']),
    ...given('undo', flags.undo),
    ...given('deletePolicy', flags.delete),
    ...given('template', flags.template),
    ...given('onlyTemplate', flags['only-template']),
    ...given('batch', flags.batch ?? flags['max-unavailable-workloads']),
    ...given('all', flags.all),
    ...given('selector', flags.selector),
    ...given('namespace', flags.namespace),
    withSecrets: flags['with-secrets'] ?? false,
    ...given('backupDir', flags['backup-dir']),
    ...given('binDir', flags['bin-dir']),
    stateNamespace: flags['state-namespace'] ?? 'kube-system',
  };
}

/** `NS-014` or `NS-014=DaemonSet/kube-system/netsvc-node`. */
export function readAcceptance(text: string, checks: readonly string[]): Acceptance {
  const equals = text.indexOf('=');
  const check = (equals < 0 ? text : text.slice(0, equals)).trim().toUpperCase();
  if (!checks.includes(check)) throw unknownCheck(check, checks, '--accept');
  if (equals < 0) return { check };
  const subject = text.slice(equals + 1).trim();
  if (subject === '')
    throw new Fault('usage', `--accept ${text} names no subject`, [`write --accept ${check}=SUBJECT, or --accept ${check}`]);
  return { check, subject };
}

export function unknownCheck(check: string, checks: readonly string[], where: string): Fault {
  const meant = nearest(check, checks);
  const known = 'see all of them with: kubectl netsvc-upgrade explain';
  return new Fault('usage', `${where}: there is no check ${check}`, meant ? [`did you mean ${meant}?`, known] : [known]);
}

function readRelease(text: string): string {
  const release = parseRelease(text);
  if (!release) throw new Fault('usage', `--release=${text} is not a release tag`, ['write it as v3.32.2']);
  return releaseTag(release);
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { readonly [key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [key in Name]: Value });
}
