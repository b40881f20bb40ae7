/** The face of this feature: all that other rooms may use of it. */
export { askBehindCli, type BehindCli } from './behind-cli.ts';
export type { CliCall } from './cli-list.ts';
export { cliList, cliNamed, type FoundCli, readClis, readCliVersion } from './cli-list.ts';
export { cliEffects, cliGuards } from './effects.ts';
export { cliPath, refuseNoFolder } from './facts.ts';
export { cliWrite, findServiceCli, leadCli, type NoCli, type ServiceCli, usableClis } from './service-cli.ts';
export { cliStage, noOldCli, oldCliChecks } from './stage.ts';
export { type JudgedCli, storeIsOurs } from './store-proof.ts';
