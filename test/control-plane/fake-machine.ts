import type { Machine } from './machine.ts';

/** A computer in memory: its executable files, what its programs answer, what URLs give. */
export interface FakeMachine extends Machine {
  readonly files: Set<string>;
  readonly ran: string[];
  readonly said: string[];
  readonly slept: number[];
}

export interface FakeFacts {
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  /** Answers by the start of the command line; anything else is not there (127). */
  readonly answers?: Readonly<Record<string, { readonly exitCode: number; readonly output: string }>>;
  readonly urls?: Readonly<Record<string, string>>;
  /** Holders of the lock, one after the other, before it is free. */
  readonly holders?: readonly number[];
}

export function fakeMachine({ env = {}, files = [], answers = {}, urls = {}, holders = [] }: FakeFacts): FakeMachine {
  const present = new Set(files);
  const [ran, said, slept, waiting]: [string[], string[], number[], number[]] = [[], [], [], [...holders]];
  return {
    env,
    ran,
    said,
    slept,
    platform: 'linux/amd64',
    home: '/home/me',
    files: present,
    isExecutable: async (file) => present.has(file),
    run: async (program, args) => {
      const line = [program, ...args].join(' ');
      ran.push(line);
      const answer = Object.entries(answers).find(([start]) => line.startsWith(start))?.[1] ?? { exitCode: 127, output: 'not found' };
      const output = args[args.indexOf('-o') + 1];
      if (args[0] === 'build' && answer.exitCode === 0 && output) present.add(output);
      return answer;
    },
    download: async (url) => {
      const body = urls[url];
      if (body === undefined) throw new Error(`${url} answered 404`);
      return new TextEncoder().encode(body);
    },
    writeProgram: async (file) => void present.add(file),
    rename: async (from, to) => {
      present.delete(from);
      present.add(to);
    },
    lock: async () => waiting.shift() ?? 'taken',
    unlock: async () => undefined,
    sleep: async (ms) => void slept.push(ms),
    say: (line) => void said.push(line),
  };
}
