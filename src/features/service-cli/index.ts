/** The face of this feature: all that other rooms may use of it. */
export type { CliCall } from './cli-list.ts';
export { cliList, cliNamed } from './cli-list.ts';
export { type JudgedCli, storeIsOurs } from './cli-store.ts';
export { cliEffects, cliGuards } from './effects.ts';
export { noOldCli, oldCliChecks } from './old-cli-checks.ts';
export { type FoundCli, readClis, readCliVersion } from './release.ts';
export { cliWrite, currentCli, findServiceCli, judgedCli, leadCli, type NoCli, type ServiceCli } from './service-cli.ts';
export { cliStage } from './stage.ts';
