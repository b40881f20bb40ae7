import type { Command } from '@oclif/core/command';

type Load = () => Promise<Command.Class>;

/** Every command, in the order of the help; each file is loaded only when its command runs. */
export const commandTable: Readonly<Record<string, Load>> = {
  preflight: async () => (await import('../commands/preflight.ts')).Preflight,
  plan: async () => (await import('../commands/plan.ts')).Plan,
  run: async () => (await import('../commands/run.ts')).Run,
  status: async () => (await import('../commands/status.ts')).Status,
  report: async () => (await import('../commands/report.ts')).Report,
  backup: async () => (await import('../commands/backup.ts')).Backup,
  ownerrefs: async () => (await import('../commands/ownerrefs.ts')).Ownerrefs,
  crds: async () => (await import('../commands/crds.ts')).Crds,
  alp: async () => (await import('../commands/alp.ts')).Alp,
  policy: async () => (await import('../commands/policy.ts')).Policy,
  hep: async () => (await import('../commands/hep.ts')).Hep,
  apply: async () => (await import('../commands/apply.ts')).Apply,
  wait: async () => (await import('../commands/wait.ts')).Wait,
  cli: async () => (await import('../commands/cli.ts')).Cli,
  verify: async () => (await import('../commands/verify.ts')).Verify,
  unlock: async () => (await import('../commands/unlock.ts')).Unlock,
  permissions: async () => (await import('../commands/permissions.ts')).Permissions,
  explain: async () => (await import('../commands/explain.ts')).Explain,
  completion: async () => (await import('../commands/completion.ts')).Completion,
  demo: async () => (await import('../commands/demo.ts')).Demo,
};
