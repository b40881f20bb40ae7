import { cpus, totalmem } from 'node:os';
import type { Figures } from './measure.ts';

export interface Section {
  readonly title: string;
  readonly aim: string;
  readonly lines: readonly string[];
}

/** A table of figures with their ratio to the first, the yardstick of the same run. */
export function ratioTable(figures: readonly Figures[]): readonly string[] {
  const [yardstick] = figures;
  if (!yardstick) return [];
  const rows = figures.map(({ name, median, runs }) => {
    const ratio = (value: number, to: number) => `${(value / to).toFixed(2)}×`;
    return `| ${name} | ${median.wallMs.toFixed(0)} | ${ratio(median.wallMs, yardstick.median.wallMs)} | ${median.cpuMs.toFixed(0)} | ${ratio(median.cpuMs, yardstick.median.cpuMs)} | ${median.peakMiB.toFixed(0)} | ${runs} |`;
  });
  return ['| command | wall ms | wall | CPU ms | CPU | peak MiB | runs |', '|---|---|---|---|---|---|---|', ...rows];
}

export function machineText(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim() ?? 'unknown CPU'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ${process.platform}/${process.arch}`;
}
