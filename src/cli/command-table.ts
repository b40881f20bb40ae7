import type { Command } from '@oclif/core/command';
import type { stageCommand } from '../commands/stages.ts';

type Load = () => Promise<Command.Class>;

const stage = (id: Parameters<typeof stageCommand>[0]) => async () => (await import('../commands/stages.ts')).stageCommand(id);

/** Every command, in the order of the help; each file is loaded only when its command runs. */
export const commandTable: Readonly<Record<string, Load>> = {
  preflight: stage('preflight'),
  plan: async () => (await import('../commands/plan.ts')).Plan,
  run: async () => (await import('../commands/run.ts')).Run,
  status: async () => (await import('../commands/status.ts')).Status,
  report: async () => (await import('../commands/report.ts')).Report,
  backup: stage('backup'),
  ownerrefs: async () => (await import('../commands/ownerrefs.ts')).Ownerrefs,
  crds: stage('crds'),
  alp: stage('alp'),
  policy: stage('policy'),
  hep: stage('hep'),
  apply: stage('apply'),
  wait: stage('wait'),
  cli: stage('cli'),
  verify: stage('verify'),
  unlock: async () => (await import('../commands/unlock.ts')).Unlock,
  permissions: async () => (await import('../commands/permissions.ts')).Permissions,
  explain: async () => (await import('../commands/explain.ts')).Explain,
  completion: async () => (await import('../commands/completion.ts')).Completion,
  demo: async () => (await import('../commands/demo.ts')).Demo,
};
