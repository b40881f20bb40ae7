/** The names of stages and commands, and what follows from them: help, completion and flags load nothing else of a command. */

/** The chain's stages in order; a test holds them to the chain itself, which is too heavy to load for help. */
export const STAGE_IDS = [
  'preflight',
  'probe-images',
  'backup',
  'ownerrefs-strip',
  'crds',
  'apply',
  'wait',
  'ownerrefs-restore',
  'cli',
  'alp',
  'hep',
  'policy',
  'verify',
  'ownerrefs-forget',
] as const;

/** Stages that the chain holds only when they are asked for. */
export const OPTIONAL_STAGE_IDS = ['probe-images', 'hep', 'policy'] as const;

/**
 * Every command, in the order of the help. It `performs` stages, which may change something, or `evaluates` them, or `targets` a release
 * without a stage of its name, or only `asks` a cluster, or is `local`. Its flags follow from that.
 */
export const COMMANDS = {
  preflight: 'performs',
  plan: 'evaluates',
  run: 'performs',
  status: 'asks',
  report: 'asks',
  backup: 'performs',
  ownerrefs: 'targets',
  crds: 'performs',
  alp: 'performs',
  policy: 'performs',
  hep: 'performs',
  apply: 'performs',
  wait: 'performs',
  cli: 'performs',
  verify: 'evaluates',
  unlock: 'asks',
  permissions: 'local',
  explain: 'local',
  completion: 'local',
  demo: 'local',
} as const;

export type CommandName = keyof typeof COMMANDS;

type Does = (typeof COMMANDS)[CommandName];

export const COMMAND_NAMES = Object.keys(COMMANDS) as readonly CommandName[];

/** The commands that do one of these. */
export const commandsThat = (...does: readonly Does[]): readonly string[] => COMMAND_NAMES.filter((name) => does.includes(COMMANDS[name]));
