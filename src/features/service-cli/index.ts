/** The face of this feature: all that other rooms may use of it. */
export { cliList, cliNamed } from './cli-list.ts';
export { type JudgedCli, storeIsOurs } from './cli-store.ts';
export { installCli } from './install-cli.ts';
export { noOldCli, noOldCliInCluster } from './old-cli-checks.ts';
export { type FoundCli, readClis, readCliVersion } from './release.ts';
export { assertSameStore } from './same-store.ts';
export { cliWrite, currentCli, findServiceCli, judgedCli, leadCli, type NoCli, type ServiceCli } from './service-cli.ts';
export { cliStage } from './stage.ts';
export type { StoreExpected } from './store-identity.ts';
export { writeCliConfig } from './write-cli-config.ts';
