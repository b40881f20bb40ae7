export interface FakeFacts {
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: readonly string[];
  /** Answers by the start of the command line; anything else is not there (127). */
  readonly answers?: Readonly<Record<string, { readonly exitCode: number; readonly output: string }>>;
  readonly urls?: Readonly<Record<string, string>>;
  /** Holders of the lock, one after the other, before it is free. */
  readonly holders?: readonly number[];
}

/** A computer in memory: its executable files, what its programs answer, what URLs give. */
export function fakeMachine({ env = {}, files = [], answers = {}, urls = {}, holders = [] }: FakeFacts) {
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
    isExecutable: async (file: string) => present.has(file),
    run: async (program: string, args: readonly string[]) => {
      const line = [program, ...args].join(' ');
      ran.push(line);
      const answer = Object.entries(answers).find(([start]) => line.startsWith(start))?.[1] ?? { exitCode: 127, output: 'not found' };
      const output = args[args.indexOf('-o') + 1];
      if (args[0] === 'build' && answer.exitCode === 0 && output) present.add(output);
      return answer;
    },
    download: async (url: string) => {
      const body = urls[url];
      if (body === undefined) throw new Error(`${url} answered 404`);
      return new TextEncoder().encode(body);
    },
    writeProgram: async (file: string) => void present.add(file),
    rename: async (from: string, to: string) => {
      present.delete(from);
      present.add(to);
    },
    lock: async (): Promise<number | 'taken'> => waiting.shift() ?? 'taken',
    unlock: async () => undefined,
    sleep: async (ms: number) => void slept.push(ms),
    say: (line: string) => void said.push(line),
  };
}
